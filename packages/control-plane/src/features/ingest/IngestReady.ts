import * as Effect from "effect/Effect"
import type { Ready } from "../../platform/http/ReadyParts.ts"
import { Receiver } from "./Receiver.ts"

/**
 * The inbox of spans in the readiness of the service. It waits for spans that are still to come, so no lag of it makes
 * the service degraded.
 */
export const makeIngestReady = Effect.map(
  Receiver,
  ({ health }): Ready => Effect.map(health, (ingest) => ingest && { ok: true, shown: { ingest } })
)
