import * as PgClient from "@effect/sql-pg/PgClient"
import { MAX_MARK_BYTES_OF_RUN, MAX_MARKS_OF_RUN } from "@runplane/api"
import { type MarkEntry, makeMarksHead, marksNext, marksStart, type RunId, type RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import { SealKeys } from "../platform/ledger/SealKeys.ts"
import { sha256 } from "../platform/Sha256.ts"

/** The end of a run's chain of marks, locked. */
export interface LockedChain {
  readonly runId: RunId
  readonly status: RunStatus
  readonly entries: number
  readonly marks: number
  readonly bytes: number
  readonly head: Uint8Array
  /** Time of the latest mark; undefined without one. */
  readonly lastAt: string | undefined
}

/**
 * The time of a mark that is added to a locked chain: not before the marks that the run has. So the current mark of a
 * rater is the latest one, also when callers waited for the lock, or came to processes whose clocks differ.
 */
export const timeAfter = ({ lastAt }: Pick<LockedChain, "lastAt">, at: string): string =>
  lastAt !== undefined && lastAt > at ? lastAt : at

/** A bound of a run that one more mark would exceed. */
export const boundOf = ({ bytes, marks }: Pick<LockedChain, "bytes" | "marks">): string | undefined => {
  if (marks >= MAX_MARKS_OF_RUN) return `${MAX_MARKS_OF_RUN} marks`
  return bytes >= MAX_MARK_BYTES_OF_RUN ? `${MAX_MARK_BYTES_OF_RUN} bytes of marks` : undefined
}

/** Locks the chain of a run and appends to it: all for use inside a transaction. */
export const makeMarkChain = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { current: key } = yield* SealKeys

  const lock = Effect.fn("MarkChain.lock")(function* (runId: RunId) {
    const [run] = yield* sql<{ readonly status: RunStatus }>`
      SELECT status FROM runs WHERE id = ${runId}::uuid FOR KEY SHARE`
    if (run === undefined) return undefined
    yield* sql`INSERT INTO mark_chains (run_id) VALUES (${runId}::uuid) ON CONFLICT DO NOTHING`
    const [row] = yield* sql<ChainRow>`
      SELECT entries, marks, bytes, head FROM mark_chains WHERE run_id = ${runId}::uuid FOR UPDATE`
    if (row === undefined) return undefined
    const [last] = yield* sql<{ readonly at: Date }>`
      SELECT created_at AS at FROM marks WHERE run_id = ${runId}::uuid ORDER BY position DESC LIMIT 1`
    const chain: LockedChain = {
      runId,
      status: run.status,
      entries: row.entries,
      marks: row.marks,
      bytes: Number(row.bytes),
      head: row.head === null ? marksStart(sha256, runId) : Result.getOrThrow(Hex.decode(row.head)),
      lastAt: last?.at.toISOString()
    }
    return chain
  })

  /** Appends entries to the chain and signs its end. `marks` and `bytes` are those that they add. */
  const append = Effect.fnUntraced(function* (
    chain: LockedChain,
    added: ReadonlyArray<MarkEntry>,
    marks: number,
    bytes: number
  ) {
    const head = added.reduce(
      (head, entry, number) => marksNext(sha256, head, chain.entries + number + 1, entry),
      chain.head
    )
    const next: LockedChain = {
      ...chain,
      entries: chain.entries + added.length,
      marks: chain.marks + marks,
      bytes: chain.bytes + bytes,
      head
    }
    const signed = makeMarksHead(chain.runId, next.entries, head, key)
    yield* sql`
      UPDATE mark_chains SET entries = ${next.entries}, marks = ${next.marks}, bytes = ${BigInt(next.bytes)},
                             head = ${signed.head}, key_id = ${signed.keyId}, signature = ${signed.signature}
      WHERE run_id = ${chain.runId}::uuid`
    return next
  })

  return { lock, append } as const
})

interface ChainRow {
  readonly entries: number
  readonly marks: number
  readonly bytes: bigint
  readonly head: string | null
}
