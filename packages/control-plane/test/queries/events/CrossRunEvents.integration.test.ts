import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { PipelinedTransactions } from "@runplane/database"
import { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { InsertEvents, noEventRows } from "../../../src/event-log/append/InsertEvents.ts"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { Watermark } from "../../../src/event-log/subscribe/Watermark.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { CrossRunEventBlocks } from "../../../src/queries/events/CrossRunEventBlocks.ts"
import { CrossRunEvents, type CrossRunFilter } from "../../../src/queries/events/CrossRunEvents.ts"
import { messageDraft } from "../../support/Appends.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { aDeletion, createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const layerReads = CrossRunEvents.layer.pipe(
  Layer.provideMerge(CrossRunEventBlocks.layer),
  Layer.provideMerge(layerTestLog),
  Layer.provideMerge(layerTestDatabase)
)

const everything: CrossRunFilter = { afterSeq: 0, types: [] }

const storedSeqs = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly seq: bigint }>`SELECT seq FROM canonical_events ORDER BY seq`
  return rows.map((row) => Number(row.seq))
})

/** Reads pages until they have this many events; an open append may delay a page. */
const pageUntil = Effect.fnUntraced(function* (count: number, limit: number, filter: CrossRunFilter = everything) {
  const events = yield* CrossRunEvents
  const seqs: Array<number> = []
  while (seqs.length < count) {
    const { events: page } = yield* events.page({ ...filter, afterSeq: seqs.at(-1) ?? filter.afterSeq }, limit)
    seqs.push(...page.map((event) => event.seq))
  }
  return seqs
})

