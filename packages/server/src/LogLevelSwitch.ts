import type { LogLevelName } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Record from "effect/Record"

/** The level of the log of this process, which `PUT /admin/log-level` changes (docs/reference/admin.md#log-level). */
export const LogLevelSwitch = Context.Reference<{ level: LogLevel.LogLevel }>("runplane/server/LogLevelSwitch", {
  defaultValue: () => ({ level: "Info" })
})

const LEVELS: Readonly<Record<LogLevelName, LogLevel.LogLevel>> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
}

/** Changes the level of this process. */
export const changeLogLevel = Effect.fnUntraced(function* (level: LogLevelName) {
  const holder = yield* LogLevelSwitch
  const previous = nameOf(holder.level)
  const announce = Effect.logInfo(`the level of the log goes from ${previous} to ${level}`)
  // The more talkative of the two levels lets it through.
  const quieter = isQuieter(LEVELS[level], holder.level)
  if (quieter) yield* announce
  holder.level = LEVELS[level]
  if (!quieter) yield* announce
  return { level, previous }
})

const isQuieter = (level: LogLevel.LogLevel, than: LogLevel.LogLevel): boolean =>
  than !== "None" && (level === "None" || LogLevel.isGreaterThan(level, than))

const nameOf = (level: LogLevel.LogLevel): LogLevelName => {
  for (const name of Record.keys(LEVELS)) if (LEVELS[name] === level) return name
  return "trace"
}

/** The logger, silent below the level of the switch. */
export const switched = <Message, Output>(
  logger: Logger.Logger<Message, Output>,
  holder: { readonly level: LogLevel.LogLevel }
): Logger.Logger<Message, Output | undefined> =>
  Logger.make((options) =>
    holder.level !== "None" && LogLevel.isGreaterThanOrEqualTo(options.logLevel, holder.level)
      ? logger.log(options)
      : undefined
  )
