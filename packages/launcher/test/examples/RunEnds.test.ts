import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { TestClock } from "effect/testing"
import type { EndedAgent } from "../../src/agents/AgentHost.ts"
import type { RunPhase } from "../../src/control-plane/LaunchedRuns.ts"
import { NoAnswer } from "../../src/control-plane/Submission.ts"
import { makeRunEnds } from "../../src/examples/RunEnds.ts"
import { SESSION_ID } from "../fixtures/Compiled.ts"
import { accepted } from "./Stage.ts"

const TTL_MS = 60_000
const GRACE_MS = 10_000

/** A launch of two agents whose run is in the phases that `phase` says. */
const make = Effect.fnUntraced(function* (phase: (asked: number) => RunPhase | undefined, hasRun = true) {
  const stopped: Array<string> = []
  let asked = 0
  const agentOf = Effect.fnUntraced(function* (participantId: string) {
    const end = yield* Deferred.make<EndedAgent>()
    const agent = {
      pid: 7,
      ended: Deferred.await(end),
      hasEnded: Deferred.isDone(end),
      lastLines: Effect.succeed([]),
      stop: Effect.andThen(
        Effect.sync(() => stopped.push(participantId)),
        Effect.asVoid(Deferred.succeed(end, { code: null, signal: "SIGTERM", lastLines: [] }))
      )
    }
    return {
      binding: { participantId, role: "member", agentRef: "agent-a" },
      agent,
      finish: Deferred.succeed(end, { code: 0, signal: null, lastLines: [] })
    }
  })
  const agents = [yield* agentOf("one"), yield* agentOf("two")] as const
  const runs = {
    phase: () =>
      Effect.suspend(() => {
        const now = phase(++asked)
        return now === undefined ? Effect.fail(new NoAnswer({ message: "away" })) : Effect.succeed(now)
      })
  }
  const ends = makeRunEnds({ runs, graceMs: GRACE_MS }, yield* Effect.scope)
  yield* ends.follow({
    sessionId: SESSION_ID,
    ttlMs: TTL_MS,
    run: hasRun ? Option.some(accepted) : Option.none(),
    agents
  })
  return { agents, asked: () => asked, ends, stopped }
})

describe("agents that go on after the end of their run", () => {
  it.effect("are stopped after their grace; the others are left alone", () =>
    Effect.gen(function* () {
      const { agents, ends, stopped } = yield* make((asked) => (asked < 3 ? "open" : "ended"))
      yield* TestClock.adjust(15_000)
      yield* agents[0].finish
      yield* TestClock.adjust(GRACE_MS - 1)
      assert.deepStrictEqual(stopped, [])
      assert.strictEqual(ends.runOf(SESSION_ID), accepted.runId)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(stopped, ["two"])
      assert.strictEqual(yield* ends.stopped, 1)
      assert.isUndefined(ends.runOf(SESSION_ID))
    })
  )

  it.effect("go on while their run does, however long: a session can be suspended", () =>
    Effect.gen(function* () {
      const { stopped } = yield* make(() => "open")
      yield* TestClock.adjust(10 * TTL_MS)
      assert.deepStrictEqual(stopped, [])
    })
  )

  it.effect.each([
    ["without a control plane", false],
    ["while the control plane is away", true]
  ] as const)("are stopped %s when the time of the session is over", ([, hasRun]) =>
    Effect.gen(function* () {
      const { stopped } = yield* make(() => undefined, hasRun)
      yield* TestClock.adjust(TTL_MS + GRACE_MS - 1)
      assert.deepStrictEqual(stopped, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(stopped, ["one", "two"])
    })
  )

  it.effect("are no longer followed once all of them have ended", () =>
    Effect.gen(function* () {
      const { agents, asked, ends } = yield* make(() => "open")
      for (const { finish } of agents) yield* finish
      yield* TestClock.adjust(TTL_MS)
      assert.strictEqual(asked(), 0)
      assert.isUndefined(ends.runOf(SESSION_ID))
    })
  )
})