layer(layerReads, { excludeTestServices: true })("reads across runs", (it) => {
  it.effect("stop before a transaction that has its seqs and has not committed", () =>
    Effect.gen(function* () {
      const { within } = yield* PipelinedTransactions
      const rows = yield* InsertEvents
      const log = yield* EventLog
      const slow = yield* createRun()
      const fast = yield* createRun()
      const before = yield* pageUntil(2, 10)
      const allocated = yield* Deferred.make<number>()
      const release = yield* Deferred.make<void>()

      // An append with a pause after the allocation of its seqs.
      const writer = within(() =>
        Effect.gen(function* () {
          const [seq = 0] = (yield* rows.open({ runIds: [slow], messages: [], count: 1 })).seqs
          yield* Deferred.succeed(allocated, seq)
          yield* Deferred.await(release)
          const batch = noEventRows()
          batch.events.push({
            seq,
            run_id: slow,
            index: 2,
            ts: "2026-07-01T10:00:00.000Z",
            type: "message.received",
            event: "{}",
            seed: null
          })
          yield* rows.writeEvents(batch)
        })
      )
      const writing = yield* Effect.forkChild(writer)
      const lower = yield* Deferred.await(allocated)
      const { lastSeq: higher } = yield* log.record({ runId: fast, events: [messageDraft(1)] })
      assert.isAbove(higher, lower)
      assert.include(yield* storedSeqs, higher)

      const events = yield* CrossRunEvents
      const cursor = before.at(-1) ?? 0
      for (const filter of [
        everything,
        { ...everything, types: ["message.received"] },
        { ...everything, afterTs: "2026-01-01T00:00:00.000Z" }
      ]) {
        assert.deepStrictEqual((yield* events.page({ ...filter, afterSeq: cursor }, 10)).events, [])
      }
      // The reads of one run do not wait, because its appends follow each other.
      assert.lengthOf((yield* events.page({ ...everything, runId: fast, afterSeq: cursor }, 10)).events, 1)

      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(writing)
      assert.deepStrictEqual(yield* pageUntil(2, 10, { ...everything, afterSeq: cursor }), [lower, higher])
    }).pipe(Effect.provide(InsertEvents.layer))
  )

  it.effect("do not wait for transactions of another database, or without an append", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const events = yield* CrossRunEvents
      const runId = yield* createRun()
      /** An open transaction with a write. */
      const writing = (allocated: Deferred.Deferred<void>) =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const insert = sql`
            INSERT INTO audit_log (actor, actor_type, action, resource, details, created_at)
            VALUES ('a', 't', 'x', 'r', '{}', now())`
          yield* sql.withTransaction(
            Effect.andThen(insert, Effect.andThen(Deferred.succeed(allocated, undefined), Effect.never))
          )
        })
      for (const there of [Layer.empty, Layer.fresh(layerTestDatabase)]) {
        const allocated = yield* Deferred.make<void>()
        const open = yield* Effect.forkChild(Effect.provide(writing(allocated), there))
        yield* Deferred.await(allocated)
        const { lastSeq } = yield* log.record({ runId, events: [messageDraft(1)] })
        const { events: page } = yield* events.page({ ...everything, afterSeq: lastSeq - 1 }, 10)
        assert.deepStrictEqual(
          page.map(({ seq }) => seq),
          [lastSeq]
        )
        yield* Fiber.interrupt(open)
      }
    })
  )

  it.effect("continue when the server ends an append that has its seqs", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { within } = yield* PipelinedTransactions
      const rows = yield* InsertEvents
      const log = yield* EventLog
      const frozen = yield* createRun()
      const other = yield* createRun()
      const allocated = yield* Deferred.make<void>()
      const writing = yield* Effect.forkChild(
        Effect.exit(
          within(() =>
            Effect.gen(function* () {
              yield* sql`SET LOCAL idle_in_transaction_session_timeout = '300ms'`.unprepared
              yield* rows.open({ runIds: [frozen], messages: [], count: 1 })
              yield* Deferred.succeed(allocated, undefined)
              yield* Effect.never
            })
          )
        )
      )
      yield* Deferred.await(allocated)
      const { lastSeq } = yield* log.record({ runId: other, events: [messageDraft(1)] })
      assert.deepStrictEqual(yield* pageUntil(1, 10, { ...everything, afterSeq: lastSeq - 1 }), [lastSeq])
      yield* Fiber.interrupt(writing)
    }).pipe(Effect.provide(InsertEvents.layer))
  )

  it.effect("skip and repeat no event while two processes append, keep transactions open and roll some back", () =>
    Effect.gen(function* () {
      const { config } = yield* PgClient.PgClient
      const start = (yield* storedSeqs).at(-1) ?? 0
      const appends = 25
      // Each writer has its own log, half of them their own pool, and each append stays open for a while.
      const writer = Effect.fnUntraced(function* (number: number) {
        const sql = yield* PgClient.PgClient
        const log = Context.get(yield* Layer.build(Layer.fresh(layerTestLog)), EventLog)
        const runId = yield* Effect.provideService(createRun(), EventLog, log)
        for (let append = 0; append < appends; append++) {
          const pause = ((number * 7 + append * 3) % 10) / 1000
          const lost = (number + append) % 5 === 0
          const also = () => Effect.asVoid(sql`SELECT pg_sleep(${pause}::float8), 1 / ${lost ? 0 : 1}::int`)
          const events = Array.from({ length: 1 + ((number + append) % 4) }, (_, number) => messageDraft(number))
          const exit = yield* Effect.exit(log.record({ runId, events, also }))
          assert.strictEqual(Exit.isFailure(exit), lost)
        }
        return runId
      })
      const last = yield* Deferred.make<number>()
      const reader = Effect.fnUntraced(function* (limit: number, filter: Partial<CrossRunFilter>) {
        const events = yield* CrossRunEvents
        const seqs: Array<number> = []
        while (
          seqs.length === 0 ||
          !(yield* Deferred.isDone(last)) ||
          (seqs.at(-1) ?? 0) < (yield* Deferred.await(last))
        ) {
          const { events: page } = yield* events.page(
            { ...everything, ...filter, afterSeq: seqs.at(-1) ?? start },
            limit
          )
          seqs.push(...page.map((event) => event.seq))
        }
        return seqs
      })
      /** The watermarks that were read, and the stored seqs up to each of them. */
      const marks: Array<{ readonly mark: number; readonly seqs: ReadonlyArray<number> }> = []
      const readMarks = Effect.gen(function* () {
        const watermark = yield* Watermark
        while (!(yield* Deferred.isDone(last))) {
          const mark = yield* watermark.now
          marks.push({ mark, seqs: (yield* storedSeqs).filter((seq) => seq <= mark) })
        }
      })
      const readers = yield* Effect.forEach([1, 7, 500], (limit) => Effect.forkChild(reader(limit, {})))
      const ofMessages = yield* Effect.forkChild(
        reader(20, { afterTs: "2026-01-01T00:00:00.000Z", types: ["message.received"] })
      )
      const marking = yield* Effect.forkChild(readMarks)
      const secondPool = yield* Layer.build(
        Layer.fresh(layerDatabase({ url: Redacted.value(config.url ?? Redacted.make("")), maxConnections: 10 }))
      )
      const runs = yield* Effect.all(
        Array.from({ length: 8 }, (_, number) =>
          number % 2 === 0 ? writer(number) : Effect.provideContext(writer(number), secondPool)
        ),
        { concurrency: "unbounded" }
      )
      const stored = (yield* storedSeqs).filter((seq) => seq > start)
      yield* Deferred.succeed(last, stored.at(-1) ?? 0)
      for (const reading of readers) assert.deepStrictEqual(yield* Fiber.join(reading), stored)
      // The first event of each run has another type.
      assert.lengthOf(yield* Fiber.join(ofMessages), stored.length - 8)
      assert.strictEqual(new Set(runs).size, 8)
      yield* Fiber.join(marking)
      const all = yield* storedSeqs
      assert.isNotEmpty(marks)
      for (const { mark, seqs } of marks) {
        assert.deepStrictEqual(
          seqs,
          all.filter((seq) => seq <= mark)
        )
      }
    }).pipe(Effect.scoped)
  )
})

