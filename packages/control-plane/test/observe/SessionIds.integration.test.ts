import { randomBytes } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import { isObservableSessionId } from "../../src/observe/SessionIds.ts"
import { awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

// Random, because PostgreSQL compresses what it can before it measures an index entry.
const LONGEST = randomBytes(384).toString("base64url")
const unobservable = {
  "longer than a run's may be": randomBytes(390).toString("base64url"),
  "longer than an index entry": randomBytes(3_000).toString("base64url"),
  "that PostgreSQL cannot hold": `session-${"\u0000"}-of-an-odd-runtime`,
  "that is empty": ""
}

const discovered = Effect.fnUntraced(function* (sessionId: string) {
  const sql = yield* PgClient.PgClient
  const found = sql<{ readonly id: string }>`SELECT id::text AS id FROM runs WHERE runtime_session_id = ${sessionId}`
  const [row] = yield* Effect.repeat(found, { until: (rows) => rows.length > 0 })
  assert.isDefined(row)
  return RunId.make(row.id)
})

describe("the id of a session", () => {
  it("may be a run's when it fits a unique key", () => {
    assert.isTrue(isObservableSessionId(LONGEST))
    assert.isTrue(isObservableSessionId("🜁".repeat(256)))
    assert.isTrue(isObservableSessionId("of a runtime that is not strict"))
    for (const id of Object.values(unobservable)) assert.isFalse(isObservableSessionId(id))
  })

  it.live("that cannot be a run's is refused with one line, and the watch continues", () =>
    Effect.gen(function* () {
      const refusals = yield* Queue.unbounded<string>()
      const logger = Logger.make(({ message }) => {
        const text = [message].flat().join(" ")
        if (/not observed|could not/.test(text)) Queue.offerUnsafe(refusals, text)
      })
      const observing = layerTestObservation({ discoveryGraceMs: 0, watchReconnectMs: 1 }).pipe(
        Layer.provide(Logger.layer([logger]))
      )
      yield* Effect.gen(function* () {
        const { accept, awaitCalls, awaitOpenStreams, cut, openSession } = yield* RuntimeFake
        yield* awaitOpenStreams("WatchSessions", 1)
        for (const sessionId of Object.values(unobservable)) yield* openSession({ sessionId, initiator: "a\u0000b" })
        yield* openSession({ sessionId: LONGEST, participants: ["agent://\u0000"], initiator: "agent://\u0000" })
        yield* accept(LONGEST, { messageType: "SessionStart" })
        yield* awaitStatus(yield* discovered(LONGEST), "running")
        // The next watch reports every session again.
        yield* cut("WatchSessions")
        yield* awaitCalls("WatchSessions", 2)
        yield* openSession({ sessionId: "one-more-session" })
        yield* awaitStatus(yield* discovered("one-more-session"), "running")
      }).pipe(Effect.provide(observing))
      const lines = yield* Queue.clear(refusals)
      assert.lengthOf(lines, Object.keys(unobservable).length, lines.join("\n"))
      for (const line of lines) assert.match(line, /^session ".*" (and \d+ characters more )?is not observed: /)
      assert.isBelow(Math.max(...lines.map((line) => line.length)), 250)
    }).pipe(Effect.provide(layerTestDatabase), Effect.scoped)
  )
})
