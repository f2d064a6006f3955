import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { makeNormaliser, makeRedactor, type RawEnvelope, specifiedPrices } from "@runplane/domain"
import { decodePayload, type Envelope } from "@runplane/runtime"
import {
  EVENTS_PER_STAMPED_ENVELOPE,
  eventsOfHistory,
  historyEnvelope,
  PARTICIPANTS,
  readStamp,
  stampedEnvelope
} from "../../src/runtime/History.ts"

const normaliser = makeNormaliser({
  decode: decodePayload,
  redactor: makeRedactor("").redactor,
  prices: specifiedPrices,
  sha256: (...parts) => hash("sha256", Buffer.concat(parts), "buffer")
})

const eventsOf = (envelope: Envelope) => {
  const raw: RawEnvelope = { ...envelope, timestampUnixMs: Number(envelope.timestampUnixMs) }
  const frame = { kind: "stream-envelope", envelope: raw, ambient: false } as const
  return normaliser.normalise(new Set(PARTICIPANTS), frame, "2026-07-01T10:00:00.000Z").drafts
}

describe("a scripted history", () => {
  it("becomes as many events as it says", () => {
    for (const length of [0, 1, 2, 60]) {
      const drafts = Array.from({ length }, (_, index) => historyEnvelope("s", index + 1)).flatMap(eventsOf)
      assert.strictEqual(drafts.length, eventsOfHistory(length))
    }
  })

  it("has messages of every kind of a decision, each with an id of its own", () => {
    const envelopes = Array.from({ length: 60 }, (_, index) => historyEnvelope("s", index + 1))
    assert.deepStrictEqual(
      new Set(envelopes.map(({ messageType }) => messageType)),
      new Set(["SessionStart", "Proposal", "Evaluation", "Objection", "Vote"])
    )
    assert.strictEqual(new Set(envelopes.map(({ messageId }) => messageId)).size, envelopes.length)
  })
})

describe("a stamped envelope", () => {
  it("carries its moment in each of its events", () => {
    const drafts = eventsOf(stampedEnvelope("s", 3, 123_456_789.6))
    assert.strictEqual(drafts.length, EVENTS_PER_STAMPED_ENVELOPE)
    for (const draft of drafts) assert.strictEqual(readStamp(Buffer.from(JSON.stringify(draft))), 123_456_789)
  })

  it("is the only one that has a stamp", () => {
    for (const draft of eventsOf(historyEnvelope("s", 2)))
      assert.isUndefined(readStamp(Buffer.from(JSON.stringify(draft))))
  })
})
