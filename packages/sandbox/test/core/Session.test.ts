import { fromBinary, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { PINNED_RELEASE } from "@runplane/domain"
import { SessionMetadataSchema, SessionResumePayloadSchema, SessionState } from "@runplane/runtime"
import * as Result from "effect/Result"
import { checkShape, isSessionId } from "../../src/core/EnvelopeShape.ts"
import { LATEST_DEADLINE, type Session } from "../../src/core/Session.ts"
import { checkStart, MAX_PARTICIPANTS, MAX_TTL_MS } from "../../src/core/SessionStart.ts"
import { commitmentPayload, envelope, proposal, startPayload, vote } from "../support/Envelopes.ts"
import { openSession, T0, verdict } from "../support/Sessions.ts"

const lead = "agent://lead"
const risk = "agent://risk"

describe("a session", () => {
  it("answers a used message id as a duplicate, even from another sender and after its end", () => {
    const session = openSession()
    assert.strictEqual(verdict(session.submit(envelope("Proposal", "m2", proposal()), lead, T0)), "ok")
    assert.strictEqual(verdict(session.submit(envelope("Vote", "m2", vote()), risk, T0)), "duplicate")
    session.submit(envelope("Commitment", "m3", commitmentPayload()), lead, T0)
    assert.strictEqual(verdict(session.submit(envelope("Vote", "m2", vote()), risk, T0 + 90_000)), "duplicate")
    assert.strictEqual(session.log.end, 3)
  })

  it("does not use up the id of a refused message", () => {
    const session = openSession()
    assert.strictEqual(verdict(session.submit(envelope("Vote", "m2", vote()), lead, T0)), "INVALID_ENVELOPE")
    assert.strictEqual(verdict(session.submit(envelope("Proposal", "m2", proposal()), lead, T0)), "ok")
  })

  it("refuses another mode before it checks its own state", () => {
    const other = { mode: "macp.mode.task.v1" }
    assert.strictEqual(
      verdict(openSession().submit(envelope("Vote", "m2", vote(), other), lead, T0)),
      "INVALID_ENVELOPE"
    )
  })

  it("counts its deadline from the client's clock when that is given", () => {
    assert.strictEqual(openSession({ clientTime: T0 - 1_000 }).metadata().expiresAtUnixMs, BigInt(T0 + 59_000))
    assert.strictEqual(openSession().metadata().expiresAtUnixMs, BigInt(T0 + 60_000))
  })

  it("has a deadline that fits on the wire for every start time", () => {
    for (const clientTime of [2 ** 63 - 1_024, Number.MAX_SAFE_INTEGER]) {
      const session = openSession({ clientTime })
      session.suspend(lead, "pause", T0 + 1, false)
      session.resume(lead, "go on", T0 + 2, false)
      const metadata = fromBinary(SessionMetadataSchema, toBinary(SessionMetadataSchema, session.metadata()))
      assert.strictEqual(metadata.expiresAtUnixMs, BigInt(LATEST_DEADLINE))
      assert.isTrue(Number.isFinite(new Date(Number(metadata.expiresAtUnixMs)).getTime()))
    }
  })

  it("expires strictly after the deadline and refuses the message that detects it with that reason", () => {
    const session = openSession()
    assert.strictEqual(verdict(session.submit(envelope("Proposal", "m2", proposal()), lead, T0 + 60_000)), "ok")
    const late = session.submit(envelope("Vote", "m3", vote()), lead, T0 + 60_001)
    assert.deepStrictEqual(
      [verdict(late), late.transition, session.state],
      ["SESSION_NOT_OPEN", "EXPIRED", SessionState.EXPIRED]
    )
  })

  it("freezes while suspended and moves its deadline by the suspension", () => {
    const session = openSession()
    assert.strictEqual(session.suspend(lead, "pause", T0 + 10_000, false).transition, "SUSPENDED")
    assert.strictEqual(session.metadata().expiresAtUnixMs, BigInt(T0 + 60_000))
    assert.strictEqual(
      verdict(session.submit(envelope("Proposal", "m2", proposal()), lead, T0 + 20_000)),
      "SESSION_NOT_OPEN"
    )
    assert.isUndefined(session.refresh(T0 + 500_000))
    assert.strictEqual(session.resume(lead, "on", T0 + 110_000, false).transition, "RESUMED")
    assert.strictEqual(session.metadata().expiresAtUnixMs, BigInt(T0 + 160_000))
    assert.strictEqual(session.state, SessionState.OPEN)
  })

  it("adds suspensions up against the cap", () => {
    const session = openSession({ payload: { maxSuspendMs: 1_000n } })
    session.suspend(lead, "", T0, false)
    session.resume(lead, "", T0 + 600, false)
    session.suspend(lead, "", T0 + 600, false)
    const resumed = session.resume(lead, "", T0 + 1_001, false)
    assert.deepStrictEqual([Result.isFailure(resumed.result), resumed.transition], [true, "EXPIRED"])
  })

  it("expires when it is resumed after more suspensions than a release allows", () => {
    const cycles = (session: Session, count: number) =>
      Array.from({ length: count }, (_, at) => {
        session.suspend(lead, "", T0 + at, false)
        return session.resume(lead, "", T0 + at, false).transition
      })
    const session = openSession()
    assert.isTrue(cycles(session, 1_024).every((transition) => transition === "RESUMED"))
    session.suspend(lead, "", T0 + 2_000, false)
    const last = session.resume(lead, "", T0 + 2_000, false)
    assert.deepStrictEqual([Result.isFailure(last.result), last.transition], [true, "EXPIRED"])
  })

  it("cancels once, and answers later cancellations with its state", () => {
    const session = openSession()
    session.suspend(lead, "", T0, false)
    assert.strictEqual(session.cancel(lead, "stop", T0, false).transition, "CANCELLED")
    const again = session.cancel(lead, "stop", T0, false)
    assert.deepStrictEqual([Result.isSuccess(again.result), again.transition], [true, undefined])
    assert.isTrue(Result.isFailure(session.suspend(lead, "", T0, false).result))
    assert.isTrue(Result.isFailure(session.resume(lead, "", T0, false).result))
  })

  it("writes annotations into its history only when enabled", () => {
    const session = openSession()
    session.suspend(lead, "pause", T0, true)
    session.resume(risk, "on", T0 + 300, true)
    assert.deepStrictEqual(
      session.log.entries().map(({ envelope }) => envelope.messageType),
      ["SessionStart", "SessionSuspend", "SessionResume"]
    )
    const payload = fromBinary(SessionResumePayloadSchema, session.log.at(3)?.envelope.payload ?? new Uint8Array())
    assert.deepStrictEqual([payload.resumedBy, payload.bankedMs], [risk, 300n])
  })

  it("keeps ordinals when its history is compacted", () => {
    const session = openSession()
    session.submit(envelope("Proposal", "m2", proposal()), lead, T0)
    const before = session.log
    session.compact()
    assert.deepStrictEqual([session.log.base, session.log.end, before.at(2)?.envelope.messageId], [2, 2, "m2"])
  })

  it("counts the activity of a sender without the start", () => {
    const session = openSession()
    assert.deepStrictEqual(session.metadata().participantActivity, [])
    session.submit(envelope("Proposal", "m2", proposal()), lead, T0 + 5)
    const [activity] = session.metadata().participantActivity
    assert.deepStrictEqual(
      [activity?.participantId, activity?.messageCount, activity?.lastMessageAtUnixMs],
      [lead, 1, BigInt(T0 + 5)]
    )
  })
})

describe("the start of a session", () => {
  const cases: ReadonlyArray<readonly [string, Parameters<typeof startPayload>[0], string]> = [
    ["needs a mode version", { modeVersion: "" }, "INVALID_ENVELOPE"],
    ["needs the mode version of the mode", { modeVersion: "2.0.0" }, "INVALID_ENVELOPE"],
    ["needs a configuration version", { configurationVersion: " " }, "INVALID_ENVELOPE"],
    ["needs no participant for a decision", { participants: [] }, "ok"],
    ["has no blank participant", { participants: ["a", " "] }, "INVALID_ENVELOPE"],
    ["has no participant twice", { participants: ["a", " a"] }, "INVALID_ENVELOPE"],
    [
      "has at most 1,000 participants",
      { participants: Array.from({ length: MAX_PARTICIPANTS + 1 }, (_, i) => `a${i}`) },
      "INVALID_ENVELOPE"
    ],
    ["has a time to live", { ttlMs: 0n }, "INVALID_ENVELOPE"],
    ["lives a day at most", { ttlMs: BigInt(MAX_TTL_MS) + 1n }, "INVALID_ENVELOPE"],
    ["has no negative suspension cap", { maxSuspendMs: -1n }, "INVALID_ENVELOPE"],
    ["is accepted at the limits", { ttlMs: BigInt(MAX_TTL_MS), maxSuspendMs: 0n }, "ok"]
  ]
  for (const [name, payload, expected] of cases) {
    it(name, () => {
      const checked = checkStart(envelope("SessionStart", "m1", startPayload(payload)), PINNED_RELEASE)
      assert.strictEqual(Result.isSuccess(checked) ? "ok" : checked.failure.code, expected)
    })
  }

  it("needs a mode that is served", () => {
    const checked = checkStart(
      envelope("SessionStart", "m1", startPayload(), { mode: "macp.mode.unknown.v1" }),
      PINNED_RELEASE
    )
    assert.strictEqual(Result.isFailure(checked) ? checked.failure.code : "ok", "MODE_NOT_SUPPORTED")
  })

  const ids: ReadonlyArray<readonly [string, boolean]> = [
    ["0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a01", true],
    ["0197f3a2-6b1e-4c44-9d1a-2f5c8e7b9a01", true],
    ["0197F3A2-6B1E-7C44-9D1A-2F5C8E7B9A01", false],
    ["0197f3a2-6b1e-1c44-9d1a-2f5c8e7b9a01", false],
    ["abcdefghijklmnopqrstuv", true],
    ["abcdefghijklmnopqrstu", false],
    ["abcdefghijklmnopqrst.v", false],
    ["", false]
  ]
  for (const [id, valid] of ids) {
    it(`${valid ? "takes" : "refuses"} the session id "${id}"`, () => assert.strictEqual(isSessionId(id), valid))
  }
})

describe("the shape of an envelope", () => {
  const cases: ReadonlyArray<readonly [string, Parameters<typeof envelope>, string]> = [
    ["names protocol 1.0", ["Vote", "m", vote(), { macpVersion: "1.1" }], "UNSUPPORTED_PROTOCOL_VERSION"],
    ["names a type", ["", "m", vote()], "INVALID_ENVELOPE"],
    ["has a message id", ["Vote", "", vote()], "INVALID_ENVELOPE"],
    ["has a session", ["Vote", "m", vote(), { sessionId: "" }], "INVALID_ENVELOPE"],
    ["has a mode", ["Vote", "m", vote(), { mode: " " }], "INVALID_ENVELOPE"],
    ["keeps a Signal outside of sessions", ["Signal", "m", new Uint8Array()], "INVALID_ENVELOPE"],
    ["takes an ambient Signal", ["Signal", "m", new Uint8Array(), { mode: "", sessionId: "" }], "ok"],
    ["takes a Progress of a session", ["Progress", "m", new Uint8Array()], "ok"],
    ["takes an ambient Progress", ["Progress", "m", new Uint8Array(), { mode: "", sessionId: "" }], "ok"],
    ["refuses a half-ambient Progress", ["Progress", "m", new Uint8Array(), { sessionId: "" }], "INVALID_ENVELOPE"],
    ["bounds the payload", ["Vote", "m", new Uint8Array(101)], "PAYLOAD_TOO_LARGE"]
  ]
  for (const [name, parts, expected] of cases) {
    it(name, () => assert.strictEqual(checkShape(envelope(...parts), 100)?.code ?? "ok", expected))
  }
})
