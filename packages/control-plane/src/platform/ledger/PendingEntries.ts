import type * as PgClient from "@effect/sql-pg/PgClient"
import { canonicalJson, type LedgerKind, type Seal } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { unnestRows } from "../postgres/UnnestRows.ts"
import { sha256Hex } from "../Sha256.ts"
import type { SealKey } from "./SealKeys.ts"

/** A content that waits for its number in the ledger (docs/reference/seal.md#ledger). */
export interface PendingEntry {
  readonly kind: LedgerKind
  readonly subject: string
  /** SHA-256 of the content's canonical JSON, hexadecimal. */
  readonly digest: string
  /** Proves that a process with the key wrote it, hexadecimal; empty without a key. */
  readonly mac: string
}

/** The MAC of a pending entry, hexadecimal; empty without a key. */
export const pendingMac = (
  key: SealKey | undefined,
  { digest, kind, subject }: Pick<PendingEntry, "digest" | "kind" | "subject">
): string => key?.mac(`runplane-ledger-v1\n${kind}\n${subject}\n${digest}`) ?? ""

export const pendingEntry = (
  key: SealKey | undefined,
  kind: LedgerKind,
  subject: string,
  content: Schema.Json
): PendingEntry => {
  const entry = { kind, subject, digest: sha256Hex(canonicalJson(content)) }
  return { ...entry, mac: pendingMac(key, entry) }
}

/** The INSERT of pending entries, to be part of the transaction, or of the statement, that writes their contents. */
export const insertPending = (sql: PgClient.PgClient, entries: ReadonlyArray<PendingEntry>) => sql`
  INSERT INTO ledger_pending (kind, subject, digest, mac)
  SELECT kind, subject, digest, nullif(mac, '')
  FROM ${unnestRows(sql, entries, { kind: "text", subject: "text", digest: "text", mac: "text" }, { ordinal: true })}
       AS pending
  ORDER BY ordinal`

/** A seal on its way to the ledger. */
export const pendingSeal = (key: SealKey | undefined, seal: Seal): PendingEntry =>
  pendingEntry(key, "seal", `${seal.runId}/${seal.events}`, seal)
