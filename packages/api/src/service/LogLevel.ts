import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Schema from "effect/Schema"
import { operation } from "../openapi/Describe.ts"
import { bodySchema } from "../validation/RequestSchema.ts"

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "none"] as const

/** Entries below this level are not logged; `none` logs nothing. */
export const LogLevelName = Schema.Literals(levels).annotate({
  description: "Entries below this level are not logged",
  examples: ["debug"]
})
export type LogLevelName = typeof LogLevelName.Type

/** The body of `PUT /admin/log-level`. */
export const NewLogLevel = Schema.Struct({ level: LogLevelName }).annotate({
  identifier: "NewLogLevel",
  description: "The level from now on"
})

/** The levels before and after the change. */
export const LogLevelChange = Schema.Struct({
  level: LogLevelName,
  previous: LogLevelName.annotate({ description: "The level until now", examples: ["info"] })
}).annotate({ identifier: "LogLevelChange", description: "The levels after and before the call" })
export type LogLevelChange = typeof LogLevelChange.Type

/** `PUT /admin/log-level` of both services (docs/reference/admin.md#log-level). */
export const setLogLevel = HttpApiEndpoint.put("setLogLevel", "/admin/log-level", {
  payload: bodySchema(NewLogLevel, { unknownKeys: "reject" }),
  success: LogLevelChange
}).annotateMerge(
  operation({
    id: "setLogLevel",
    access: "admin",
    summary: "Change the level of the log",
    description: "At once and in this process only; the next start goes by LOG_LEVEL again."
  })
)
