import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type ErasureEntry,
  erasuresNext,
  erasuresStart,
  frameText,
  isUuid,
  MemberSalts,
  makeErasuresHead,
  type RunId,
  type RunStatus
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { insertPending, pendingEntry } from "../../platform/ledger/PendingEntries.ts"
import { SealKeys } from "../../platform/ledger/SealKeys.ts"
import { readBounded } from "../../platform/postgres/BoundedRows.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { sha256 } from "../../platform/Sha256.ts"

/** Events or frames of one read; fewer when they are large. */
const PAGE = 500

const utf8 = new TextEncoder()
const decodeText = new TextDecoder()

/** The end of a run, for an erasure. */
export interface ErasableHead {
  readonly status: RunStatus
  /** Version of the chains that the run began with. */
  readonly chain: number
  /** Whether a key has signed its last seal. */
  readonly isSigned: boolean
}

/** An event as it is stored, or a raw frame as `frameText` writes it, with its salts. */
export interface SaltedText {
  /** Of an event its seq, of a frame its number. */
  readonly seq: number
  /** Position in the run. */
  readonly index: number
  readonly bytes: Uint8Array
  readonly salts: MemberSalts
}

/** A text that is stored in the position of another, as `SaltedText` has it. */
export interface RewrittenText extends Pick<SaltedText, "seq" | "bytes" | "salts"> {}

interface TextPage {
  readonly rows: ReadonlyArray<SaltedText>
  /** Whether it ends early, because its texts are large. */
  readonly isCut: boolean
}

interface SaltRow {
  readonly seed: Uint8Array | null
  readonly salts: string | null
}

interface EventRow extends SaltRow {
  readonly seq: bigint
  readonly index: number
  readonly event: string
}

interface FrameRow extends SaltRow {
  readonly seq: number
  readonly ts: Date
  readonly kind: string
  readonly source_name: string
  readonly payload: string
}

/**
 * The log of a run as an erasure reads and rewrites it, and the chain of its erasures (docs/reference/seal-format.md):
 * for use inside a transaction that has locked the run.
 */
