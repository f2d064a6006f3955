import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { ArchiveStore, type ArchiveTarget } from "@runplane/archive"
import { describeSqlError, isOutage } from "@runplane/database"
import { draftEvent, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { type EventFilter, EventRepository, type StoredEvent } from "../../../src/event-log/EventRepository.ts"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { ArchiveCompaction } from "../../../src/features/archive/ArchiveCompaction.ts"
import { ArchiveOptions } from "../../../src/features/archive/ArchiveOptions.ts"
import { ArchiveState } from "../../../src/features/archive/ArchiveState.ts"
import { layerColdEvents } from "../../../src/features/archive/read/ColdEvents.ts"
import { ColdLog } from "../../../src/features/archive/read/ColdLog.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { emptied, openTarget, passInto, writing } from "./Archives.ts"

const service = layerTestLog.pipe(Layer.provideMerge(layerTestDatabase))
const options = writing({ bounds: { rows: 7, bytes: 3_000_000 } })

/** A reader without anything in memory, as another process has it. */
const readBy = <A, E>(target: ArchiveTarget | undefined, read: Effect.Effect<A, E, EventRepository>) =>
  Effect.provide(read, Layer.fresh(layerColdEvents).pipe(Layer.provide(ColdLog.layerOf(target))))

const compact = (target: ArchiveTarget) =>
  Effect.provide(
    ArchiveCompaction.use(({ compact }) => compact),
    Layer.fresh(ArchiveCompaction.layer()).pipe(
      Layer.provide(Layer.fresh(ArchiveState.layer)),
      Layer.provide([Layer.succeed(ArchiveStore, target), Layer.succeed(ArchiveOptions, options)])
    )
  )

const event = (index: number, bytes: number) =>
  draftEvent(
    "message.received",
    {
      ts: "1969-12-01T00:00:00.000Z",
      subject: { kind: "message", id: `m${index}` },
      source: { kind: "runtime", name: "r" }
    },
    { messageId: `m${index}`, messageType: "Signal", sender: "a", decodedPayload: { text: "x".repeat(bytes) } }
  )

/**
 * Two ended runs of 40 events each, which take turns in the log, over three days. Some events are larger than a read.
 */
const twoRuns = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const log = yield* EventLog
  const runs = [yield* createRun(), yield* createRun()]
  for (let index = 0; index < 39; index++) {
    const bytes = index % 13 === 5 ? 1_500_000 : 100
    for (const runId of runs) yield* log.record({ runId, events: [event(index, bytes)] })
  }
  for (const runId of runs) yield* endRun(runId)
  yield* sql`
    UPDATE canonical_events e SET ts = '1969-12-01T00:00:00Z'::timestamptz + (index / 15) * interval '1 day'`
  return runs
})

const expire = Effect.fnUntraced(function* (runs: ReadonlyArray<RunId>) {
  const administration = yield* RunAdministration
  yield* administration.remove(runs, { reason: "expired", by: "retention", at: "1969-12-20T00:00:00.000Z" })
})

/** All events of a run behind a position, read in parts of these bounds. */
const walked = Effect.fnUntraced(function* (
  runId: RunId,
  between: { readonly afterSeq: number; readonly upToSeq?: number },
  limit: number,
  mostBytes: number
) {
  const events = yield* EventRepository
  const found: Array<StoredEvent> = []
  let { afterSeq } = between
  while (true) {
    const slice = yield* events.slice(runId, { ...between, afterSeq }, limit, mostBytes)
    assert.isAtMost(slice.events.length, limit)
    found.push(...slice.events)
    afterSeq = slice.events.at(-1)?.seq ?? afterSeq
    if (slice.isLast) return found
    assert.isAbove(slice.events.length, 0)
  }
})

const filtersFrom = (afterSeq: number): ReadonlyArray<EventFilter> => [
  { afterSeq, types: [] },
  { afterSeq, types: ["run.created", "run.cancelled"] },
  { afterSeq, types: ["unknown"], afterTs: "1969-12-02T00:00:00.000Z" },
  { afterSeq, types: [], afterTs: "1969-12-02T00:00:00.000Z", beforeTs: "1969-12-03T00:00:00.000Z" }
]

