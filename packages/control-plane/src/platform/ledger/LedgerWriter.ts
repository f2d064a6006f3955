import * as PgClient from "@effect/sql-pg/PgClient"
import {
  isUuid,
  type LedgerEntry,
  type LedgerHead,
  type LedgerKind,
  ledgerHeadOf,
  ledgerStart,
  makeLedgerEntry
} from "@runplane/domain"
import { Loops } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { forever } from "../loop/Forever.ts"
import { Metrics } from "../metrics/Metrics.ts"
import { LEDGER_LOCK } from "../postgres/AdvisoryLocks.ts"
import { unnestRows } from "../postgres/UnnestRows.ts"
import { sha256 } from "../Sha256.ts"
import { HeadsFile, type PublishedEntry } from "./HeadsFile.ts"
import { pendingMac } from "./PendingEntries.ts"
import { SealKeys } from "./SealKeys.ts"
import { readStoredSeal } from "./StoredSeal.ts"

/** Entries that one transaction numbers. */
const ENTRIES_PER_BATCH = 500
/** The pause while no entry is pending. Milliseconds. */
const PAUSE_MS = 1_000

/**
 * Numbers the pending entries of the ledger (docs/reference/seal.md#ledger) shortly after their commit. Transactions do
 * not wait for numbers, so the ledger does not slow down appends.
 */
export class LedgerWriter extends Context.Service<
  LedgerWriter,
  {
    /** Numbers one batch; returns how many, and 0 while another process numbers. */
    readonly numberPending: Effect.Effect<number, SqlError>
  }
>()("runplane/control-plane/LedgerWriter") {
  static readonly layer = Layer.effect(
    LedgerWriter,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { current } = yield* SealKeys
      const heads = yield* HeadsFile
      const { sealDoubted } = yield* Metrics
      const { remark } = yield* Loops
      /** The end of the ledger as this process last saw it. */
      let known: LedgerHead = ledgerStart(sha256)

      const readLast = Effect.gen(function* () {
        const [row] = yield* sql<LedgerRow>`SELECT ${ledgerColumns(sql)} FROM ledger ORDER BY number DESC LIMIT 1`
        return row === undefined ? ledgerStart(sha256) : ledgerHeadOf(sha256, toLedgerEntry(row))
      })

      const numberBatch = Effect.gen(function* () {
        const [lock] = yield* sql<{ readonly locked: boolean; readonly now: Date }>`
          SELECT pg_try_advisory_xact_lock(${LEDGER_LOCK}) AS locked, clock_timestamp() AS now`
        if (lock?.locked !== true) return []
        const pending = yield* sql<PendingRow>`
          WITH taken AS (
            DELETE FROM ledger_pending
            WHERE id IN (SELECT id FROM ledger_pending ORDER BY id LIMIT ${BigInt(ENTRIES_PER_BATCH)})
            RETURNING id, kind, subject, digest, mac
          ) SELECT kind, subject, digest, mac FROM taken ORDER BY id`
        if (pending.length === 0) return []
        let head = yield* readLast
        if (head.number < known.number || (head.number === known.number && head.hash !== known.hash)) {
          sealDoubted("ledger")
          yield* Effect.logError(
            `the ledger ended at entry ${known.number} before, and ends at entry ${head.number} now: it was cut or changed`
          )
        }
        const at = lock.now.toISOString()
        const entries = pending.map(({ digest, kind, mac, subject }) => {
          const vouched = current !== undefined && mac === pendingMac(current, { kind, subject, digest })
          const entry = makeLedgerEntry(head, { kind, subject, digest, vouched, at }, current)
          head = ledgerHeadOf(sha256, entry)
          return entry
        })
        const rows = entries.map((entry) => ({ ...entry, key_id: entry.keyId }))
        yield* sql`
          INSERT INTO ledger (number, kind, subject, digest, vouched, previous, at, key_id, signature)
          ${unnestRows(sql, rows, {
            number: "bigint",
            kind: "text",
            subject: "text",
            digest: "text",
            vouched: "bool",
            previous: "text",
            at: "timestamptz",
            key_id: "text",
            signature: "text"
          })}`
        return entries
      }).pipe(sql.withTransaction)

      let alteredSeals = 0
      /** Each entry is numbered once, so this is said once. */
      const altered = Effect.fnUntraced(function* ({ number, subject }: LedgerEntry) {
        sealDoubted("altered")
        alteredSeals += 1
        const what = `the stored seal ${subject}, entry ${number}, is altered: it is not a seal any more`
        remark("ledger", alteredSeals === 1 ? what : `${what}; it is the ${alteredSeals}th since the start`)
        yield* Effect.logError(what)
      })

      /** The entries of seals with their seals; one of a deleted run, or of an altered seal, has none. */
      const withSeals = Effect.fnUntraced(function* (entries: ReadonlyArray<LedgerEntry>) {
        const subjects = entries.flatMap(({ kind, subject }) => (kind === "seal" ? [subject] : []))
        const found = yield* sealsOf(sql, subjects)
        const published: Array<PublishedEntry> = []
        for (const entry of entries) {
          const text = entry.kind === "seal" ? found.get(entry.subject) : undefined
          const seal = text === undefined ? undefined : readStoredSeal(text)
          if (text !== undefined && seal === undefined) yield* altered(entry)
          published.push(seal === undefined ? entry : { ...entry, seal })
        }
        return published
      })

      const numberPending = Effect.gen(function* () {
        const entries = yield* numberBatch
        const last = entries.at(-1)
        if (last === undefined) return 0
        known = ledgerHeadOf(sha256, last)
        const strange = entries.filter(({ vouched }) => !vouched)
        if (current !== undefined && strange.length > 0) {
          sealDoubted("ledger")
          yield* Effect.logError(
            `${strange.length} entries of the ledger have no MAC of this key, the first is ${strange[0]?.number}`
          )
        }
        yield* heads.publish(yield* withSeals(entries))
        return entries.length
      }).pipe(Effect.withSpan("LedgerWriter.numberPending"))
      return LedgerWriter.of({ numberPending })
    })
  )

  /** Numbers for ever. */
  static readonly layerForever = Layer.effectDiscard(
    Effect.gen(function* () {
      const { numberPending } = yield* LedgerWriter
      const round = Effect.map(numberPending, (count) => ({ pauseMs: count < ENTRIES_PER_BATCH ? PAUSE_MS : 0 }))
      yield* Effect.forkScoped(forever("ledger", round))
    })
  )
}

