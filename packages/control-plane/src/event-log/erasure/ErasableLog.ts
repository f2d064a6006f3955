import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type ErasureEntry,
  erasuresNext,
  erasuresStart,
  frameText,
  type MemberSalts,
  makeErasuresHead,
  type RunId,
  type RunStatus
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import { insertPending, pendingEntry } from "../../platform/ledger/PendingEntries.ts"
import { SealKeys } from "../../platform/ledger/SealKeys.ts"
import { readBounded } from "../../platform/postgres/BoundedRows.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { sha256 } from "../../platform/Sha256.ts"

/** Events or frames of one read; fewer when they are large. */
const PAGE = 500

const utf8 = new TextEncoder()
const text = new TextDecoder()

/** The end of a run, for an erasure. */
export interface ErasableHead {
  readonly status: RunStatus
  /** Version of the chain that the run began with. */
  readonly chain: number
  readonly lastSeq: number
  readonly firstSeq: number | undefined
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

interface EventRow {
  readonly seq: bigint
  readonly index: number
  readonly event: string
  readonly salts: string | null
}

interface FrameRow {
  readonly seq: number
  readonly ts: Date
  readonly kind: string
  readonly source_name: string
  readonly payload: string
  readonly salts: string | null
}
