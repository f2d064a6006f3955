import * as PgClient from "@effect/sql-pg/PgClient"
import { ArchiveFault, type ArchiveTarget, openTable, readTable } from "@runplane/archive"
import {
  type ArchiveTable,
  type ColdEvent,
  type ColdMark,
  type ColdRun,
  isUuid,
  RunId,
  type RunStatus
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { makeByteCache } from "../../../event-log/projection/ByteCache.ts"
import { unread } from "../../../platform/ArchiveUnread.ts"
import { READ_BYTES } from "../../../platform/postgres/BoundedRows.ts"
import { archiveFromSettings } from "../ArchiveSettings.ts"

/** Files that are decoded at a time: each group of rows blocks the process for some milliseconds. */
const READS = 2
/** Bytes of decoded events, and of rows of runs, that stay in memory. */
const EVENT_CACHE_BYTES = 32 * 1024 * 1024
const RUN_CACHE_BYTES = 4 * 1024 * 1024
/** Times that a read begins again because compaction has replaced its files. */
const RETRIES = 3

/** Where the log of a run ends that has left the database, and what finds its rows. */
export interface ColdHead {
  readonly runId: RunId
  readonly status: RunStatus
  readonly firstSeq: number
  readonly lastSeq: number
  readonly lastIndex: number
  /** Version of its row. */
  readonly version: number
  /** The UTC day of its creation. */
  readonly day: string
}

/** An event of a file with what it is filtered by. */
export type FiledEvent = Pick<ColdEvent, "event" | "index" | "salts" | "seq" | "ts" | "type">

/** Consecutive events of a run: those that follow `after`, at least one. */
interface Segment {
  readonly runId: RunId
  readonly after: number
  readonly events: ReadonlyArray<FiledEvent>
}

/**
 * Runs that have left the database, from the files of the archive (docs/reference/archive.md#reading-runs). The records
 * of the database name the files, so no directory is listed. A run counts when retention has deleted it, the files have
 * all its events, and no caller has deleted it since.
 */
export class ColdLog extends Context.Service<
  ColdLog,
  {
    /** By run id or session id; undefined for every other run. Reads no file. */
    readonly head: (reference: string) => Effect.Effect<ColdHead | undefined, SqlError>
    /** Its row; fails when the store does not answer, or has another row. */
    readonly run: (head: ColdHead) => Effect.Effect<ColdRun, SqlError>
    /** The next events after a seq, in their order, without a gap, of about 4 MiB; empty only at the end. */
    readonly events: (head: ColdHead, afterSeq: number) => Effect.Effect<ReadonlyArray<FiledEvent>, SqlError>
    /** The current version of each of its marks, in the order of their positions. */
    readonly marks: (head: ColdHead) => Effect.Effect<ReadonlyArray<ColdMark>, SqlError>
  }
>()("runplane/control-plane/ColdLog") {
  /** Of a process without a target every read of a file fails. */
  static readonly layerOf = (target: ArchiveTarget | undefined) => Layer.effect(ColdLog, makeColdLog(target))

  /** By the ARCHIVE_* settings. */
  static readonly layer = Layer.unwrap(Effect.map(archiveFromSettings, (archive) => ColdLog.layerOf(archive?.target)))
}

const noTarget = new ArchiveFault({ kind: "failed", message: "ARCHIVE_URL is not set" })

const makeColdLog = (target: ArchiveTarget | undefined) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const turns = yield* Semaphore.make(READS)
    const segments = makeByteCache<string, Segment>(EVENT_CACHE_BYTES)
    const runs = makeByteCache<string, ColdRun>(RUN_CACHE_BYTES)

    const head = Effect.fn("ColdLog.head")((reference: string) =>
      Effect.map(
        sql<HeadRow>`
            SELECT a.run_id::text AS id, t.status, a.first_seq, a.last_seq, a.events, a.version, a.day
            FROM archive_runs a CROSS JOIN LATERAL (
              SELECT status, events, reason FROM run_tombstones WHERE run_id = a.run_id ORDER BY id DESC LIMIT 1
            ) AS t
            WHERE ${isUuid(reference) ? sql`a.run_id = ${reference}::uuid` : sql`a.session_id = ${reference}`}
              AND t.reason = 'expired' AND t.events = a.events
              AND NOT EXISTS (SELECT FROM runs r WHERE r.id = a.run_id)
            ORDER BY a.version DESC LIMIT 1`,
        ([row]) => row && toHead(row)
      )
    )

    /** Reads by the current records; again when compaction has replaced a file between the records and the read. */
    const reading = <A, R>(
      read: (target: ArchiveTarget) => Effect.Effect<A, ArchiveFault | SqlError, R>
    ): Effect.Effect<A, SqlError, R> =>
      Effect.suspend(() => (target === undefined ? Effect.fail(noTarget) : read(target))).pipe(
        turns.withPermits(1),
        Effect.retry({ times: RETRIES, while: (error) => error._tag === "ArchiveFault" && isOfOldFile(error) }),
        Effect.catchTag("ArchiveFault", (fault) => Effect.fail(unread(fault)))
      )

    const rowsOfDay = <Table extends ArchiveTable>(table: Table, { day, version }: ColdHead) =>
      sql<{ readonly path: string }>`
          SELECT path FROM archive_files
          WHERE table_name = ${table} AND day = ${day}
            ${table === "runs" ? sql`AND range_from <= ${BigInt(version)} AND range_to >= ${BigInt(version)}` : sql``}
          ORDER BY range_from`

    const run = Effect.fn("ColdLog.run")(function* (head: ColdHead) {
      const { runId, version } = head
      const key = `${runId} ${version}`
      const known = runs.get(key)
      if (known !== undefined) return known
      const found = yield* reading(
        Effect.fnUntraced(function* (target) {
          let row: ColdRun | undefined
          for (const { path } of yield* rowsOfDay("runs", head)) {
            yield* readTable(target, "runs", path, { runId }, (rows) =>
              Effect.sync(() => {
                row ??= rows.find((each) => each.version === version)
              })
            )
          }
          return row ?? (yield* lacks(`the row ${version} of run ${runId}`))
        })
      )
      runs.put(key, found, found.run.length + (found.metrics?.length ?? 0) + 1_000)
      return found
    })

    /**
     * The files that may have events of a run from a seq on. The time of its events never goes back, so days are in
     * order.
     */
    const eventFiles = ({ lastSeq }: ColdHead, from: number) => sql<{ readonly path: string }>`
        SELECT path FROM archive_files
        WHERE table_name = 'events' AND range_to >= ${BigInt(from)} AND range_from <= ${BigInt(lastSeq)}
        ORDER BY day, range_from`

    const readSegment = (head: ColdHead, afterSeq: number) =>
      reading(
        Effect.fnUntraced(function* (target) {
          const { lastSeq, runId } = head
          const from = Math.max(afterSeq + 1, head.firstSeq)
          const events: Array<FiledEvent> = []
          let bytes = 0
          for (const { path } of yield* eventFiles(head, from)) {
            const file = yield* openTable(target, "events", path)
            for (const [group, { seqs = [0, Number.MAX_SAFE_INTEGER] }] of file.groups.entries()) {
              if (seqs[1] < from || seqs[0] > lastSeq) continue
              for (const { event, index, salts, seq, ts, type } of yield* file.read(group, {
                runId,
                seqs: [from, lastSeq]
              })) {
                events.push({ event, index, salts, seq, ts, type })
                bytes += event.length
              }
              if (bytes >= READ_BYTES) return { events, bytes }
            }
            if (events.at(-1)?.seq === lastSeq) break
          }
          return { events, bytes }
        })
      )

    const events = Effect.fn("ColdLog.events")(function* (head: ColdHead, afterSeq: number) {
      const { lastIndex, lastSeq, runId } = head
      if (afterSeq >= lastSeq) return []
      for (const segment of segments.values()) {
        const last = segment.events.at(-1)?.seq ?? 0
        if (segment.runId === runId && segment.after <= afterSeq && afterSeq < last) {
          return segment.events.filter(({ seq }) => seq > afterSeq)
        }
      }
      const read = yield* readSegment(head, afterSeq)
      const fault = gapIn(read.events, { isFirst: afterSeq < head.firstSeq, lastIndex, lastSeq })
      if (fault !== undefined) return yield* unread(unreadable(`${fault} of run ${runId}`))
      segments.put(`${runId} ${afterSeq}`, { runId, after: afterSeq, events: read.events }, read.bytes)
      return read.events
    })

    const marks = Effect.fn("ColdLog.marks")((head: ColdHead) =>
      reading(
        Effect.fnUntraced(function* (target) {
          const newest = new Map<string, ColdMark>()
          for (const { path } of yield* rowsOfDay("marks", head)) {
            yield* readTable(target, "marks", path, { runId: head.runId }, (rows) =>
              Effect.sync(() => {
                for (const row of rows) {
                  if (row.version > (newest.get(row.mark_id)?.version ?? -1)) newest.set(row.mark_id, row)
                }
              })
            )
          }
          return [...newest.values()].toSorted((a, b) => a.position - b.position)
        })
      )
    )
    return ColdLog.of({ head, run, events, marks })
  })

