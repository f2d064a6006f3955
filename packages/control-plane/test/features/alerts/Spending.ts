import { draftEvent, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"

/** Records a model call of a participant that states this cost, in US dollars. */
export const spends = (runId: RunId, estimatedCostUsd: number) =>
  Effect.flatMap(EventLog, (log) =>
    log.record({
      runId,
      events: [
        draftEvent(
          "llm.call.completed",
          {
            ts: new Date().toISOString(),
            subject: { kind: "participant", id: "a" },
            source: { kind: "runtime", name: "rust-runtime" }
          },
          { sender: "a", decodedPayload: { model: "m", totalTokens: 2, estimatedCostUsd } }
        )
      ]
    })
  )
