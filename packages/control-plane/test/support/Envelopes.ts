import type { RunId } from "@runplane/domain"
import type { ObservedFrame } from "../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../src/event-log/append/FrameBytes.ts"

/** An accepted message of the run's session, without a payload, as an observer receives it at that time (ISO 8601). */
export const contribution = (runId: RunId, messageId: string, receivedAt: string): ObservedFrame =>
  observed(
    {
      kind: "stream-envelope",
      ambient: false,
      envelope: {
        macpVersion: "1.0",
        mode: "macp.mode.decision.v1",
        messageType: "Contribute",
        messageId,
        sessionId: runId,
        sender: "agent://a",
        timestampUnixMs: 1,
        payload: new Uint8Array()
      }
    },
    receivedAt
  )
