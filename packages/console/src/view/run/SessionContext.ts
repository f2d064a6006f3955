import { type CanonicalEvent, isJsonObject } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { readableBytes } from "../format/Bytes.ts"

/**
 * The inputs of a run as its log has them: scenarios pass them to the agents, and the initiator sends that context in a
 * signal. Undefined for a run without one.
 */
export const sessionContext = (events: Iterable<CanonicalEvent>): Schema.JsonObject | undefined => {
  for (const event of events) {
    if (event.type !== "signal.emitted" || event.data.signalType !== "session.context") continue
    const context = readableBytes(event.recorded.data)
    if (context?.form === "JSON" && isJsonObject(context.value)) return context.value
  }
  return undefined
}
