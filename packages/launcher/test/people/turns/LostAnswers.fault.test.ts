import { assert, describe, it } from "@effect/vitest"
import { approves, makeJsAgent, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { accepted, itemRows, makeWorld, propose, start } from "../SeatStage.ts"
import { type Drop, makeDroppingProxy } from "./DroppingProxy.ts"
import { addAgent, newSession, pin, turnWhen } from "./TurnStage.ts"

/** Turns whose connections are dropped, all kinds together. */
const TURNS = Number(process.env["A2A_DROPPED_TURNS"] ?? 30)
/** Turns at a time. */
const AT_ONCE = 6

const DROPS: ReadonlyArray<Drop> = ["after the request", "after the headers", "in the stream"]

/** What is called: cancellations and reads of tasks pass. */
const isSend = (body: string) => body.includes('"SendStreamingMessage"') || body.includes('"SendMessage"')

describe("an agent behind a network that drops its answers", () => {
  for (const drop of DROPS) {
    it.live(
      `has one vote for each turn when the connection drops ${drop}`,
      () =>
        Effect.gen(function* () {
          const { layer } = yield* makeWorld
          // Each message is dropped once, and in a third of the turns twice.
          const seen = new Map<string, number>()
          const proxy = yield* makeDroppingProxy((body) => {
            if (!isSend(body)) return undefined
            const id: string = JSON.parse(body).params.message.messageId
            const times = (seen.get(id) ?? 0) + 1
            seen.set(id, times)
            return times === 1 || (times === 2 && seen.size % 3 === 0) ? drop : undefined
          })
          // Without a stream the answer of a message is one body, which can be cut too.
          const agent = yield* makeJsAgent((one) => approves(one), {
            origin: proxy.origin,
            streaming: drop === "in the stream" || drop === "after the headers"
          })
          proxy.to(agent.port)
          const pinned = yield* pin(agent.entrypoint)
          yield* Effect.gen(function* () {
            const turn = Effect.gen(function* () {
              const session = newSession()
              yield* addAgent(session, pinned)
              yield* start(session)
              yield* propose(session)
              const done = yield* turnWhen(session, "accepted", "expired", "withdrawn")
              assert.strictEqual(done?.state, "accepted", done?.failure_reason ?? "")
              yield* until(accepted(session), (messages) => messages.length > 0)
              assert.lengthOf(yield* accepted(session), 1)
              assert.lengthOf(yield* itemRows(session), 1)
            })
            const turns = Array.from({ length: Math.ceil(TURNS / DROPS.length) }, () => turn)
            yield* Effect.all(turns, { concurrency: AT_ONCE, discard: true })
            assert.isAtLeast(proxy.dropped(), turns.length)
            // One message id for each turn, however often it was sent.
            assert.strictEqual(new Set(agent.asked.map(({ messageId }) => messageId)).size, turns.length)
          }).pipe(Effect.provide(layer()))
        }),
      600_000
    )
  }
})
