import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { SendResponseSchema, SessionState } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { AgentClient } from "../../src/client/AgentClient.ts"
import { clientOn, refusal, runtime } from "../support/Runtimes.ts"

describe("a session that is suspended", () => {
  /** A runtime that refuses messages while its session is in these states, one after the other. */
  const stagedWith = (states: ReadonlyArray<SessionState>) => {
    const ids: Array<string | undefined> = []
    let reads = 0
    const current = () => states[Math.min(reads, states.length - 1)] ?? SessionState.OPEN
    const address = runtime({
      getSession: () => {
        const state = current()
        reads += 1
        return { metadata: { state } }
      },
      send: ({ envelope }) => {
        ids.push(envelope?.messageId)
        return current() === SessionState.OPEN
          ? create(SendResponseSchema, { ack: { ok: true } })
          : refusal("SESSION_NOT_OPEN")
      }
    })
    return { address, ids }
  }
  const progress = Effect.flatMap(AgentClient, (client) => client.progress(0.5, "half"))

  it.live("takes a message once it is resumed, under the same id", () =>
    Effect.gen(function* () {
      const { address, ids } = stagedWith([SessionState.SUSPENDED, SessionState.SUSPENDED, SessionState.OPEN])
      const ack = yield* Effect.provide(progress, clientOn(yield* address))
      assert.isTrue(ack.ok)
      assert.lengthOf(ids, 2)
      assert.strictEqual(new Set(ids).size, 1)
    })
  )

  it.live("refuses it when it ends meanwhile, and one that has ended refuses it at once", () =>
    Effect.gen(function* () {
      for (const states of [[SessionState.SUSPENDED, SessionState.CANCELLED], [SessionState.EXPIRED]]) {
        const { address, ids } = stagedWith(states)
        const failure = yield* Effect.flip(Effect.provide(progress, clientOn(yield* address)))
        assert(failure._tag === "MessageRefused")
        assert.deepStrictEqual([failure.code, ids.length], ["SESSION_NOT_OPEN", 1])
      }
    })
  )
})
