import { assert, describe, it } from "@effect/vitest"
import { makeNormaliser, makeRedactor, type RawFrame, specifiedPrices } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  denialsIn,
  MAX_DENIAL_BYTES,
  MAX_DENIAL_PARTICIPANTS,
  MAX_DENIALS,
  readDenialDetails
} from "../../src/run/BoundDenials.ts"
import { denialText } from "../../src/run/DenialText.ts"
import { sha256 } from "../support/digests.ts"
import { ack, envelopeFrame, fakeDecoder, json, NOW, normalise } from "../support/frames.ts"

const VETO = { code: "veto", message: "blocked by 1 blocking objection(s)", participants: ["agent://b"] }
const QUORUM = { code: "quorum_not_met", message: "1 of 3" }
const DENIALS = [VETO, QUORUM]
const details = json({ reasons: [VETO.message, QUORUM.message], denials: DENIALS })
const error = { code: "POLICY_DENIED", message: "PolicyDenied", sessionId: "session-1", messageId: "m9", details }

const sources: ReadonlyArray<readonly [string, RawFrame]> = [
  ["a message", envelopeFrame("PolicyDenied", json({ denials: DENIALS }))],
  ["the error inside a message", envelopeFrame("PolicyDenied", json({ error: { denials: DENIALS } }))],
  ["an acknowledgement", { kind: "send-ack", ack: ack({ ok: false, error }) }],
  ["an inline error", { kind: "stream-inline-error", error }],
  [
    "an agent's report",
    envelopeFrame(
      "Signal",
      json({ signalType: "message.refused", data: JSON.stringify({ code: "POLICY_DENIED", denials: DENIALS }) })
    )
  ]
]

const denied = ({ drafts }: Pick<ReturnType<typeof normalise>, "drafts">) => {
  const found = drafts.find(({ type }) => type === "policy.denied")
  assert(found?.type === "policy.denied")
  return found
}

describe("the reasons of a denial with their codes", () => {
  it.each(sources)("are kept from %s", (_, frame) => {
    const { data, recorded } = denied(normalise(frame))
    assert.deepStrictEqual(recorded.data["denials"], DENIALS)
    assert.deepStrictEqual(data.denials, DENIALS)
    assert.deepStrictEqual(recorded.data["decodedPayload"], {
      decision: "deny",
      reasons: [VETO.message, QUORUM.message]
    })
  })

  it.each(sources)("are redacted in %s", (_, frame) => {
    const { redactor } = makeRedactor("agent://\\w+, of \\d")
    const normaliser = makeNormaliser({ decode: fakeDecoder, redactor, prices: specifiedPrices, sha256 })
    assert.deepStrictEqual(denied(normaliser.normalise(new Set(), frame, NOW)).recorded.data["denials"], [
      { ...VETO, participants: ["[REDACTED]"] },
      { ...QUORUM, message: "1 [REDACTED]" }
    ])
  })

  it("are absent where the runtime sends words only", () => {
    const old = { ...error, details: json({ reasons: ["no votes"] }) }
    const { data, recorded } = denied(normalise({ kind: "send-ack", ack: ack({ ok: false, error: old }) }))
    assert.notProperty(recorded.data, "denials")
    assert.deepStrictEqual(data.denials, [])
  })

  it("skip what is not a reason, and name a reason in bare words", () => {
    const given = [1, null, [], {}, { code: 5 }, { message: "words" }, { code: "acme_budget" }]
    assert.deepStrictEqual(denialsIn({ denials: given }), {
      denials: [
        { code: "unspecified", message: "words" },
        { code: "acme_budget", message: "acme_budget" }
      ]
    })
  })

  it("are bounded in number, and count the others", () => {
    const participants = Array.from({ length: MAX_DENIAL_PARTICIPANTS + 7 }, (_, at) => `p${at}`)
    const many = [{ ...VETO, participants }, ...Array.from({ length: MAX_DENIALS + 4 }, () => QUORUM)]
    const { denials, denialsOmitted } = denialsIn({ denials: many })
    assert.lengthOf(denials, MAX_DENIALS)
    assert.strictEqual(denialsOmitted, 5)
    assert.lengthOf(denials[0]?.participants ?? [], MAX_DENIAL_PARTICIPANTS)
    assert.strictEqual(denials[0]?.participantsOmitted, 7)
    assert.strictEqual(denialText(denials[1] ?? VETO), "quorum_not_met: 1 of 3")
    assert.match(denialText({ ...VETO, participantsOmitted: 7 }), /^veto: .+ \(agent:\/\/b and 7 more\)$/)
  })

  const stretch = (text: string) => text.repeat(400)
  const given = Schema.Array(
    Schema.Struct({ code: Schema.String, message: Schema.String, participants: Schema.Array(Schema.String) })
  )

  it.prop(
    "are bounded in bytes whatever the runtime sends, and the same when an event is read again",
    { given: Arbitrary.schema(given) },
    ({ given }) => {
      const denials = given.map(({ code, message, participants }) => ({
        code: stretch(code),
        message: stretch(message),
        participants: participants.map(stretch)
      }))
      const kept = denialsIn({ denials })
      // Beside the texts: names of members, punctuation and counts.
      const overhead = MAX_DENIALS * 100 + MAX_DENIALS * MAX_DENIAL_PARTICIPANTS
      assert.isAtMost(Buffer.byteLength(JSON.stringify(kept.denials)), MAX_DENIAL_BYTES + overhead)
      assert.deepStrictEqual(denialsIn({ ...kept }), kept)
    }
  )

  it("are no reason where the details are not such JSON", () => {
    for (const bytes of [new Uint8Array(), Uint8Array.of(0xff), json([1]), json({ denials: "x", reasons: 1 })]) {
      assert.deepStrictEqual(readDenialDetails(bytes), { reasons: [], denials: [] })
    }
  })
})
