import { assert, describe, it } from "@effect/vitest"
import { type EventDraft, type JsonObject, MAX_STATE_BYTES, MAX_VOTE_TALLY_BYTES } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  boundName,
  boundPayload,
  boundTexts,
  MAX_STATE_LIST_BYTES,
  MAX_STATE_NAME_BYTES,
  MAX_STATE_PAYLOAD_BYTES,
  MAX_STATE_TEXT_BYTES
} from "../../src/values/Bounds.ts"
import { nastyText, payload, pick } from "../support/arbitraries.ts"
import { bound, derived, draft, fold, given, received, running, seen } from "../support/events.ts"

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const throughJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))

const UNITS = ["a", '"', "\n", "\u0001", "é", "世", "\u{1F600}", "\ud800"]
const longText = Arbitrary.map(
  Arbitrary.all({
    start: nastyText,
    unit: pick(UNITS),
    count: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 })))
  }),
  ({ count, start, unit }) => start + unit.repeat(count)
)

describe("a bounded text", () => {
  it.prop("fits, is itself when it did before, and stays well-formed", { text: longText }, ({ text }) => {
    const bounded = boundName(text)
    assert.isAtMost(bytesOf(bounded), MAX_STATE_NAME_BYTES)
    if (bytesOf(text) <= MAX_STATE_NAME_BYTES) assert.strictEqual(bounded, text)
    else assert.include(bounded, `… (cut, ${bytesOf(text)} bytes, #`)
    if (text.isWellFormed()) assert.isTrue(bounded.isWellFormed())
    assert.strictEqual(boundName(bounded), bounded)
  })

  it("stays another one than those that begin and end alike", () => {
    const names = Array.from({ length: 5_000 }, (_, at) => boundName(`${"n".repeat(300)}${at}${"n".repeat(300)}`))
    assert.strictEqual(new Set(names).size, names.length)
  })
})

