import { assert, describe, it } from "@effect/vitest"
import { shadowName } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { type Behaviour, compiledOf, makeStage, scriptOf, vote } from "./ShadowStage.ts"

/** Runs that are compared byte by byte with a run without a shadow. */
const RUNS = Number(process.env["SHADOW_RUNS"] ?? 16)

const sessionOf = (nth: number) => `shadow-session-of-tests-${String(nth).padStart(5, "0")}`

const votes =
  (choice: string): Behaviour =>
  ({ send, shown }) =>
    shown("Proposal").pipe(Effect.andThen(send("Vote", vote(choice))), Effect.as(0))

const evaluates: Behaviour = ({ send, shown }) => {
  const payload = scriptOf(3).find(({ type }) => type === "Evaluation")?.payload ?? new Uint8Array()
  return shown("Proposal").pipe(Effect.andThen(send("Evaluation", payload)), Effect.as(0))
}

const crashes: Behaviour = () => Effect.succeed(1)
const hangs: Behaviour = () => Effect.never
const neverExits: Behaviour = (agent) => Effect.andThen(votes("REJECT")(agent), Effect.never)
const isLate: Behaviour = (agent) => Effect.andThen(Effect.sleep(100), votes("REJECT")(agent))
const floods: Behaviour = ({ send, shown }) =>
  shown("Proposal").pipe(
    Effect.andThen(
      Effect.forEach(Array.from({ length: 2_000 }), () => send("Vote", vote("MAYBE")), { concurrency: 50 })
    ),
    Effect.as(0)
  )

const BEHAVIOURS = [votes("APPROVE"), votes("REJECT"), evaluates, crashes, isLate, neverExits, floods, hangs]

describe("a shadow", () => {
  it.live(
    `changes no byte of ${RUNS} sessions, and the runtime sees no call of it`,
    () =>
      Effect.gen(function* () {
        const without = yield* makeStage()
        const stage = yield* makeStage()
        for (let nth = 0; nth < RUNS; nth += 1) {
          const sessionId = sessionOf(nth)
          const behaviour = BEHAVIOURS[nth % BEHAVIOURS.length] ?? hangs
          yield* without.script(sessionId, nth)
          yield* stage.start(sessionId, behaviour)
          yield* stage.script(sessionId, nth)
          const { as, shadow } = yield* stage.acts(sessionId)
          assert.strictEqual(shadow, shadowName(as, "agent-x"))
          assert.deepStrictEqual(yield* stage.bytesOf(sessionId), yield* without.bytesOf(sessionId))
        }
        // The observer reads in the name of the initiator, and no other name has called.
        assert.deepStrictEqual([...stage.proxy.calls.keys()], ["lead"])
        assert.strictEqual(stage.attached.length, RUNS)
        for (const { shadow, token } of stage.attached) {
          assert.isFalse(stage.proxy.calls.has(token))
          assert.notStrictEqual(shadow?.runtimeAddress, stage.proxy.address)
        }
      }),
    { timeout: 600_000 }
  )

  it.live("has its acts kept, with what it had been shown", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage({ shadowGraceMs: 60_000, agentExitGraceMs: 60_000 })
      const sessionId = sessionOf(90_001)
      yield* stage.start(sessionId, ({ send, shown }) =>
        Effect.gen(function* () {
          // The vote of the other participant is the last message before its own.
          yield* shown("Vote")
          yield* send("Vote", vote("REJECT"))
          yield* shown("Commitment")
          yield* send("Vote", vote("APPROVE"))
          return 0
        })
      )
      yield* stage.script(sessionId, 1)
      const { acts, leftOut, refused, status, ...rest } = yield* stage.acts(sessionId)
      assert.deepStrictEqual(
        acts.map(({ messageType, payload, shown }) => [messageType, payload["vote"], shown]),
        // SessionStart, Proposal, Evaluation and Vote of the other: neither the two of the participant nor the end.
        [["Vote", "REJECT", 4]]
      )
      assert.deepStrictEqual(
        refused.map(({ code, messageType }) => [messageType, code]),
        [["Vote", "SESSION_NOT_OPEN"]]
      )
      assert.deepStrictEqual(
        { leftOut, status, reason: rest.reason },
        { leftOut: 0, status: "acted", reason: undefined }
      )
      assert.strictEqual(stage.records[0]?.idempotencyKey, "shadow.acts/one~agent-x")
    })
  )

  const failing = (name: string, behaviour: Behaviour, status: string, reason: RegExp, shadowGraceMs = 200) =>
    it.live(`that ${name} says so, and its session is as ever`, () =>
      Effect.gen(function* () {
        const stage = yield* makeStage({ shadowGraceMs })
        const sessionId = sessionOf(90_002)
        yield* stage.start(sessionId, behaviour)
        yield* stage.script(sessionId, 1)
        assert.strictEqual((yield* stage.bytesOf(sessionId)).length, scriptOf(1).length)
        const acts = yield* stage.acts(sessionId)
        assert.strictEqual(acts.status, status)
        assert.match(acts.reason ?? "", reason)
        assert.isAtMost(acts.refused.length, 200)
      })
    )

  failing("crashes", crashes, "failed", /^its process ended \(code=1, signal=null\): it broke$/, 60_000)
  failing("hangs", hangs, "failed", /^it did not act within 200 ms after the end of its session$/)
  failing("never exits", neverExits, "acted", /^it still ran 100 ms after its session, and was ended$/, 60_000)
  failing("floods", floods, "failed", /^it sent more than (500 messages|2000 calls in 10 s), and was ended$/, 60_000)

  it.live("that is never ready delays neither its launch nor its session", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage()
      const sessionId = sessionOf(90_004)
      const shadow = { shadow: shadowName("one", "agent-x"), as: "one", agent: "agent-x" }
      yield* stage.shadows.start({ compiled: compiledOf(sessionId), shadow, ttlMs: 60_000, agent: Effect.never })
      yield* stage.script(sessionId, 1)
      assert.strictEqual((yield* stage.bytesOf(sessionId)).length, scriptOf(1).length)
      assert.lengthOf(stage.records, 0)
    })
  )

  it.live("is replayed a session that ended before the shadow was started", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage({ shadowGraceMs: 60_000 })
      const sessionId = sessionOf(90_003)
      yield* stage.script(sessionId, 1)
      yield* stage.start(sessionId, votes("REJECT"))
      const { acts } = yield* stage.acts(sessionId)
      assert.deepStrictEqual(
        acts.map(({ payload }) => payload["vote"]),
        ["REJECT"]
      )
    })
  )
})
