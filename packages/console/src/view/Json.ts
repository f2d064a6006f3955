import type * as Schema from "effect/Schema"

/** Whether a JSON value has members: not a list, and not null. */
export const isJsonObject = (value: Schema.Json | undefined): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
