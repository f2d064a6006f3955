import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { type RunId, runStarted } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { AppendError, Appended } from "../../src/event-log/append/AppendRequest.ts"
import { InsertEvents } from "../../src/event-log/append/InsertEvents.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { LiveEvents } from "../../src/event-log/subscribe/LiveEvents.ts"
import { messageDraft } from "../support/Appends.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun } from "../support/Runs.ts"
import { type Judge, saysCommitted } from "./support/CuttingProxy.ts"
import { FaultyLine, layerFaultyLog, vote } from "./support/FaultyLog.ts"

type Append = (log: EventLog["Service"], runId: RunId) => Effect.Effect<Appended, AppendError>

const start: Append = (log, runId) =>
  log.change({
    runId,
    to: "starting",
    events: (run, ts) => [runStarted({ ...run, runId: run.id, startedAt: ts, ts })]
  })

/** All requests to the log, each of which would do harm when it is done twice. */
const appends: Readonly<Record<string, Append>> = {
  "events of our own": (log, runId) => log.record({ runId, events: [messageDraft(1)] }),
  "frames with a cursor": (log, runId) => log.observe({ runId, cursor: 0, frames: [vote(runId, 1), vote(runId, 2)] }),
  "ambient signals": (log, runId) => log.observe({ runId, frames: [vote(runId, 1, true), vote(runId, 2, true)] }),
  "a change of status": start
}

/** Breaks the connection once the COMMIT of the append that writes this text, sent along with it, has gone on. */
const duringCommitOf = (text: string): Judge => {
  let done = false
  return (from, piece) => {
    if (done || from !== "client" || !piece.includes(text)) return "pass"
    done = true
    return "cut-after"
  }
}