export const makeErasableLog = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { current: key } = yield* SealKeys

  const head = (runId: RunId) =>
    Effect.map(
      sql<{ readonly status: RunStatus; readonly chain_version: number; readonly is_signed: boolean }>`
        SELECT r.status, h.chain_version, EXISTS (
                 SELECT FROM run_seals s WHERE s.run_id = r.id AND s.seal ->> 'keyId' IS NOT NULL) AS is_signed
        FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = ${runId}::uuid`,
      ([row]): ErasableHead | undefined =>
        row && { status: row.status, chain: row.chain_version, isSigned: row.is_signed }
    )

  /** Whether retention has deleted a run from the database, and no caller since. */
  const hasExpired = (reference: string) =>
    isUuid(reference)
      ? Effect.map(
          sql<{ readonly reason: string }>`
            SELECT reason FROM run_tombstones WHERE run_id = ${reference}::uuid ORDER BY id DESC LIMIT 1`,
          ([row]) => row?.reason === "expired"
        )
      : Effect.succeed(false)

  const readEvents = (seqs: Fragment) =>
    Effect.map(
      readBounded<EventRow>(sql, {
        keys: sql`ARRAY(${seqs})`,
        from: sql`canonical_events AS e`,
        isOf: (seq) => sql`e.seq = ${seq}`,
        columns: sql`e.seq, e.index, e.event::text AS event, e.seed, e.salts::text AS salts`,
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
        columns: sql`f.seq, f.ts, f.kind, f.source_name, f.payload::text AS payload, f.seed, f.salts::text AS salts`,
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
      for (const row of page.rows) take(row)
      const last = page.rows.at(-1)
      if (last === undefined || (!page.isCut && page.rows.length < PAGE)) return
      after = last.seq
      yield* Effect.yieldNow
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
      const { rows: page } = yield* readAt(target, runId, left.slice(0, PAGE))
      const missing = left.find((index, at) => at < Math.max(1, page.length) && page[at]?.index !== index)
      if (missing !== undefined) return missing
      yield* use(page)
      left = left.slice(page.length)
    }
    return undefined
  })

  const writeEvents = (rows: ReadonlyArray<RewrittenText>) => sql`
    UPDATE canonical_events e SET event = c.event, seed = NULL, salts = c.salts
    FROM ${unnestRows(sql, rows.map(eventRow), { seq: "bigint", event: "json", salts: "json" })} AS c
    WHERE e.seq = c.seq`

  const writeFrames = (runId: RunId, rows: ReadonlyArray<RewrittenText>) => sql`
    UPDATE raw_events f SET payload = c.payload, seed = NULL, salts = c.salts
    FROM ${unnestRows(sql, rows.map(frameRow), { seq: "int", payload: "json", salts: "json" })} AS c
    WHERE f.run_id = ${runId}::uuid AND f.seq = c.seq`

  /** Appends entries to the chain of the run's erasures, and signs its end. */
  const enter = Effect.fnUntraced(function* (runId: RunId, entries: ReadonlyArray<ErasureEntry>) {
    if (entries.length === 0) return
    const [end] = yield* sql<{ readonly entries: number; readonly head: string }>`
      SELECT entries, head FROM run_erasure_ends WHERE run_id = ${runId}::uuid`
    let last = end === undefined ? erasuresStart(sha256, runId) : Result.getOrThrow(Hex.decode(end.head))
    const before = end?.entries ?? 0
    const rows = entries.map((entry, at) => {
      const position = before + at + 1
      last = erasuresNext(sha256, last, position, entry)
      return { run_id: runId, position, ...entry, head: Hex.encode(last) }
    })
    const signed = makeErasuresHead(runId, before + entries.length, last, key)
    yield* sql`
      INSERT INTO run_erasures (run_id, position, target, index, pointer, digest, at, by, reason, head)
      ${unnestRows(sql, rows, ENTRY_COLUMNS)}`
    yield* sql`
      INSERT INTO run_erasure_ends (run_id, entries, head, key_id, signature)
      VALUES (${runId}::uuid, ${signed.entries}, ${signed.head}, ${signed.keyId}, ${signed.signature})
      ON CONFLICT (run_id) DO UPDATE
      SET entries = excluded.entries, head = excluded.head, key_id = excluded.key_id, signature = excluded.signature`
    const ended = { runId, entries: signed.entries, head: signed.head }
    yield* insertPending(sql, [pendingEntry(key, "erasure", `${runId}/${signed.entries}`, ended)])
  })

  return {
    canSign: key !== undefined,
    head,
    hasExpired,
    eachEvent,
    eachFrame,
    eachAt,
    writeEvents,
    writeFrames,
    enter
  } as const
})

export type ErasableLog = Effect.Success<typeof makeErasableLog>

const ENTRY_COLUMNS = {
  run_id: "uuid",
  position: "int",
  target: "text",
  index: "int",
  pointer: "text",
  digest: "text",
  at: "timestamptz",
  by: "text",
  reason: "text",
  head: "text"
} as const

const readSalts = Schema.decodeUnknownSync(Schema.fromJsonString(MemberSalts))

/** The salts of a row; a row of version 1 has none. */
const saltsOf = ({ salts, seed }: SaltRow): MemberSalts =>
  seed === null ? (salts === null ? {} : readSalts(salts)) : Base64Url.encode(seed)

const toEvent = ({ event, index, seq, ...row }: EventRow): SaltedText => ({
  ...{ seq: Number(seq), index, bytes: utf8.encode(event), salts: saltsOf(row) }
})

const toFrame = ({ kind, payload, seq, source_name, ts, ...row }: FrameRow): SaltedText => ({
  ...{ seq, index: seq, salts: saltsOf(row) },
  bytes: utf8.encode(frameText({ seq, ts: ts.toISOString(), kind, sourceName: source_name }, payload))
})

const eventRow = ({ bytes, salts, seq }: RewrittenText) => ({
  ...{ seq, event: decodeText.decode(bytes), salts: JSON.stringify(salts) }
})

const readFrame = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Tuple([Schema.Int, Schema.String, Schema.String, Schema.String, Schema.JsonObject]))
)

/** The payload is what is behind the other members, exactly as it is written. */
const frameRow = ({ bytes, salts, seq }: RewrittenText) => {
  const text = decodeText.decode(bytes)
  const [number, ts, kind, sourceName] = readFrame(text)
  const before = frameText({ seq: number, ts, kind, sourceName }, "").length - 1
  return { seq, payload: text.slice(before, -1), salts: JSON.stringify(salts) }
}