describe("a bounded payload", () => {
  const fat: Arbitrary.Arbitrary<JsonObject> = Arbitrary.map(
    Arbitrary.all({ payload, longText, more: Arbitrary.array(longText, { maxLength: 6 }) }),
    ({ longText, more, payload }) => throughJson({ ...payload, longText, nested: { more, deep: [[more]] }, last: 1 })
  )
  it.prop("fits, is itself when it did before, and is JSON", { value: fat }, ({ value }) => {
    const bounded = boundPayload(value)
    assert.isAtMost(bytesOf(bounded), MAX_STATE_PAYLOAD_BYTES)
    assert.deepStrictEqual(throughJson(bounded), bounded)
    if (bytesOf(value) < MAX_STATE_PAYLOAD_BYTES - 16) assert.deepStrictEqual(bounded, value)
    assert.deepStrictEqual(boundPayload(bounded), bounded)
  })

  it("keeps the small members beside a large one, and says what is cut", () => {
    const bounded = boundPayload({ severity: "high", blob: "x".repeat(100_000), summary: "all is well" })
    assert.deepInclude(bounded, { severity: "high", summary: "all is well" })
    assert.match(JSON.stringify(bounded), /x… \(cut, 100002 bytes, #[0-9a-f]+\)"/)
    const many = boundPayload(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key ${at}`, at])))
    assert.match(JSON.stringify(many), /"key 0":0,"key 1":1,.*"…":"… \(cut, \d+ more\)"\}$/)
  })
})

describe("bounded texts", () => {
  it("are the first ones, and then the number of the others", () => {
    assert.deepStrictEqual(boundTexts(["a", "b"]), ["a", "b"])
    const bounded = boundTexts(Array.from({ length: 100 }, (_, at) => `${at} ${"x".repeat(1_000)}`))
    assert.isAtMost(bytesOf(bounded), MAX_STATE_LIST_BYTES)
    assert.strictEqual(bounded.at(-1), `… (cut, ${100 - bounded.length + 1} more)`)
    assert.isAtMost(bytesOf(boundTexts(["y".repeat(100_000)])), MAX_STATE_TEXT_BYTES + 2)
  })
})

describe("a state", () => {
  /** A text that is long, different each time, and twice as long in JSON. */
  const long = (at: number) => `${at}${'"'.repeat(4_500)}`
  const fatten = (at: number): ReadonlyArray<EventDraft> => {
    const text = long(at)
    const proposal = {
      proposalId: text,
      vote: "APPROVE",
      reason: text,
      rationale: text,
      summary: text,
      reasons: [text]
    }
    return [
      seen(text, text),
      received(text, text, {}, { to: [text, long(at + 1)] }),
      derived("signal.emitted", "Signal", text, { signalType: text, severity: text, a: text, b: [text] }, text),
      derived("signal.acknowledged", "SignalAck", text, {}, text),
      derived("proposal.updated", "Vote", text, proposal, text),
      derived("policy.commitment.evaluated", text, text, { commitmentId: text, reasons: [text, text, text] }),
      derived("progress.reported", text, text, { message: text }),
      derived("llm.call.completed", text, text, { model: text, artifactId: text, promptTokens: 1 }, text),
      draft("artifact.created", { artifactId: text })
    ]
  }
  const expectations = Array.from({ length: 200 }, (_, at) => ({
    id: long(at),
    title: long(at),
    description: long(at),
    requiredRoles: [long(at), "b"],
    policyRef: long(at)
  }))

  it("is bounded in bytes, whatever its events say", () => {
    const state = fold([
      draft("run.created", { modeName: long(1), sessionId: long(1), traceId: long(1) }),
      draft("session.bound", { sessionId: long(2), initiator: long(3), contextId: long(3), extensionKeys: [long(1)] }),
      derived("proposal.created", "Proposal", long(3), { prompt: long(4) }),
      draft("policy.resolved", {
        policyVersion: long(1),
        decodedPayload: { description: long(1), resolvedAt: long(2), expectedCommitments: expectations }
      }),
      ...Array.from({ length: 320 }, (_, at) => fatten(at)).flat(),
      derived("decision.finalized", "Commitment", long(1), {
        action: long(1),
        commitmentId: long(2),
        reasons: [long(1), long(2)],
        supersedes: { sessionId: long(1), commitmentHash: long(2) }
      })
    ])
    // As large as that, so the bound is neither broken nor without meaning.
    assert.isAtMost(bytesOf(state), MAX_STATE_BYTES)
    assert.isAbove(bytesOf(state), MAX_STATE_BYTES / 4)
    assert.isAtMost(bytesOf(state.policy.voteTally), MAX_VOTE_TALLY_BYTES)
    assert.strictEqual(state.participants.length, 321)
  })

  it("takes a long name for the same participant, proposal and signal each time", () => {
    const name = long(7)
    const vote = (vote: string) => derived("proposal.updated", "Vote", name, { proposalId: name, vote }, "m")
    const state = given(...running, seen(name, "voter")).when(
      derived("signal.emitted", "Signal", name, {}, name),
      derived("signal.acknowledged", "SignalAck", "b", {}, name),
      vote("APPROVE"),
      vote("REJECT")
    )
    assert.deepStrictEqual(
      state.participants.map(({ participantId, role }) => [participantId, role]),
      [
        [boundName(name), "voter"],
        ["b", undefined]
      ]
    )
    assert.deepInclude(state.policy.voteTally?.[0], { commitmentId: boundName(name), allow: 1, deny: 1 })
    assert.strictEqual(state.signals.signals[0]?.acknowledgedBy, "b")
  })

  it("keeps the tally of every proposal with votes while there is room, then the latest, and says so", () => {
    const votes = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        derived("proposal.updated", "Vote", "a", { proposalId: `proposal-${at}`, vote: "APPROVE" })
      )
    const some = given(bound).when(...votes(1_500)).policy
    assert.strictEqual(some.voteTally?.length, 1_500)
    assert.notProperty(some, "voteTallyTruncated")
    const all = given(bound).when(...votes(4_000)).policy
    assert.isTrue(all.voteTallyTruncated)
    assert.isAtMost(bytesOf(all.voteTally), MAX_VOTE_TALLY_BYTES)
    assert.isAbove(all.voteTally?.length ?? 0, 2_000)
    assert.strictEqual(all.voteTally?.at(-1)?.commitmentId, "proposal-3999")
  })
})
