import { assert, describe, it } from "@effect/vitest"
import { freePorts, runtimeFolder, startRuntime, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { Answers } from "../../../src/people/Answers.ts"
import { accepted, addSeat, ana, itemWhen, propose, shown, start } from "../SeatStage.ts"
import { makeWorldAt } from "../suspend/SuspensionStage.ts"

/** Milliseconds from the answer to the kill: before its message is sent, while it is, and after it. */
const KILLS = [0, 5, 15, 30, 60, 120, 250]

describe("a runtime that is killed while an answer goes in", () => {
  it.live("has one act of the seat, once it is back with its files", () =>
    Effect.gen(function* () {
      const [port = 0] = yield* freePorts(1)
      const home = { address: `127.0.0.1:${port}`, folder: yield* runtimeFolder }
      /** Starts the runtime; closing the scope kills it. */
      const up = Effect.gen(function* () {
        const scope = yield* Scope.make()
        yield* Scope.provide(startRuntime({}, home), scope)
        return Scope.close(scope, Exit.void)
      })
      const { layer } = yield* makeWorldAt(home.address)
      let kill = yield* up
      for (const [at, afterMs] of KILLS.entries()) {
        const session = `00000000-0000-4000-8000-${String(at + 1).padStart(12, "0")}`
        yield* Effect.gen(function* () {
          yield* addSeat(session)
          yield* start(session)
          yield* propose(session)
          const item = yield* itemWhen(session, "open")
          const content = { act: "reject", reason: "the loss is not covered" } as const
          const submitted = { content, proposalHash: item.proposalHash, basis: yield* shown(session) }
          yield* Effect.flatMap(Answers, ({ submit }) => submit(item.id, ana, submitted))
          yield* Effect.sleep(afterMs)
          yield* kill
          kill = yield* up
          yield* itemWhen(session, "accepted")
        }).pipe(Effect.provide(layer()))
        // A service that starts anew has of the session what the runtime has kept.
        const own = yield* until(accepted(session), (messages) => messages.length > 0).pipe(Effect.provide(layer()))
        assert.lengthOf(own, 1, `killed ${afterMs} ms after the answer`)
      }
      yield* kill
    })
  )
})
