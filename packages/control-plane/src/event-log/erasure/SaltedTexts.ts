import * as PgClient from "@effect/sql-pg/PgClient"
import { type ErasureEntry, frameText, type MemberSalts, type RunId, storedSalts } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { readBounded } from "../../platform/postgres/BoundedRows.ts"
import { type SaltsRow, saltsColumn } from "../StoredSalts.ts"

/** Events or frames of one read; fewer when they are large. */
const PAGE = 500
/** Of a read of single ones, which are written again. */
const FEW = 50
/** Texts that are searched before other work of the process goes on. */
const SEARCHED_AT_ONCE = 16

const utf8 = new TextEncoder()

/** An event as it is stored, or a raw frame as `frameText` writes it, with its salts. */
export interface SaltedText {
  /** Of an event its seq, of a frame its number. */
  readonly seq: number
  /** Position in the run. */
  readonly index: number
  readonly bytes: Uint8Array
  readonly salts: MemberSalts
}

interface TextPage {
  readonly rows: ReadonlyArray<SaltedText>
  /** Whether it ends early, because its texts are large. */
  readonly isCut: boolean
}

interface EventRow extends SaltsRow {
  readonly seq: bigint
  readonly index: number
  readonly event: string
}

interface FrameRow extends SaltsRow {
  readonly seq: number
  readonly ts: Date
  readonly kind: string
  readonly source_name: string
  readonly payload: string
}

/** Reads of the events and raw frames of a run with their salts, a page at a time, in their order. */
export const makeSaltedTexts = Effect.map(PgClient.PgClient, (sql) => {
  const readEvents = (seqs: Fragment) =>
    Effect.map(
      readBounded<EventRow>(sql, {
        keys: sql`ARRAY(${seqs})`,
        from: sql`canonical_events AS e`,
        isOf: (seq) => sql`e.seq = ${seq}`,
        columns: sql`e.seq, e.index, e.event::text AS event, ${saltsColumn(sql, "e")}`,
        large: ["e.event"]
      }),
      ({ isCut, rows }) => ({ isCut, rows: rows.map(toEvent) })
    )

  const readFrames = (runId: RunId, numbers: Fragment) =>
    Effect.map(
      readBounded<FrameRow>(sql, {
        keys: sql`ARRAY(${numbers})`,
        from: sql`raw_events AS f`,
        isOf: (seq) => sql`f.run_id = ${runId}::uuid AND f.seq = ${seq}`,
        columns: sql`f.seq, f.ts, f.kind, f.source_name, f.payload::text AS payload, ${saltsColumn(sql, "f")}`,
        large: ["f.payload"]
      }),
      ({ isCut, rows }) => ({ isCut, rows: rows.map(toFrame) })
    )

  /** Takes each row of pages, in their order. */
  const each = Effect.fnUntraced(function* (
    read: (after: number) => Effect.Effect<TextPage, SqlError>,
    take: (row: SaltedText) => void
  ) {
    let after = 0
    while (true) {
      const page: TextPage = yield* read(after)
      for (const [at, row] of page.rows.entries()) {
        take(row)
        if (at % SEARCHED_AT_ONCE === SEARCHED_AT_ONCE - 1) yield* Effect.yieldNow
      }
      const last = page.rows.at(-1)
      if (last === undefined || (!page.isCut && page.rows.length < PAGE)) return
      after = last.seq
    }
  })

  const eachEvent = (runId: RunId, take: (event: SaltedText) => void) =>
    each(
      (after) =>
        readEvents(sql`
          SELECT seq FROM canonical_events WHERE run_id = ${runId}::uuid AND seq > ${BigInt(after)}
          ORDER BY seq LIMIT ${PAGE}`),
      take
    )

  const eachFrame = (runId: RunId, take: (frame: SaltedText) => void) =>
    each(
      (after) =>
        readFrames(
          runId,
          sql`SELECT seq FROM raw_events WHERE run_id = ${runId}::uuid AND seq > ${after} ORDER BY seq LIMIT ${PAGE}`
        ),
      take
    )

  const readAt = (target: ErasureEntry["target"], runId: RunId, indexes: ReadonlyArray<number>) =>
    target === "event"
      ? readEvents(sql`
          SELECT seq FROM canonical_events
          WHERE run_id = ${runId}::uuid AND index = ANY(${indexes}::int[]) ORDER BY seq`)
      : readFrames(
          runId,
          sql`SELECT seq FROM raw_events WHERE run_id = ${runId}::uuid AND seq = ANY(${indexes}::int[]) ORDER BY seq`
        )

  /**
   * The events or frames at these positions, ascending, a page of them at a time. One that the log does not have ends
   * it, and is returned.
   */
  const eachAt = Effect.fnUntraced(function* <E, R>(
    target: ErasureEntry["target"],
    runId: RunId,
    indexes: ReadonlyArray<number>,
    use: (page: ReadonlyArray<SaltedText>) => Effect.Effect<void, E, R>
  ) {
    let left = indexes
    while (left.length > 0) {
      const { rows: page } = yield* readAt(target, runId, left.slice(0, FEW))
      const missing = left.find((index, at) => at < Math.max(1, page.length) && page[at]?.index !== index)
      if (missing !== undefined) return missing
      yield* use(page)
      left = left.slice(page.length)
    }
    return undefined
  })

  return { eachEvent, eachFrame, eachAt } as const
})

/** A row of version 1 has no salts. */
const saltsOf = (salts: string | null): MemberSalts => storedSalts(salts) ?? {}

const toEvent = ({ event, index, salts, seq }: EventRow): SaltedText => ({
  ...{ seq: Number(seq), index, bytes: utf8.encode(event), salts: saltsOf(salts) }
})

const toFrame = ({ kind, payload, salts, seq, source_name, ts }: FrameRow): SaltedText => ({
  ...{ seq, index: seq, salts: saltsOf(salts) },
  bytes: utf8.encode(frameText({ seq, ts: ts.toISOString(), kind, sourceName: source_name }, payload))
})
