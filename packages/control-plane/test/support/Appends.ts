import { type CanonicalEventType, draftEvent, type EventDraft, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"

/** A message event as the normaliser makes them, reduced to what the tests look at. */
export const messageDraft = (
  number: number,
  ts = "2026-07-01T10:00:00.000Z",
  text = "",
  { sender = "agent://lead", type = "message.received" }: { sender?: string; type?: CanonicalEventType } = {}
): EventDraft =>
  draftEvent(
    type,
    {
      ts,
      subject: { kind: "message", id: `m${number}` },
      source: { kind: "runtime", name: "rust-runtime", rawType: "Contribute" }
    },
    {
      modeName: "ext.multi_round.v1",
      messageType: "Contribute",
      messageId: `m${number}`,
      sessionId: "s",
      sender,
      payload: { value: number, text }
    }
  )

/** Appends events to a run, so many at a time. */
export const appendMessages = Effect.fnUntraced(function* (runId: string, count: number, perAppend = 1, text = "") {
  const log = yield* EventLog
  for (let sent = 0; sent < count; sent += perAppend) {
    const events = Array.from({ length: Math.min(perAppend, count - sent) }, (_, offset) =>
      messageDraft(1 + sent + offset, undefined, text)
    )
    yield* log.record({ runId: RunId.make(runId), events })
  }
})