/** The run and the number of events of a seal's subject; undefined for a text that this service does not write. */
const sealKeyOf = (subject: string) => {
  const [runId = "", events = "", ...more] = subject.split("/")
  const isSeal = isUuid(runId) && /^\d{1,9}$/.test(events) && more.length === 0
  return isSeal ? { run_id: runId, events: Number(events) } : undefined
}

/** The stored seals, as text, by their subjects in the ledger: `runId/events`. */
export const sealsOf = (sql: PgClient.PgClient, subjects: ReadonlyArray<string>) => {
  const keys = subjects.map(sealKeyOf).filter((key) => key !== undefined)
  return Effect.map(
    sql<{ readonly subject: string; readonly seal: string }>`
      SELECT s.run_id || '/' || s.events AS subject, s.seal::text AS seal
      FROM ${unnestRows(sql, keys, { run_id: "uuid", events: "int" })} AS wanted
      JOIN run_seals s USING (run_id, events)`,
    (rows) => new Map(rows.map(({ seal, subject }) => [subject, seal]))
  )
}

interface PendingRow {
  readonly kind: LedgerKind
  readonly subject: string
  readonly digest: string
  readonly mac: string | null
}

/** A row of `ledgerColumns`. */
export interface LedgerRow extends Omit<PendingRow, "mac"> {
  readonly number: bigint
  readonly vouched: boolean
  readonly previous: string
  readonly at: Date
  readonly key_id: string | null
  readonly signature: string | null
}

export const ledgerColumns = (sql: PgClient.PgClient) =>
  sql`number, kind, subject, digest, vouched, previous, at, key_id, signature`

export const toLedgerEntry = ({ at, key_id, number, ...row }: LedgerRow): LedgerEntry => ({
  ...row,
  number: Number(number),
  at: at.toISOString(),
  keyId: key_id
})
