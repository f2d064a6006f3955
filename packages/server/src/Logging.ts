import { styleText } from "node:util"
import { boundProse, visibleText } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Formatter from "effect/Formatter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { LogLevelSwitch, switched } from "./LogLevelSwitch.ts"
import { readSetting } from "./settings/ReadSettings.ts"
import { ServiceSettings } from "./settings/ServiceSettings.ts"
import { DEVELOPMENT } from "./settings/Setting.ts"

/** The run that a request is about: its route names it before it is read. */
const RUN_PATH = /^\/runs\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[/?]|$)/i

const textOf = (part: unknown): string => (typeof part === "string" ? part : Formatter.format(part))
/**
 * Fields of an entry, their texts bounded: agents and callers choose many of them
 * (docs/reference/operations.md#log-lines).
 */
const fieldsOf = (fiber: Fiber.Fiber<unknown, unknown>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fiber.getRef(References.CurrentLogAnnotations)).map(([name, value]) => [
      name,
      typeof value === "string" ? boundProse(value) : value
    ])
  )

const messageOf = (message: unknown): string => (Array.isArray(message) ? message : [message]).map(textOf).join(" ")

/**
 * One line of JSON an entry: `timestamp`, `level`, `message`, then whatever is known of `runId`, `sessionId`,
 * `requestId` and `traceId` and the other annotations, and `cause`. What JSON leaves as it is, a terminal may act upon:
 * that is escaped as well.
 */
export const jsonLine = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const request = Option.getOrUndefined(Context.getOption(fiber.context, HttpServerRequest.HttpServerRequest))
  const span = Option.getOrUndefined(Context.getOption(fiber.context, Tracer.ParentSpan))
  const runId = request === undefined ? undefined : RUN_PATH.exec(request.url)?.[1]?.toLowerCase()
  return visibleText(
    Formatter.formatJson({
      timestamp: date.toISOString(),
      level: logLevel.toLowerCase(),
      message: messageOf(message),
      ...(runId !== undefined && { runId }),
      ...(span !== undefined && isRecorded(span) && { traceId: span.traceId, spanId: span.spanId }),
      ...fieldsOf(fiber),
      ...(cause.reasons.length > 0 && { cause: Cause.pretty(cause) })
    })
  )
})

const COLOURS = {
  All: "gray",
  None: "gray",
  Trace: "gray",
  Debug: "blue",
  Info: "green",
  Warn: "yellow",
  Error: "red",
  Fatal: "red"
} as const

/**
 * An entry for people: one line, and behind it a line for each error of the cause and each frame of its stack, all of
 * them indented. Nothing in the texts of an entry begins another one.
 */
export const personLine = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const annotations = Object.entries(fieldsOf(fiber))
  const line = [messageOf(message), ...annotations.map(([name, value]) => `${name}=${textOf(value)}`)].join(" ")
  const level = styleText(COLOURS[logLevel], logLevel.toUpperCase())
  const first = `[${date.toISOString().slice(11, -1)}] ${level} (#${fiber.id}): ${visibleText(line)}`
  return [first, ...Cause.prettyErrors(cause).flatMap((error) => linesOfError(error))].join("\n")
})

const linesOfError = (error: Error, prefix = ""): ReadonlyArray<string> => {
  const title = `${error.name}: ${error.message}`
  const { stack = "" } = error
  const frames = (stack.startsWith(title) ? stack.slice(title.length) : stack).split("\n")
  return [
    `    ${prefix}${visibleText(title)}`,
    ...frames.filter((frame) => /^\s+at /.test(frame)).map((frame) => `      ${visibleText(frame.trim())}`),
    ...(error.cause instanceof Error ? linesOfError(error.cause, "caused by ") : [])
  ]
}

/** One line of `name=value` pairs an entry, for programs that people run (docs/reference/operations.md#log-lines). */
export const pairsLine = Logger.map(Logger.formatLogFmt, visibleText)

/** The placeholder spans of a disabled tracer have no ids. */
const isRecorded = (span: Tracer.AnySpan): boolean => !Context.get(span.annotations, Tracer.DisablePropagation)

/**
 * The log of the process, by `LOG_LEVEL` (until `PUT /admin/log-level` says another) and `NODE_ENV`: for people in
 * development, for machines everywhere else. To be provided around everything else.
 */
export const layerLogging = Layer.unwrap(
  Effect.gen(function* () {
    const environment = yield* readSetting(ServiceSettings.NODE_ENV)
    // A level that cannot be used stops the start, and the check of the settings needs a log to say so.
    const fallback = () => ServiceSettings.LOG_LEVEL.fallback(environment)
    const level = yield* Effect.orElseSucceed(readSetting(ServiceSettings.LOG_LEVEL), fallback)
    const logger = Logger.withConsoleLog(environment === DEVELOPMENT ? personLine : jsonLine)
    const holder = { level }
    return Layer.mergeAll(
      Logger.layer([switched(logger, holder)]),
      Layer.succeed(LogLevelSwitch, holder),
      // The switch decides, and it may be turned down later.
      Layer.succeed(References.MinimumLogLevel, "All")
    )
  })
)
