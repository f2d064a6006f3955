import * as PgConnection from "@effect/sql-pg/PgConnection"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { refuseTransactionPooling } from "../../../src/platform/postgres/TransactionPooling.ts"

type Session = PgConnection.PgConnection

/** What a client has of a pooler: each statement goes to the session of the pooler's choice. */
const client = (choose: () => Session): Session => {
  const session = choose()
  return {
    [PgConnection.TypeId]: PgConnection.TypeId,
    config: session.config,
    // A pooler gives its clients process ids of its own.
    processId: session.processId + 1_000_000,
    pin: session.pin,
    query: (...statement) => choose().query(...statement),
    queryValues: (...statement) => choose().queryValues(...statement),
    stream: (...statement) => choose().stream(...statement),
    listen: (channel) => choose().listen(channel),
    interrupt: Effect.void
  }
}

/** Poolers of three sessions, by how they choose one for a statement of a client. */
const poolers: Readonly<Record<string, (sessions: ReadonlyArray<Session>) => () => () => Session | undefined>> = {
  "of the session that was free last": (sessions) => () => () => sessions[0],
  "of one session after the other": (sessions) => {
    let next = 0
    return () => () => sessions[next++ % sessions.length]
  },
  "of a session for each client": (sessions) => {
    let clients = 0
    return () => {
      const own = sessions[clients++]
      return () => own
    }
  }
}

describe("a pooler", () => {
  for (const [name, refused] of [
    ["of the session that was free last", true],
    ["of one session after the other", true],
    ["of a session for each client", false]
  ] as const) {
    it.live(`${name} is ${refused ? "refused" : "used"}`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const url = Redacted.make(yield* createDatabase)
          const sessions = yield* Effect.forEach([1, 2, 3], () => PgConnection.make({ url }))
          const arrive = poolers[name]?.(sessions)
          const connect = Effect.sync(() => {
            const choose = arrive?.()
            return client(() => choose?.() ?? assert.fail("no session"))
          })
          const outcome = yield* Effect.result(refuseTransactionPooling(connect))
          assert.strictEqual(outcome._tag === "Failure", refused)
          if (outcome._tag === "Failure") assert.match(outcome.failure.message, /^a pooler in transaction mode [^\n]+$/)
        })
      )
    )
  }

  it.live("is not looked for behind a connection of the server itself", () =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* createDatabase)
      let connections = 0
      const connect = Effect.suspend(() => {
        connections += 1
        return PgConnection.make({ url })
      })
      yield* refuseTransactionPooling(connect)
      assert.strictEqual(connections, 1)
    })
  )
})