layer(layerReads, { excludeTestServices: true })("counts across runs", (it) => {
  /** Four runs over a range of seqs each, with a rare type and times in the order of the seqs. */
  const seeded = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const log = yield* EventLog
    const runs: Array<RunId> = []
    for (let block = 0; block < 4; block++) {
      if (block > 0) yield* sql`SELECT setval('event_seq', ${BigInt(block * 40_000 - 5)})`
      const runId = yield* createRun()
      runs.push(runId)
      yield* sql`UPDATE runs SET scenario_ref = ${`Loans/Check-${block % 2}`}, source_ref = ${`source-${block}`} WHERE id = ${runId}::uuid`
      for (let append = 0; append < 6; append++) {
        const ts = `2026-07-0${block + 1}T10:00:0${append}.000Z`
        const events = [messageDraft(1, ts), messageDraft(2, ts)]
        yield* log.record({ runId, events })
        if (block === 2 && append === 3) {
          yield* log.record({ runId, events: [messageDraft(3, ts, "", { type: "signal.emitted" })] })
        }
      }
    }
    return runs
  })

  const bruteForce = Effect.fnUntraced(function* (filter: CrossRunFilter) {
    const sql = yield* PgClient.PgClient
    const rows = yield* sql<{ readonly seq: bigint }>`
      SELECT e.seq FROM canonical_events e JOIN runs r ON r.id = e.run_id
      WHERE e.seq > ${BigInt(filter.afterSeq)} AND e.ts >= ${filter.afterTs ?? "-infinity"}::timestamptz
        AND e.ts < ${filter.beforeTs ?? "infinity"}::timestamptz
        AND (${filter.types.length === 0} OR e.type = ANY(${filter.types}::text[]))
        AND (${filter.runId === undefined} OR r.id = ${filter.runId ?? null}::uuid)
        AND (${filter.scenarioRef === undefined} OR r.source_ref = ${filter.scenarioRef ?? null}
             OR r.scenario_ref ILIKE '%' || ${filter.scenarioRef ?? null} || '%')
      ORDER BY e.seq`
    return rows.map((row) => Number(row.seq))
  })

  it.effect("are equal to a count of rows, for every filter, also after a deletion", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const events = yield* CrossRunEvents
      const upkeep = yield* RunAdministration
      const runs = yield* seeded
      const base: ReadonlyArray<Partial<CrossRunFilter>> = [
        {},
        { types: ["message.received"] },
        { types: ["signal.emitted"] },
        { types: ["signal.emitted", "run.created", "signal.emitted", "no.such"] },
        { afterTs: "2026-07-02T10:00:03.000Z" },
        { beforeTs: "2026-07-02T10:00:03.000Z" },
        { afterTs: "2026-07-02T10:00:03.000Z", beforeTs: "2026-07-04T10:00:00.000Z", types: ["message.received"] },
        { afterTs: "2027-01-01T00:00:00.000Z" },
        { beforeTs: "2020-01-01T00:00:00.000Z" },
        { scenarioRef: "check-1" },
        { scenarioRef: "source-2" },
        { scenarioRef: "loans", types: ["signal.emitted"] },
        { scenarioRef: "LOANS/", afterTs: "2026-07-03T10:00:01.000Z" },
        { scenarioRef: "no_such" },
        ...runs.map((runId) => ({ runId })),
        { runId: runs[2] ?? RunId.make(""), scenarioRef: "check-0", types: ["signal.emitted"] }
      ]
      const filters = base.flatMap((filter) =>
        [0, 3, 39_995, 40_000, 79_999, 120_003, 2_000_000].map((afterSeq) => ({ types: [], ...filter, afterSeq }))
      )
      const check = Effect.fnUntraced(function* () {
        for (const filter of filters) {
          const expected = yield* bruteForce(filter)
          const what = JSON.stringify(filter)
          assert.strictEqual(yield* events.count(filter), expected.length, what)
          assert.deepStrictEqual(yield* pageUntil(expected.length, 1_000, filter), expected, what)
          const { events: few } = yield* events.page(filter, 5)
          assert.deepStrictEqual(
            few.map((event) => event.seq),
            expected.slice(0, 5),
            what
          )
        }
      })
      const blocks = yield* CrossRunEventBlocks
      // Before, during and after the count of blocks: the rows of uncounted blocks are read.
      yield* check()
      yield* blocks.countClosed
      yield* check()
      const counted = Effect.map(
        sql<{ readonly level: number; readonly blocks: number; readonly events: number }>`
          SELECT level, count(*)::int AS blocks, sum(total)::int AS events FROM event_blocks GROUP BY 1 ORDER BY 1`,
        (rows) => rows.map(({ blocks, events, level }) => [level, blocks, events])
      )
      // Two runs and the beginning of the third are in closed blocks of the middle size, and three in small ones.
      const before = yield* counted
      assert.deepStrictEqual(
        before.map(([level, blocks]) => [level, blocks]),
        [
          [10, Math.floor(120_000 / 1_024)],
          [15, Math.floor(120_000 / 32_768)]
        ]
      )
      yield* sql.withTransaction(upkeep.remove(runs.slice(1, 2), aDeletion))
      assert.isBelow((yield* counted)[0]?.[1] ?? 0, before[0]?.[1] ?? 0)
      yield* check()
      yield* blocks.countClosed
      assert.deepStrictEqual(
        (yield* counted).map(([level, blocks]) => [level, blocks]),
        before.map(([level, blocks]) => [level, blocks])
      )
      yield* check()
    })
  )
})
