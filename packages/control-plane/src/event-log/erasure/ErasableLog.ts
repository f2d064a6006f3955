import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type ErasureEntry,
  type ErasuresHead,
  erasuresNext,
  erasuresStart,
  frameText,
  isUuid,
  makeErasuresHead,
  type RunId,
  type RunStatus
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { insertPending, pendingEntry } from "../../platform/ledger/PendingEntries.ts"
import { type SealKey, SealKeys } from "../../platform/ledger/SealKeys.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { sha256 } from "../../platform/Sha256.ts"
import { makeSaltedTexts, type SaltedText } from "./SaltedTexts.ts"

const decodeText = new TextDecoder()

/** The end of a run, for an erasure. */
export interface ErasableHead {
  readonly status: RunStatus
  /** Version of the chains that the run began with. */
  readonly chain: number
  /** Whether a key has signed its last seal. */
  readonly isSigned: boolean
}

/** A text that is stored in the position of another, as `SaltedText` has it. */
export interface RewrittenText extends Pick<SaltedText, "seq" | "bytes" | "salts"> {}

/** The texts of a run as an erasure reads and rewrites them, and the chain of its erasures. */
export interface TextLog {
  readonly eachEvent: (runId: RunId, take: (event: SaltedText) => void) => Effect.Effect<void, SqlError>
  readonly eachFrame: (runId: RunId, take: (frame: SaltedText) => void) => Effect.Effect<void, SqlError>
  readonly eachAt: <E, R>(
    target: ErasureEntry["target"],
    runId: RunId,
    indexes: ReadonlyArray<number>,
    use: (page: ReadonlyArray<SaltedText>) => Effect.Effect<void, E, R>
  ) => Effect.Effect<number | undefined, E | SqlError, R>
  readonly writeEvents: (runId: RunId, rows: ReadonlyArray<RewrittenText>) => Effect.Effect<unknown, SqlError>
  readonly writeFrames: (runId: RunId, rows: ReadonlyArray<RewrittenText>) => Effect.Effect<unknown, SqlError>
  readonly enter: (runId: RunId, entries: ReadonlyArray<ErasureEntry>) => Effect.Effect<void, SqlError>
}

/** The entries behind the end of a chain of erasures, with the head after each, and the new end, signed. */
export const enteredBehind = (
  runId: RunId,
  end: Pick<ErasuresHead, "entries" | "head"> | undefined,
  entries: ReadonlyArray<ErasureEntry>,
  key: SealKey | undefined
) => {
  let last = end === undefined ? erasuresStart(sha256, runId) : Result.getOrThrow(Hex.decode(end.head))
  const before = end?.entries ?? 0
  const entered = entries.map((entry, at) => {
    const previous = Hex.encode(last)
    const position = before + at + 1
    last = erasuresNext(sha256, last, position, entry)
    return { position, previous, entry, head: Hex.encode(last) }
  })
  const signed = makeErasuresHead(runId, before + entries.length, last, key)
  const content = { runId, entries: signed.entries, head: signed.head }
  return { entered, signed, pending: pendingEntry(key, "erasure", `${runId}/${signed.entries}`, content) }
}

/**
 * The log of a run as an erasure reads and rewrites it, and the chain of its erasures (docs/reference/seal-format.md):
 * for use inside a transaction that has locked the run.
 */
export const makeErasableLog = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { current: key } = yield* SealKeys
  const reads = yield* makeSaltedTexts

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

  const writeEvents = (runId: RunId, rows: ReadonlyArray<RewrittenText>) => sql`
    UPDATE canonical_events e SET event = c.event, seed = NULL, salts = c.salts
    FROM ${unnestRows(sql, rows.map(eventRow), { seq: "bigint", event: "json", salts: "json" })} AS c
    WHERE e.seq = c.seq AND e.run_id = ${runId}::uuid`

  const writeFrames = (runId: RunId, rows: ReadonlyArray<RewrittenText>) => sql`
    UPDATE raw_events f SET payload = c.payload, seed = NULL, salts = c.salts
    FROM ${unnestRows(sql, rows.map(frameRow), { seq: "int", payload: "json", salts: "json" })} AS c
    WHERE f.run_id = ${runId}::uuid AND f.seq = c.seq`

  /** Appends entries to the chain of the run's erasures, and signs its end. */
  const enter = Effect.fnUntraced(function* (runId: RunId, entries: ReadonlyArray<ErasureEntry>) {
    if (entries.length === 0) return
    const [end] = yield* sql<{ readonly entries: number; readonly head: string }>`
      SELECT entries, head FROM run_erasure_ends WHERE run_id = ${runId}::uuid`
    const { entered, pending, signed } = enteredBehind(runId, end, entries, key)
    const rows = entered.map(({ entry, head, position }) => ({ run_id: runId, position, ...entry, head }))
    yield* sql`
      INSERT INTO run_erasures (run_id, position, target, index, pointer, digest, at, by, reason, head)
      ${unnestRows(sql, rows, ENTRY_COLUMNS)}`
    yield* sql`
      INSERT INTO run_erasure_ends (run_id, entries, head, key_id, signature)
      VALUES (${runId}::uuid, ${signed.entries}, ${signed.head}, ${signed.keyId}, ${signed.signature})
      ON CONFLICT (run_id) DO UPDATE
      SET entries = excluded.entries, head = excluded.head, key_id = excluded.key_id, signature = excluded.signature`
    yield* insertPending(sql, [pending])
  })

  const log: TextLog = { ...reads, writeEvents, writeFrames, enter }
  return { ...log, canSign: key !== undefined, head, hasExpired } as const
})

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