interface HeadRow {
  readonly id: string
  readonly status: RunStatus
  readonly first_seq: bigint
  readonly last_seq: bigint
  readonly events: number
  readonly version: bigint
  readonly day: string
}

const toHead = (row: HeadRow): ColdHead => ({
  runId: RunId.make(row.id),
  status: row.status,
  firstSeq: Number(row.first_seq),
  lastSeq: Number(row.last_seq),
  lastIndex: row.events,
  version: Number(row.version),
  day: row.day
})

const isOfOldFile = ({ kind }: ArchiveFault) => kind === "missing" || kind === "unreadable"

const unreadable = (lacking: string) => new ArchiveFault({ kind: "unreadable", message: `its files lack ${lacking}` })
const lacks = (what: string) => Effect.fail(unreadable(what))

/** The first event that a segment lacks; undefined for one without a gap that reaches on. */
const gapIn = (
  events: ReadonlyArray<FiledEvent>,
  { isFirst, lastIndex, lastSeq }: { readonly isFirst: boolean; readonly lastIndex: number; readonly lastSeq: number }
): string | undefined => {
  const [first] = events
  if (first === undefined) return "the last events"
  if (isFirst && first.index !== 1) return "event 1"
  const gap = events.findIndex(({ index }, position) => index !== first.index + position)
  if (gap >= 0) return `event ${first.index + gap}`
  const last = events.at(-1)
  return last !== undefined && last.seq === lastSeq && last.index !== lastIndex ? `event ${lastIndex}` : undefined
}
