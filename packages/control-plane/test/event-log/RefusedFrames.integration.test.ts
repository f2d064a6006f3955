import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type { ObservedFrame } from "../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { messageDraft } from "../support/Appends.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const POISON = "poisonous payload"

const message = (runId: RunId, number: number, text = "harmless", ambient = false): ObservedFrame =>
  observed(
    {
      kind: "stream-envelope",
      ambient,
      envelope: {
        macpVersion: "1.0",
        mode: "macp.mode.decision.v1",
        messageType: "Contribute",
        messageId: `m${number}`,
        sessionId: runId,
        sender: "agent://a",
        timestampUnixMs: 1,
        payload: new TextEncoder().encode(JSON.stringify({ text }))
      }
    },
    "2026-07-01T10:00:01.000Z"
  )

/** The database refuses whatever says so. */
const refusePoison = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN
      IF NEW.event::text LIKE '%${POISON}%' THEN RAISE EXCEPTION 'refused on purpose' USING ERRCODE = '22P05'; END IF;
      RETURN NEW;
    END $$`).unprepared
  yield* sql.unsafe(`CREATE OR REPLACE TRIGGER refuse_poison BEFORE INSERT ON canonical_events
    FOR EACH ROW EXECUTE FUNCTION refuse_poison()`).unprepared
})

/** Runs the effect and answers the lines of its errors. */
const errorsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") lines.push([message].flat().join(" "))
  })
  return { value: yield* Effect.provide(effect, Logger.layer([logger])), lines }
})

const messagesOf = Effect.fnUntraced(function* (runId: RunId) {
  const { decoded, head } = yield* assertLogIsExact(runId)
  const messages = decoded.flatMap(({ recorded, type }) => (type === "message.received" ? [recorded.data] : []))
  return { decoded, cursor: Number(head?.stream_cursor), messages }
})

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })(
  "a frame that the database refuses",
  (it) => {
    it.effect("is replaced by a note, and the frames around it are stored whole and in order", () =>
      Effect.gen(function* () {
        yield* refusePoison
        const log = yield* EventLog
        const runId = yield* createRun()
        const frames = Array.from({ length: 9 }, (_, position) =>
          message(runId, position + 1, position === 5 ? POISON : `text ${position + 1}`)
        )
        const appended = yield* log.observe({ runId, cursor: 0, frames })
        assert.strictEqual(appended.cursor, 9)
        const { cursor, decoded, messages } = yield* messagesOf(runId)
        assert.strictEqual(cursor, 9)
        assert.deepStrictEqual(
          messages.map(({ messageId }) => messageId),
          frames.map((_, position) => `m${position + 1}`)
        )
        assert.deepStrictEqual(messages[4]?.["payload"], { text: "text 5" })
        assert.deepInclude(messages[5]?.["payload"], { unstorable: "refused on purpose" })
        const gaps = decoded.flatMap(({ recorded, type }) => (type === "session.stream.opened" ? [recorded.data] : []))
        assert.deepStrictEqual(
          gaps.map(({ detail, status }) => [status, detail]),
          [["gap", "not stored: refused on purpose"]]
        )
        // Subscribers receive all of it as one append.
        assert.strictEqual(appended.events.length, decoded.length - 1)
        // Delivered again it is known again.
        const again = yield* log.observe({ runId, cursor: 9, frames: frames.slice(4) })
        assert.deepStrictEqual([again.cursor, again.events.length], [9, 0])
      })
    )

    it.effect("is found in an append that is written in parts, in the first of them and in the last", () =>
      Effect.gen(function* () {
        yield* refusePoison
        const log = yield* EventLog
        for (const bad of [3, 900]) {
          const runId = yield* createRun()
          const frames = Array.from({ length: 900 }, (_, position) =>
            message(runId, position + 1, position + 1 === bad ? POISON : "text")
          )
          const appended = yield* log.observe({ runId, cursor: 0, frames })
          assert.strictEqual(appended.cursor, 900)
          // The word of the first failure, not of the statements that an aborted transaction refuses after it.
          assert.deepStrictEqual(appended.refusals, ["refused on purpose"])
          const { messages } = yield* messagesOf(runId)
          assert.deepStrictEqual(
            messages.map(({ messageId }) => messageId),
            frames.map((_, position) => `m${position + 1}`)
          )
          assert.deepInclude(messages[bad - 1]?.["payload"], { unstorable: "refused on purpose" })
        }
      })
    )

    it.effect("costs no request that shared its transaction anything", () =>
      Effect.gen(function* () {
        yield* refusePoison
        const log = yield* EventLog
        const poisoned = yield* createRun()
        const innocents = yield* Effect.forEach(Array.from({ length: 12 }), () => createRun())
        const outcomes = yield* Effect.all(
          [
            log.observe({ runId: poisoned, cursor: 0, frames: [message(poisoned, 1), message(poisoned, 2, POISON)] }),
            ...innocents.map((runId) => log.record({ runId, events: [messageDraft(1)] }))
          ].map(Effect.result),
          { concurrency: "unbounded" }
        )
        assert.isTrue(outcomes.every(({ _tag }) => _tag === "Success"))
        for (const runId of innocents) assert.strictEqual((yield* assertLogIsExact(runId)).decoded.length, 2)
        assert.strictEqual((yield* messagesOf(poisoned)).cursor, 2)
      })
    )

    it.effect("fails only for its sender when it is an event of our own, and is not an outage", () =>
      Effect.gen(function* () {
        yield* refusePoison
        const log = yield* EventLog
        const [bad, good] = [yield* createRun(), yield* createRun()]
        const record = (runId: RunId, text: string) =>
          Effect.result(log.record({ runId, events: [messageDraft(1, undefined, text)] }))
        const [refused, stored] = yield* Effect.all([record(bad, POISON), record(good, "harmless")], {
          concurrency: "unbounded"
        })
        assert.isTrue(refused._tag === "Failure" && refused.failure._tag === "AppendFailed" && !refused.failure.outage)
        assert.strictEqual(stored._tag, "Success")
      })
    )

    it.effect("leaves no gap in a history when it is a signal", () =>
      Effect.gen(function* () {
        yield* refusePoison
        const log = yield* EventLog
        const runId = yield* createRun()
        yield* log.observe({ runId, frames: [message(runId, 1, POISON, true), message(runId, 2, "harmless", true)] })
        const { decoded, messages } = yield* messagesOf(runId)
        assert.strictEqual(messages.length, 2)
        assert.isFalse(decoded.some(({ type }) => type === "session.stream.opened"))
      })
    )
  }
)

layer(layerTestDatabase, { excludeTestServices: true })("the log of the service", (it) => {
  it.effect("says once why the database refused it, and never the payload", () =>
    Effect.gen(function* () {
      yield* refusePoison
      const { lines } = yield* errorsOf(
        Effect.gen(function* () {
          const log = yield* EventLog
          const runId = yield* createRun()
          const frames = Array.from({ length: 6 }, (_, position) =>
            message(runId, position, position === 3 ? POISON : "text")
          )
          yield* log.observe({ runId, cursor: 0, frames })
        }).pipe(Effect.provide(Layer.fresh(layerTestLog)))
      )
      assert.deepStrictEqual(lines, ["the database refused a frame: refused on purpose"])
    })
  )
})
