import * as PgClient from "@effect/sql-pg/PgClient"
import {
  doubtsOf,
  isoTime,
  isTerminal,
  isUnchecked,
  makeSeal,
  type RunId,
  type RunStatus,
  type Seal,
  type Signer
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { insertPending, pendingSeal } from "../../platform/ledger/PendingEntries.ts"
import { type SealKey, SealKeys } from "../../platform/ledger/SealKeys.ts"
import { readStoredSeal } from "../../platform/ledger/StoredSeal.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { chainedEnd, headMac, isVouched, type ProofRow, sealedFrames, unproven } from "./HeadProof.ts"
import { type Chain, makeStoredChain } from "./StoredChain.ts"

/** Late seals that are made at a time. */
const LATE_SEALS = 2

/**
 * The seals of runs (docs/reference/seal.md). The append that ends a run seals it. A run whose seal was
 * removed, or does not fit its head, gets a late seal over the stored events.
 */
export class RunSeals extends Context.Service<
  RunSeals,
  {
    /**
     * The seal over all events of an ended run. `"open"` before its end, `"damaged"` when the log lacks events that its
     * head counts, undefined for an unknown run.
     */
    readonly sealed: (runId: RunId) => Effect.Effect<Seal | "open" | "damaged" | undefined, SqlError>
    /** The newest `limit` of the seals that cover fewer events, newest first. */
    readonly before: (seal: Seal, limit: number) => Effect.Effect<ReadonlyArray<Seal>, SqlError>
    /** Signs in this process; undefined without a key. */
    readonly signer: Signer | undefined
  }
>()("runplane/control-plane/RunSeals") {
  static readonly layer = Layer.effect(
    RunSeals,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* DatabaseClock
      const computed = yield* makeStoredChain
      const { current } = yield* SealKeys
      const { sealDoubted } = yield* Metrics
      const lateSeals = yield* Semaphore.make(LATE_SEALS)

      const read = Effect.fnUntraced(function* (runId: RunId, lock: boolean) {
        const [row] = yield* sql<HeadRow>`
          SELECT r.status, h.last_index, h.last_raw_seq, encode(h.chain_head, 'hex') AS chain_head,
                 h.sealed_index, encode(h.sealed_head, 'hex') AS sealed_head,
                 h.proven_after, h.frames_after, encode(h.frames_head, 'hex') AS frames_head,
                 encode(h.head_mac, 'hex') AS head_mac, h.chain_version
          FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = ${runId}::uuid
          ${lock ? sql`FOR NO KEY UPDATE OF r, h` : sql``}`
        return row && toHead(runId, row, current)
      })

      const sealAt = Effect.fnUntraced(function* (runId: RunId, events: number) {
        const [row] = yield* sql<{ readonly seal: string }>`
          SELECT seal::text AS seal FROM run_seals WHERE run_id = ${runId}::uuid AND events = ${events}`
        return row && readStoredSeal(row.seal)
      })

      /**
       * The stored seal over all events of a run. One that this key signed counts only when the head is the one that
       * this key wrote with it.
       */
      const currentSeal = Effect.fnUntraced(function* (runId: RunId, head: Head) {
        if (head.sealed?.events !== head.lastIndex) return undefined
        const seal = yield* sealAt(runId, head.lastIndex)
        if (seal === undefined || seal.keyId !== current?.keyId || current === undefined || isUnchecked(seal))
          return seal
        return head.isVouched && seal.head === head.sealed.head ? seal : undefined
      })

      /**
       * Makes and stores the late seal over the chain that was read; undefined when the log has changed since. A seal
       * that is stored for the same events stays, although it does not count.
       */
      const store = Effect.fnUntraced(function* (runId: RunId, { chain, index }: Chain) {
        const now = yield* read(runId, true)
        if (now === undefined || !isTerminal(now.status)) return undefined
        const seal = yield* currentSeal(runId, now)
        if (seal !== undefined) return seal
        if (now.lastIndex !== index) return undefined
        const sealedAt = isoTime(yield* clock.now)
        const end = { ...(now.isVouched ? now : unproven(now)), chain }
        const draft = {
          runId,
          events: index,
          head: chain,
          sealedAt,
          late: true,
          provenAfter: end.provenAfter,
          frames: now.isVouched ? sealedFrames(now.frames) : null,
          chain: now.version
        }
        const previous = now.sealed !== null && now.sealed.events < index ? now.sealed : undefined
        const late = makeSeal({ ...draft, ...(previous !== undefined && { previous }) }, current)
        const stored = yield* sql`
          INSERT INTO run_seals (run_id, events, seal)
          VALUES (${runId}::uuid, ${index}, ${JSON.stringify(late)}::text::json)
          ON CONFLICT (run_id, events) DO NOTHING RETURNING events`
        if (stored.length > 0) {
          yield* insertPending(sql, [pendingSeal(current, late)])
          const mac = headMac(current, { ...end, sealed: late })
          yield* sql`
            UPDATE run_heads SET chain_head = decode(${late.head}, 'hex'),
                                 sealed_index = ${index}, sealed_head = decode(${late.head}, 'hex'),
                                 proven_after = ${end.provenAfter}, frames_after = ${end.frames.after},
                                 frames_head = decode(${Hex.encode(end.frames.head)}, 'hex'),
                                 head_mac = decode(nullif(${mac}, ''), 'hex')
            WHERE run_id = ${runId}::uuid`
        }
        return late
      }, sql.withTransaction)

      /** Makes the late seal of a run; again when an append has changed the run in between. */
      const sealLate = Effect.fnUntraced(function* (runId: RunId) {
        while (true) {
          const head = yield* read(runId, false)
          if (head === undefined) return undefined
          if (!isTerminal(head.status)) return "open" as const
          const found = yield* currentSeal(runId, head)
          if (found !== undefined) return found
          const chain = head.isTrusted
            ? { index: head.lastIndex, chain: head.chain }
            : yield* computed(runId, head.version)
          const seal = yield* store(runId, chain)
          if (seal !== undefined) {
            if (seal.keyId !== null && seal.late === true) yield* doubted(seal)
            return seal
          }
          // A concurrent deletion removes events too, but also the run.
          if (chain.index < head.lastIndex && (yield* read(runId, false)) !== undefined) {
            yield* Effect.logError(
              `run ${runId} has ${head.lastIndex} events, its log lacks event ${chain.index + 1} or has another one`
            )
            return "damaged" as const
          }
        }
      })

      const doubted = (seal: Seal) =>
        Effect.suspend(() => {
          sealDoubted("late")
          return Effect.logError(`run ${seal.runId}: ${doubtsOf(seal).join("; ")}`)
        })

      const sealed = Effect.fn("RunSeals.sealed")(function* (runId: RunId) {
        const head = yield* read(runId, false)
        if (head === undefined) return undefined
        if (!isTerminal(head.status)) return "open" as const
        return (yield* currentSeal(runId, head)) ?? (yield* lateSeals.withPermits(1)(sealLate(runId)))
      })

      const before = Effect.fn("RunSeals.before")((seal: Seal, limit: number) =>
        Effect.map(
          sql<{ readonly seal: string }>`
            SELECT seal::text AS seal FROM run_seals
            WHERE run_id = ${seal.runId}::uuid AND events < ${seal.events} ORDER BY events DESC LIMIT ${limit}`,
          (rows) => rows.map((row) => readStoredSeal(row.seal)).filter((earlier) => earlier !== undefined)
        )
      )
      return RunSeals.of({ sealed, before, signer: current })
    })
  )
}

interface HeadRow extends ProofRow {
  readonly status: RunStatus
}

type Head = ReturnType<typeof toHead>

const toHead = (runId: RunId, row: HeadRow, key: SealKey | undefined) => {
  const end = chainedEnd(runId, row)
  const isOurs = key === undefined ? undefined : isVouched(key, end)
  // Where no MAC vouches for the chain, it is computed from the events.
  const isTrusted = isOurs !== false && row.chain_head !== null
  return { ...end, status: row.status, isVouched: isOurs === true, isTrusted }
}
