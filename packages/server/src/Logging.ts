import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
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

/** The run that a request is about: its route says so before anybody has looked it up. */
const RUN_PATH = /^\/runs\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[/?]|$)/i

/**
 * One line of JSON an entry: `timestamp`, `level`, `message`, then whatever is known of `runId`, `sessionId`,
 * `requestId` and `traceId` and the other annotations, and `cause`.
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
 * The log of the process, by `LOG_LEVEL` (until `PUT /admin/log-level` says another) and `NODE_ENV`: for people in
 * development, for machines everywhere else. To be provided around everything else.
 */
export const layerLogging = Layer.unwrap(
  Effect.gen(function* () {
    const environment = yield* readSetting(ServiceSettings.NODE_ENV)
    // A level that cannot be used stops the start, and the check of the settings needs a log to say so.
    const fallback = () => ServiceSettings.LOG_LEVEL.fallback(environment)
    const level = yield* Effect.orElseSucceed(readSetting(ServiceSettings.LOG_LEVEL), fallback)
    const logger = environment === DEVELOPMENT ? Logger.consolePretty() : Logger.withConsoleLog(jsonLine)
    const holder = { level }
    return Layer.mergeAll(
      Logger.layer([switched(logger, holder)]),
      Layer.succeed(LogLevelSwitch, holder),
      // The switch decides, and it may be turned down later.
      Layer.succeed(References.MinimumLogLevel, "All")
    )
  })
)
