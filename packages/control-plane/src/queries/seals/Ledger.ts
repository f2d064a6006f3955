import * as PgClient from "@effect/sql-pg/PgClient"
import { type AuditEntry, type LedgerPage, type LedgerQuery, type ListedLedgerEntry, parseIsoDate } from "@runplane/api"
import { contentDigestOf, isUuid, type LedgerEntry } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { type TombstoneRow, tombstoneColumns, toTombstone } from "../../event-log/runs/TombstoneRow.ts"
import { type AuditRow, auditColumns, toAuditEntry } from "../../platform/audit/AuditRow.ts"
import { type LedgerRow, ledgerColumns, sealsOf, toLedgerEntry } from "../../platform/ledger/LedgerWriter.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { sha256 } from "../../platform/Sha256.ts"

/** The ledger, compared with the stored contents of its entries (docs/reference/seal.md#ledger). */
export class Ledger extends Context.Service<
  Ledger,
  { readonly list: (query: LedgerQuery) => Effect.Effect<LedgerPage, SqlError> }
>()("runplane/control-plane/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      /** The digests of the stored contents, by subject. */
      const stored = Effect.fnUntraced(function* (entries: ReadonlyArray<LedgerEntry>) {
        const subjects = (kind: LedgerEntry["kind"]) =>
          entries.flatMap((entry) => (entry.kind === kind ? [entry.subject] : []))
        const digests = new Map<string, string>()
        const add = (kind: LedgerEntry["kind"], subject: string, content: Schema.Json) =>
          digests.set(`${kind} ${subject}`, contentDigestOf(sha256, content))
        for (const [subject, seal] of yield* sealsOf(sql, subjects("seal"))) add("seal", subject, JSON.parse(seal))
        // A writer of the database may have added subjects of another form, which have no content.
        const tombstones = subjects("tombstone")
          .map((subject) => subject.split("/"))
          .flatMap(([runId = "", at = ""]) =>
            isUuid(runId) && parseIsoDate(at) !== undefined ? [{ run_id: runId, deleted_at: at }] : []
          )
        const buried = yield* sql<TombstoneRow>`
          SELECT ${tombstoneColumns(sql)} FROM run_tombstones
          WHERE (run_id, deleted_at) IN ${unnestRows(sql, tombstones, { run_id: "uuid", deleted_at: "timestamptz" })}`
        for (const tombstone of buried.map(toTombstone)) {
          add("tombstone", `${tombstone.runId}/${tombstone.deletedAt}`, tombstone)
        }
        for (const [subject, end] of yield* erasuresOf(sql, subjects("erasure"))) add("erasure", subject, end)
        const audited = yield* sql<AuditRow>`
          SELECT ${auditColumns(sql)} FROM audit_log WHERE id = ANY(${subjects("audit").filter(isUuid)}::text[]::uuid[])`
        const trail = audited.map(toAuditEntry)
        for (const entry of trail) add("audit", entry.id, entry)
        const keys = yield* sql<{ readonly subject: string; readonly statement: string }>`
          SELECT concat_ws('/', key_id, nullif(previous, '')) AS subject, statement::text AS statement
          FROM seal_key_statements
          WHERE concat_ws('/', key_id, nullif(previous, '')) = ANY(${subjects("key")}::text[])`
        for (const { statement, subject } of keys) add("key", subject, JSON.parse(statement))
        for (const cutoff of subjects("expiry")) add("expiry", cutoff, { before: cutoff })
        return { digests, removedMarks: yield* removedMarks(trail) }
      })

      /**
       * The audit entries of marks whose row is not as they say: a mark keeps its row while its run has one, after its
       * deletion too. The marks of a run have no entries of their own, so their chain can be removed as a whole.
       */
      const removedMarks = Effect.fnUntraced(function* (trail: ReadonlyArray<AuditEntry>) {
        const marks = trail.flatMap(({ action, details, id, resourceId }) => {
          const { runId } = details
          const isOfMark = action === "mark.add" || action === "mark.delete"
          return isOfMark && isUuid(resourceId ?? "") && typeof runId === "string" && isUuid(runId)
            ? [{ entry: id, mark_id: resourceId ?? "", run_id: runId, is_deletion: action === "mark.delete" }]
            : []
        })
        if (marks.length === 0) return new Set<string>()
        const types = { entry: "text", mark_id: "uuid", run_id: "uuid", is_deletion: "bool" } as const
        const rows = yield* sql<{ readonly entry: string }>`
          SELECT entry FROM ${unnestRows(sql, marks, types)} g (entry, mark_id, run_id, is_deletion)
          JOIN runs r ON r.id = g.run_id
          WHERE NOT EXISTS (SELECT FROM marks m JOIN mark_chains c USING (run_id)
                            WHERE m.id = g.mark_id AND m.run_id = g.run_id AND m.position <= c.entries
                            AND (m.deleted_at IS NOT NULL OR NOT g.is_deletion))`
        return new Set(rows.map(({ entry }) => entry))
      })

      /** The runs among these that have a tombstone. */
      const buriedOf = (runIds: ReadonlyArray<string>) =>
        Effect.map(
          sql<{ readonly id: string }>`
            SELECT DISTINCT run_id::text AS id FROM run_tombstones WHERE run_id = ANY(${runIds}::text[]::uuid[])`,
          (rows) => new Set(rows.map(({ id }) => id))
        )

      /** Audit entries before this time have expired according to the ledger, without entries of other writers. */
      const expiredBefore = Effect.map(
        sql<{ readonly before: string | null }>`
          SELECT max(subject) AS before FROM ledger WHERE kind = 'expiry' AND (vouched OR key_id IS NULL)`,
        ([row]) => row?.before ?? ""
      )

      const list = Effect.fn("Ledger.list")(function* ({ after, limit }: LedgerQuery) {
        const rows = yield* sql<LedgerRow>`
          SELECT ${ledgerColumns(sql)} FROM ledger WHERE number > ${BigInt(after)} ORDER BY number LIMIT ${BigInt(limit)}`
        const entries = rows.map(toLedgerEntry)
        const { digests, removedMarks } = yield* stored(entries)
        const buried = yield* buriedOf(
          entries.flatMap(({ kind, subject }) => (isOfRun(kind) ? [subject.split("/")[0] ?? ""] : [])).filter(isUuid)
        )
        const expired = yield* expiredBefore
        const contentOf = ({ at, digest, kind, subject }: LedgerEntry): ListedLedgerEntry["content"] => {
          const found = digests.get(`${kind} ${subject}`)
          if (found !== undefined) return found === digest ? "kept" : "changed"
          if (isOfRun(kind) && buried.has(subject.split("/")[0] ?? "")) return "deleted"
          // A content is stored before it has a number in the ledger.
          return kind === "audit" && at < expired ? "expired" : "missing"
        }
        const data = entries.map((entry): ListedLedgerEntry => {
          const content = contentOf(entry)
          const isRemoved = content === "kept" && entry.kind === "audit" && removedMarks.has(entry.subject)
          return isRemoved ? { ...entry, content: "missing", lacks: "mark" } : { ...entry, content }
        })
        return { data, limit, ...(data.length < limit && { unlisted: yield* unlisted }) }
      })

      /** The number of contents without an entry, except those that are older than the ledger by their times. */
      const unlisted = Effect.gen(function* () {
        const listed = (kind: string, subject: string) => sql`
          (SELECT FROM ledger l WHERE l.kind = ${sql.literal(`'${kind}'`)} AND l.subject = ${sql.literal(subject)}
           UNION ALL
           SELECT FROM ledger_pending p WHERE p.kind = ${sql.literal(`'${kind}'`)} AND p.subject = ${sql.literal(subject)})`
        const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
        const [row] = yield* sql<{ readonly seals: number; readonly tombstones: number; readonly audit: number }>`
          WITH began AS (SELECT at FROM ledger WHERE number = 1)
          SELECT (SELECT count(*)::int FROM run_seals s, began WHERE (s.seal->>'sealedAt')::timestamptz > began.at
                  AND NOT EXISTS ${listed("seal", "s.run_id || '/' || s.events")}) AS seals,
                 (SELECT count(*)::int FROM run_tombstones t, began WHERE t.deleted_at > began.at
                  AND NOT EXISTS ${listed("tombstone", `t.run_id || '/' || ${iso("t.deleted_at")}`)}) AS tombstones,
                 (SELECT count(*)::int FROM audit_log a, began WHERE a.created_at > began.at
                  AND NOT EXISTS ${listed("audit", "a.id::text")}) AS audit`
        return { seals: row?.seals ?? 0, tombstones: row?.tombstones ?? 0, auditEntries: row?.audit ?? 0 }
      })
      return Ledger.of({ list })
    })
  )
}

/** The ends of the chains of erasures, as the ledger has them, by their subjects. */
const erasuresOf = (sql: PgClient.PgClient, subjects: ReadonlyArray<string>) => {
  const positions = subjects
    .map((subject) => subject.split("/"))
    .flatMap(([runId = "", entries = ""]) =>
      isUuid(runId) && /^[1-9]\d{0,8}$/.test(entries) ? [{ run_id: runId, position: Number(entries) }] : []
    )
  return Effect.map(
    sql<{ readonly run_id: string; readonly position: number; readonly head: string }>`
      SELECT run_id::text AS run_id, position, head FROM run_erasures
      WHERE (run_id, position) IN ${unnestRows(sql, positions, { run_id: "uuid", position: "int" })}`,
    (rows) =>
      rows.map(
        ({ head, position, run_id }) => [`${run_id}/${position}`, { runId: run_id, entries: position, head }] as const
      )
  )
}

/** Seals and erasures go with their run, which leaves a tombstone. */
const isOfRun = (kind: LedgerEntry["kind"]): boolean => kind === "seal" || kind === "erasure"
