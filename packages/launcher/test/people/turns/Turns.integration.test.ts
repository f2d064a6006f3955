import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { type Asked, approves, type Does, makeJsAgent } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { countPeople } from "../../../src/people/PeopleCounts.ts"
import { accepted, itemsWhen, makeWorld, propose, SEAT, start } from "../SeatStage.ts"
import { addAgent, newSession, pin, recordsOf, turnWhen } from "./TurnStage.ts"

/** A session with an agent that does as its script says, up to the proposal. */
const asked = Effect.fnUntraced(function* (
  does: (asked: Asked) => Does,
  options?: Parameters<typeof makeJsAgent>[1],
  rules?: Parameters<typeof addAgent>[2]
) {
  const agent = yield* makeJsAgent(does, options)
  const session = newSession()
  yield* addAgent(session, yield* pin(agent.entrypoint), rules)
  yield* start(session)
  yield* propose(session)
  return { agent, session }
})

describe("a turn of an agent that speaks A2A, on the official server in JavaScript", () => {
  for (const [binding, streaming] of [
    ["JSONRPC", true],
    ["JSONRPC", false],
    ["HTTP+JSON", true],
    ["HTTP+JSON", false]
  ] as const) {
    it.live(`becomes one vote over ${binding}${streaming ? " with a stream" : ""}`, () =>
      Effect.gen(function* () {
        const { layer } = yield* makeWorld
        yield* Effect.gen(function* () {
          const { agent, session } = yield* asked((one) => approves(one), { binding, streaming })
          yield* turnWhen(session, "accepted")
          const [message, ...others] = yield* accepted(session)
          assert.lengthOf(others, 0)
          assert.strictEqual(message?.statement.vote, "APPROVE")
          const [item] = yield* itemsWhen(session, () => true)
          const line = `[agent remote-agent item ${item?.id} sha256:${item?.proposalHash.slice(0, 16)}]`
          assert.strictEqual(message?.statement.reason, `fine\n${line}`)
          assert.lengthOf(agent.asked, 1)
          assert.strictEqual(agent.asked[0]?.contextId, `${session}:${SEAT}`)
          assert.deepStrictEqual(agent.asked[0]?.data.allowedActs, ["approve", "reject", "abstain"])
          const records = yield* recordsOf(session)
          assert.deepStrictEqual(
            records.map(({ kind }) => kind),
            ["a2a.turn"]
          )
          assert.notProperty(records[0]?.content, "usage")
          assert.deepInclude(records[0]?.content, {
            ...{ outcome: "acted", origin: "agent", act: "approve", confidence: 0.9, resent: 0 },
            ...{ participant: SEAT, agentRef: "remote-agent", messageId: message?.messageId }
          })
        }).pipe(Effect.provide(layer()))
      })
    )
  }

  it.live("fails for each answer that is not an act, and makes no vote of it", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const cases: ReadonlyArray<readonly [failure: string, does: (one: Asked) => Does]> = [
          ["forbidden-act", (one) => approves(one, { act: "COMMIT" })],
          ["stale", (one) => approves(one, { proposalHash: "b".repeat(64) })],
          ["unreadable", () => ({ states: ["COMPLETED"], parts: [{ text: "I approve" }] })],
          ["failed", () => ({ states: ["WORKING", "FAILED"] })],
          ["rejected", () => ({ states: ["REJECTED"] })],
          ["auth-required", () => ({ states: ["WORKING", "AUTH_REQUIRED"] })],
          ["input-required", () => ({ states: ["INPUT_REQUIRED"] })]
        ]
        yield* Effect.forEach(
          cases,
          ([failure, does]) =>
            Effect.gen(function* () {
              const { agent, session } = yield* asked(does)
              const turn = yield* turnWhen(session, "expired")
              assert.strictEqual(turn?.failure, failure)
              assert.lengthOf(yield* accepted(session), 0)
              assert.lengthOf(agent.asked, failure === "unreadable" || failure === "input-required" ? 2 : 1)
              const [record] = yield* recordsOf(session)
              assert.deepInclude(record?.content, { outcome: "failed", failure })
              assert.notProperty(record?.content, "messageId")
            }),
          { concurrency: 4 }
        )
        const counts = yield* Effect.flatMap(PgClient.PgClient, countPeople)
        assert.deepInclude(counts, { turns_acted: 0, turns_ended: 0, resent: 0, expired: 0 })
        assert.deepStrictEqual(counts.turns_failed, Object.fromEntries(cases.map(([failure]) => [failure, 1])))
        assert.deepStrictEqual(counts.turns_open, {})
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("takes the answer after a repair, and after more input", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        // The counts of a task are those of all its messages.
        const using = ({ count }: Asked) => ({ metadata: { "gen_ai.usage.input_tokens": 100 * count } })
        const repaired = yield* asked((one) => ({
          ...(one.count === 1 ? { states: ["COMPLETED"], parts: [{ text: "hm" }] } : approves(one)),
          ...using(one)
        }))
        const informed = yield* asked((one) => ({
          ...(one.count === 1 ? { states: ["INPUT_REQUIRED"] } : approves(one)),
          ...using(one)
        }))
        for (const { agent, session } of [repaired, informed]) {
          yield* turnWhen(session, "accepted")
          assert.lengthOf(yield* accepted(session), 1)
          assert.strictEqual(new Set(agent.asked.map(({ messageId }) => messageId)).size, 2)
        }
        const usedBy = (session: string) =>
          Effect.map(recordsOf(session), ([record]) => [record?.content["usage"]].flat())
        const used = (promptTokens: number) => ({ promptTokens, completionTokens: 0, totalTokens: promptTokens })
        assert.deepStrictEqual(yield* usedBy(repaired.session), [used(100), used(200)])
        assert.deepStrictEqual(yield* usedBy(informed.session), [used(200)])
        // More input goes on with the task, a repair has another one.
        assert.strictEqual(new Set(informed.agent.asked.map(({ taskId }) => taskId)).size, 1)
        assert.strictEqual(new Set(repaired.agent.asked.map(({ taskId }) => taskId)).size, 2)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("is late at its deadline: the task is cancelled, and an abstention is not an act of the agent", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const slow = () => ({ states: ["WORKING", "COMPLETED"], pauseMs: 60_000 })
        const silent = yield* asked(slow, { streaming: false }, { deadline: "2s" })
        const abstains = yield* asked(slow, {}, { deadline: "2s", onFailure: "abstain" })
        const turn = yield* turnWhen(silent.session, "expired")
        assert.strictEqual(turn?.failure, "late")
        assert.lengthOf(yield* accepted(silent.session), 0)
        yield* turnWhen(abstains.session, "accepted")
        const [message] = yield* accepted(abstains.session)
        assert.strictEqual(message?.statement.vote, "ABSTAIN")
        const [record] = yield* recordsOf(abstains.session)
        assert.deepInclude(record?.content, { outcome: "acted", origin: "failure", failure: "late", act: "abstain" })
        for (const { agent } of [silent, abstains]) yield* itemsWhen(silent.session, () => agent.cancelled.length === 1)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("begins again for a newer proposal, and cancels the task of the older one", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const { agent, session } = yield* asked(
          (one) => (one.count === 1 ? { states: ["WORKING", "COMPLETED"], pauseMs: 60_000 } : approves(one)),
          {},
          { deadline: "5m" }
        )
        yield* itemsWhen(session, () => agent.asked.length === 1)
        yield* propose(session, "p2")
        yield* itemsWhen(session, (items) => items.filter(({ state }) => state === "accepted").length === 2)
        assert.lengthOf(yield* accepted(session), 2)
        assert.strictEqual((yield* itemsWhen(session, () => true))[0]?.state, "stale")
        const counts = yield* Effect.flatMap(PgClient.PgClient, countPeople)
        assert.deepInclude(counts, { turns_acted: 2, turns_ended: 1, turns_failed: {}, turns_open: {} })
        yield* itemsWhen(session, () => agent.cancelled.includes(agent.asked[0]?.taskId ?? ""))
      }).pipe(Effect.provide(layer()))
    })
  )
})
