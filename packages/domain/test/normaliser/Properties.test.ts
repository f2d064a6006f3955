import { assert, describe, it } from "@effect/vitest"
import {
  makeNormaliser,
  makeRedactor,
  noRedactor,
  OutboundMessageDraft,
  projectAll,
  RecordedEvent,
  specifiedPrices
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { arbitraryFrame } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { RUN_ID, recordedDraft, reread, stored } from "../support/events.ts"
import { fakeDecoder, NOW } from "../support/frames.ts"

const options = { decode: fakeDecoder, redactor: noRedactor, prices: specifiedPrices, sha256 }
const plain = makeNormaliser(options)
const redacting = makeNormaliser({ ...options, redactor: makeRedactor("[ab]\\w*,\\d+").redactor })
const isEvent = Schema.is(RecordedEvent)
const isMessage = Schema.is(OutboundMessageDraft)

/** A reviver that looks at every key and every string. */
const assertStorable = (key: string, value: unknown) => {
  for (const text of [key, value]) {
    if (typeof text === "string") assert.isTrue(text.isWellFormed() && !text.includes("\u0000"), JSON.stringify(text))
  }
  return value
}

const RUNS = { arbitrary: { runs: 300 }, timeout: 30_000 }

describe("properties of the normaliser", () => {
  for (const [name, normaliser] of [
    ["without redaction", plain],
    ["with redaction", redacting]
  ] as const) {
    it.prop(
      `never throws and yields only what can be stored, ${name}`,
      { frame: arbitraryFrame },
      ({ frame }) => {
        const result = normaliser.normalise(new Set(["agent://a"]), frame, NOW)
        const recorded = { ...result, drafts: result.drafts.map(recordedDraft) }
        assert.deepStrictEqual(JSON.parse(JSON.stringify(recorded), assertStorable), recorded)
        assert.isAtLeast(result.drafts.length, 1)
        result.drafts.forEach((draft, position) => {
          assert.isTrue(isEvent(stored(draft, position + 1).recorded))
        })
        if (result.message !== undefined) {
          assert.isTrue(isMessage(result.message))
          assert.notStrictEqual(result.message.messageId, "")
        }
      },
      RUNS
    )
  }

  it.prop(
    "feeds a projection that agrees with the one from stored events",
    { frames: Arbitrary.array(arbitraryFrame) },
    ({ frames }) => {
      const known = new Set<string>()
      const drafts = frames.flatMap((frame) => {
        const result = plain.normalise(known, frame, NOW)
        if (result.seenParticipant !== undefined) known.add(result.seenParticipant)
        return result.drafts
      })
      const events = drafts.map((draft, position) => stored(draft, position + 1))
      const state = projectAll(RUN_ID, events)
      const rebuilt = projectAll(RUN_ID, events.map(reread))
      assert.strictEqual(JSON.stringify(rebuilt), JSON.stringify(state))
      assert.deepStrictEqual(
        new Set(state.participants.map(({ participantId }) => participantId).filter((id) => known.has(id))),
        known
      )
    }
  )
})
