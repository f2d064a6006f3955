import type { LoggedDecision } from "../receipts/ReceiptComparison.ts"
import { objectAt } from "../values/JsonReader.ts"
import type { EventOf } from "./CanonicalEvent.ts"

const PAYLOAD = "/data/decodedPayload/"

/** The decision of an event, as a receipt is compared with it. */
export const loggedDecision = ({ data, recorded }: EventOf<"decision.finalized">): LoggedDecision => ({
  sessionId: data.sessionId,
  modeName: data.modeName,
  commitmentHash: data.commitmentHash,
  payload: objectAt(recorded.data, "decodedPayload") ?? {},
  erased: new Set(
    recorded.erased?.flatMap(({ pointer }) => (pointer.startsWith(PAYLOAD) ? [pointer.slice(PAYLOAD.length)] : []))
  )
})
