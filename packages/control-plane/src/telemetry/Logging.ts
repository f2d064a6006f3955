import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { word } from "../Settings.ts"

/** The words of `LOG_LEVEL`. */
export const LOG_LEVELS: Readonly<Record<string, LogLevel.LogLevel>> = {
  all: "All",
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  warning: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None",
  silent: "None"
}

const minimumLevel = Config.map(word("LOG_LEVEL", "info"), (level) => LOG_LEVELS[level.toLowerCase()] ?? "Info")

/** The run that a request is about: its route says so before anybody has looked it up. */
const RUN_PATH = /^\/runs\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[/?]|$)/i

/**
 * One line of JSON an entry: `timestamp`, `level`, `message`, then whatever is known of `runId`, `sessionId`, `requestId` and
 * `traceId` and the other annotations, and `cause`.
 */
export const jsonLine = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const messages = Array.isArray(message) ? message : [message]
  const request = Option.getOrUndefined(Context.getOption(fiber.context, HttpServerRequest.HttpServerRequest))
  const span = Option.getOrUndefined(Context.getOption(fiber.context, Tracer.ParentSpan))
  const runId = request === undefined ? undefined : RUN_PATH.exec(request.url)?.[1]?.toLowerCase()
  return Formatter.formatJson({
    timestamp: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: messages.map((part) => (typeof part === "string" ? part : Formatter.format(part))).join(" "),
    ...(runId !== undefined && { runId }),
    ...(span !== undefined && isRecorded(span) && { traceId: span.traceId, spanId: span.spanId }),
    ...fiber.getRef(References.CurrentLogAnnotations),
    ...(cause.reasons.length > 0 && { cause: Cause.pretty(cause) })
  })
})

/** Spans that stand in for real ones while tracing is off have no ids. */
const isRecorded = (span: Tracer.AnySpan): boolean => !Context.get(span.annotations, Tracer.DisablePropagation)

/**
 * The log of the process, by `LOG_LEVEL` and `NODE_ENV` (http-details section 14): for people in development, for machines
 * everywhere else. To be provided around everything else.
 */
export const layerLogging = Layer.unwrap(
  Effect.gen(function* () {
    const environment = yield* word("NODE_ENV", "development")
    const logger = environment === "development" ? Logger.consolePretty() : Logger.withConsoleLog(jsonLine)
    return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, yield* minimumLevel))
  })
)
