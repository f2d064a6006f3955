import { assert, describe, it } from "@effect/vitest"
import { countedAt, type EventDraft, RunId, recordEvent } from "@runplane/domain"
import { envelopeFrame, json, NOW, normalise } from "../support/frames.ts"

const DAY_MS = 86_400_000
const received = Date.parse(NOW)

const recorded = (draft: EventDraft, index: number) =>
  recordEvent(draft, { id: `e${index}`, runId: RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"), seq: 1, index: 1 })

/** The data of the events of a call, sent at a time; NOW is the time of arrival. */
const sentOf = (messageType: string, timestampUnixMs: number | string) =>
  normalise(
    envelopeFrame(messageType, json({ toolCallId: "t", tokenUsage: { promptTokens: 1, completionTokens: 1 } }), {
      timestampUnixMs
    })
  ).drafts.map(({ recorded, type }) => [type, recorded.data["sentAt"]])

describe("a message that is read from a history", () => {
  it("says in the events of its calls when it was sent", () => {
    const sentAt = new Date(received - DAY_MS).toISOString()
    for (const sent of [received - DAY_MS, String(received - DAY_MS)]) {
      assert.deepStrictEqual(
        sentOf("ToolCall", sent).filter(([, at]) => at !== undefined),
        [
          ["llm.call.completed", sentAt],
          ["tool.called", sentAt]
        ]
      )
    }
  })

  it("is one of the moment without such a time, within a minute, and with a time that cannot be", () => {
    for (const sent of [0, -1, received, received - 60_000, received + DAY_MS, "1764080000123456789", "soon"]) {
      assert.isTrue(
        sentOf("ToolCall", sent).every(([, at]) => at === undefined),
        String(sent)
      )
    }
  })

  it("counts at that time", () => {
    const { drafts } = normalise(
      envelopeFrame("Say", json({ tokenUsage: { promptTokens: 1 } }), { timestampUnixMs: received - DAY_MS })
    )
    const times = drafts.map((draft, index) => [draft.type, countedAt(recorded(draft, index), 2 * DAY_MS) - received])
    assert.deepInclude(times, ["llm.call.completed", -DAY_MS])
    assert.deepInclude(times, ["message.received", 0])
  })
})