/** Reads from many positions, with several bounds. */
const manyReads = Effect.fnUntraced(function* (runId: RunId, seqs: ReadonlyArray<number>) {
  const events = yield* EventRepository
  const found: Array<unknown> = []
  for (const afterSeq of [0, ...seqs.filter((_, position) => position % 31 === 4), seqs.at(-1) ?? 0]) {
    found.push(yield* walked(runId, { afterSeq }, 3, 1_000), yield* walked(runId, { afterSeq }, 500, 4 * 1024 * 1024))
    found.push(yield* walked(runId, { afterSeq, upToSeq: afterSeq + 21 }, 500, 4 * 1024 * 1024))
    const salted = yield* events.salted(runId, afterSeq, 7)
    assert.isTrue(salted.events.every(({ salts }) => salts !== undefined))
    found.push(salted.events)
    for (const filter of filtersFrom(afterSeq)) {
      const page = yield* events.page(runId, filter, 4)
      const text = yield* events.text(runId, filter, 4)
      assert.strictEqual(text.text, page.events.map(({ json }) => json).join(","))
      assert.strictEqual(page.isCut, text.isCut)
      if (!page.isCut) found.push(page)
      found.push(yield* events.count(runId, filter))
    }
  }
  const head = yield* events.head(runId)
  return [...found, head?.lastSeq, head?.lastIndex, yield* events.firstSeq(runId)]
})

layer(service)("the log of a run that has left the database", (it) => {
  it.effect("is read from files as from the database, at each position, before and after compaction", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* emptied
      const target = yield* openTarget
      const runs = yield* twoRuns
      const rows = yield* sql<{ readonly seq: bigint }>`SELECT seq FROM canonical_events ORDER BY seq`
      const seqs = rows.map(({ seq }) => Number(seq))
      yield* passInto(target, options)
      const reads = Effect.forEach(runs, (runId) => manyReads(runId, seqs))
      const stored = yield* readBy(undefined, reads)
      yield* expire(runs)
      assert.deepStrictEqual(yield* readBy(target, reads), stored)
      const { files } = yield* compact(target)
      assert.isAbove(files, 0)
      assert.deepStrictEqual(yield* readBy(target, reads), stored)
    })
  )

  it.effect("is read again when compaction replaces a file meanwhile, and never has a gap", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const [runId, other] = yield* twoRuns
      assert(runId !== undefined && other !== undefined)
      yield* passInto(target, options)
      const stored = yield* readBy(undefined, walked(runId, { afterSeq: 0 }, 500, 4 * 1024 * 1024))
      yield* expire([runId, other])
      let isCompacted = false
      const compacting: ArchiveTarget = {
        ...target,
        size: (path) =>
          Effect.suspend(() => {
            if (isCompacted) return target.size(path)
            isCompacted = true
            return Effect.andThen(Effect.orDie(compact(target)), target.size(path))
          }).pipe(Effect.provide(services))
      }
      const services = yield* Effect.context<PgClient.PgClient>()
      assert.deepStrictEqual(yield* readBy(compacting, walked(runId, { afterSeq: 0 }, 500, 4 * 1024 * 1024)), stored)
      assert.isTrue(isCompacted)
    })
  )

  it.effect("opens the files of its own range alone", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const before = yield* twoRuns
      yield* passInto(target, options)
      const earlier = new Set(yield* target.list("events/"))
      const [runId, other] = yield* twoRuns
      assert(runId !== undefined && other !== undefined)
      yield* passInto(target, options)
      yield* twoRuns
      yield* passInto(target, options)
      yield* expire([...before, runId, other])
      const opened: Array<string> = []
      const counting: ArchiveTarget = {
        ...target,
        size: (path) =>
          Effect.andThen(
            Effect.sync(() => void opened.push(path)),
            target.size(path)
          )
      }
      assert.lengthOf(yield* readBy(counting, walked(runId, { afterSeq: 0 }, 500, 4 * 1024 * 1024)), 41)
      assert.isAbove(opened.length, 1)
      assert.isFalse(opened.some((path) => earlier.has(path)))
    })
  )

  it.effect("fails when a file is gone, and without an archive, and for a damaged file", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const [runId] = yield* twoRuns
      assert(runId !== undefined)
      yield* passInto(target, options)
      yield* expire([runId])
      const read = Effect.flip(walked(runId, { afterSeq: 0 }, 500, 4 * 1024 * 1024))
      assert.isTrue(isOutage(yield* readBy(undefined, read)))
      const [, second = ""] = yield* target.list("events/")
      const size = yield* target.size(second)
      const bytes = (yield* target.read(second, 0, size)).slice()
      const damaged = bytes.slice()
      damaged.fill(0, 8, Math.floor(size / 2))
      yield* target.put(second, damaged)
      const fault = yield* readBy(target, read)
      assert.isFalse(isOutage(fault))
      assert.include(describeSqlError(fault), second)
      yield* target.remove(second)
      assert.isTrue(isOutage(yield* readBy(target, read)))
      yield* target.put(second, bytes)
      assert.lengthOf(yield* readBy(target, walked(runId, { afterSeq: 0 }, 500, 4 * 1024 * 1024)), 41)
    })
  )
})
