import type * as Schema from "effect/Schema"
import { lineText } from "../../values/ChatMessage.ts"
import { isJsonArray, isJsonObject } from "../../values/JsonReader.ts"
import type { AlertNotice } from "../Firing.ts"
import { linkOf } from "./AlertText.ts"

/** Characters of each text of a firing. */
const MAX_TEXT = 1_000

/** The payload of Standard Webhooks: `type`, `timestamp` and `data`, with the whole firing. */
export const genericBody = (notice: AlertNotice): Schema.Json => {
  const { event, failedAction, firing, timestamp } = notice
  const link = linkOf(notice)
  return {
    type: event,
    timestamp,
    data: {
      firing: bounded(firing),
      ...(link !== undefined && { link }),
      ...(failedAction !== undefined && { failedAction: bounded(failedAction) })
    }
  }
}

const bounded = (fields: Schema.JsonObject): Schema.JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, boundedValue(value)]))

const boundedValue = (value: Schema.Json): Schema.Json => {
  if (typeof value === "string") return lineText(value, MAX_TEXT)
  if (isJsonArray(value)) return value.map(boundedValue)
  return isJsonObject(value) ? bounded(value) : value
}