/** A trigger on the log for the length of a test; `body` is PL/pgSQL. */
const trigger = Effect.fnUntraced(function* (body: string, kind = "TRIGGER", timing = "") {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE SEQUENCE fired`
  yield* sql.unsafe(`CREATE FUNCTION on_purpose() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN ${body} RETURN NULL; END $$`).unprepared
  yield* Effect.acquireRelease(
    sql.unsafe(`CREATE ${kind} on_purpose AFTER INSERT ON canonical_events ${timing} EXECUTE FUNCTION on_purpose()`)
      .unprepared,
    () => Effect.orDie(Effect.andThen(sql`DROP FUNCTION on_purpose CASCADE`, sql`DROP SEQUENCE fired`))
  )
})

layer(layerFaultyLog, { excludeTestServices: true })("a COMMIT whose answer is lost", (it) => {
  for (const [what, append] of Object.entries(appends)) {
    it.effect(`stores ${what} once, returns that, and notifies the subscribers`, () =>
      Effect.gen(function* () {
        const line = yield* FaultyLine
        const log = yield* EventLog
        const runId = yield* createRun()
        const subscription = yield* (yield* LiveEvents).subscribe(runId)
        const before = line.cuts()
        line.cutOnce(saysCommitted, "cut-before")
        const appended = yield* append(log, runId)
        assert.strictEqual(line.cuts(), before + 1)
        const { decoded } = yield* assertLogIsExact(runId)
        assert.strictEqual(decoded.length, 1 + appended.events.length)
        assert.isAbove(appended.events.length, 0)
        const received = yield* subscription.take
        assert.strictEqual(received._tag === "Batch" ? received.lastSeq : 0, decoded.at(-1)?.seq)
        // The log goes on from what was committed.
        yield* log.observe({ runId, cursor: appended.cursor, frames: [vote(runId, 9)] })
        yield* assertLogIsExact(runId)
      })
    )
  }

  it.effect("creates a run once, for the caller who asked", () =>
    Effect.gen(function* () {
      const line = yield* FaultyLine
      const before = line.cuts()
      line.cutOnce(saysCommitted, "cut-before")
      const { decoded } = yield* assertLogIsExact(yield* createRun())
      assert.strictEqual(line.cuts(), before + 1)
      assert.deepStrictEqual(
        decoded.map(({ type }) => type),
        ["run.created"]
      )
    })
  )

  it.effect("is waited for while the server is still at it", () =>
    Effect.gen(function* () {
      const line = yield* FaultyLine
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* trigger("PERFORM pg_sleep(0.5);", "CONSTRAINT TRIGGER", "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW")
      const before = line.cuts()
      line.judge(duringCommitOf("a slow one"))
      const appended = yield* log.record({ runId, events: [messageDraft(1, undefined, "a slow one")] })
      assert.strictEqual(line.cuts(), before + 1)
      const { decoded } = yield* assertLogIsExact(runId)
      assert.deepStrictEqual([decoded.length, decoded.at(-1)?.seq], [2, appended.lastSeq])
    })
  )
})

layer(layerFaultyLog, { excludeTestServices: true })("the fate of a transaction", (it) => {
  it.effect("is known while it is open and after it has ended", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { transactionStatus } = yield* InsertEvents
      const open = Effect.gen(function* () {
        const [row] = yield* sql<{ readonly id: string }>`SELECT pg_current_xact_id()::text AS id`
        const id = row?.id ?? assert.fail()
        assert.strictEqual(yield* transactionStatus(id), "in progress")
        return id
      })
      assert.strictEqual(yield* transactionStatus(yield* sql.withTransaction(open)), "committed")
    }).pipe(Effect.provide(InsertEvents.layer))
  )

  it.effect("is not waited for when the server has crashed and forgotten its id", () =>
    Effect.gen(function* () {
      const { transactionStatus } = yield* InsertEvents
      assert.isUndefined(yield* transactionStatus("9000000000000000"))
    }).pipe(Effect.provide(InsertEvents.layer))
  )
})

layer(layerFaultyLog, { excludeTestServices: true })("a transaction that fails", (it) => {
  it.effect("is made again when its connection broke before the COMMIT, and no caller notices", () =>
    Effect.gen(function* () {
      const line = yield* FaultyLine
      const log = yield* EventLog
      const runId = yield* createRun()
      const before = line.cuts()
      line.cutOnce((from, piece) => from === "server" && piece.includes("SELECT 1\0"), "cut-before")
      const appended = yield* log.record({ runId, events: [messageDraft(1)] })
      assert.strictEqual(line.cuts(), before + 1)
      const { decoded } = yield* assertLogIsExact(runId)
      assert.deepStrictEqual([decoded.length, decoded.at(-1)?.seq], [2, appended.lastSeq])
    })
  )

  for (const [name, code] of [
    ["a serialization failure", "40001"],
    ["a deadlock", "40P01"],
    ["a lock that is unavailable", "55P03"]
  ] as const) {
    it.effect(`is made again after ${name}, with all requests that shared it`, () =>
      Effect.gen(function* () {
        const log = yield* EventLog
        const runs = yield* Effect.forEach([1, 2, 3], () => createRun())
        yield* trigger(`IF nextval('fired') <= 2 THEN RAISE EXCEPTION 'on purpose' USING ERRCODE = '${code}'; END IF;`)
        const append = (runId: RunId) => log.record({ runId, events: [messageDraft(1)] })
        yield* Effect.forEach(runs, append, { concurrency: "unbounded" })
        for (const runId of runs) assert.strictEqual((yield* assertLogIsExact(runId)).decoded.length, 2)
      })
    )
  }

  it.effect("fails its caller when it loses again and again, and stores nothing", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* trigger("RAISE EXCEPTION 'on purpose' USING ERRCODE = '40001';")
      const failed = yield* Effect.flip(log.record({ runId, events: [messageDraft(1)] }))
      assert.strictEqual(failed._tag, "AppendFailed")
      assert.include(failed.message, "on purpose")
      assert.strictEqual((yield* assertLogIsExact(runId)).decoded.length, 1)
    })
  )
})
