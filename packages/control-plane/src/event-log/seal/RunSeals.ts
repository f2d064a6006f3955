import * as PgClient from "@effect/sql-pg/PgClient"
import {
  doubtsOf,
  isTerminal,
  isUnchecked,
  makeSeal,
  type RunId,
  type RunStatus,
  Seal,
  type Signer
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { insertPending, pendingSeal } from "../../platform/ledger/PendingEntries.ts"
import { type SealKey, SealKeys } from "../../platform/ledger/SealKeys.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { EventRepository } from "../EventRepository.ts"
import { emptyChain, extendChain } from "./HashChain.ts"
import { type ChainedEnd, framesOf, headMac, isVouched, type ProofRow, sealedFrames, unproven } from "./HeadProof.ts"

/** Chains that are brought up to date at a time; the others wait. */
const CATCHING_UP = 2
/** Events read at a time for that. */
const EVENTS_PER_READ = 500
/** Milliseconds. */
const PUBLISH_AGAIN_MS = 5_000
/** How long the published keys are answered without looking again. Milliseconds. */
const KEYS_KEPT_MS = 2_000

/** A public key that has sealed. */
export interface PublishedKey {
  readonly keyId: string
  /** Its 32 bytes, base64url. */
  readonly publicKey: string
  readonly firstUsedAt: string
}

/**
 * The seals of runs (docs/reference/seal.md). The append seals a run that ends; here is what it cannot do: the chain of
 * a run with events of a release that knew of no chain is computed from their stored texts, once, and sealed then.
 */
export class RunSeals extends Context.Service<
  RunSeals,
  {
    /**
     * The seal over all events of an ended run, made now when the append could not make it. `"open"` while the run goes
     * on, `"damaged"` when the log lacks events that its head says it has, undefined when there is no such run.
     */
    readonly sealed: (runId: RunId) => Effect.Effect<Seal | "open" | "damaged" | undefined, SqlError>
    /** The newest `limit` of the seals that cover fewer events, newest first. */
    readonly before: (seal: Seal, limit: number) => Effect.Effect<ReadonlyArray<Seal>, SqlError>
    /** Signs in this process; undefined without a key. */
    readonly signer: Signer | undefined
    /** Every key that has ever sealed, the newest first. */
    readonly keys: Effect.Effect<ReadonlyArray<PublishedKey>, SqlError>
  }
>()("runplane/control-plane/RunSeals") {
  /** Publishes the public half of this process's key, as soon as the database takes it. */
  static readonly layer = Layer.effect(
    RunSeals,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* DatabaseClock
      const events = yield* EventRepository
      const { current } = yield* SealKeys
      const { sealDoubted } = yield* Metrics
      const turns = yield* Semaphore.make(CATCHING_UP)

      const publish =
        current === undefined
          ? Effect.void
          : Effect.asVoid(sql`
              INSERT INTO seal_keys (key_id, public_key) VALUES (${current.keyId}, ${current.publicKey})
              ON CONFLICT (key_id) DO NOTHING`)
      // Whoever verifies a seal needs its key, also when nobody has asked for it before the next key came.
      yield* Effect.forkScoped(Effect.retry(publish, Schedule.spaced(PUBLISH_AGAIN_MS)))

      const read = Effect.fnUntraced(function* (runId: RunId, lock: boolean) {
        const [row] = yield* sql<HeadRow>`
          SELECT r.status, h.last_index, h.last_raw_seq, h.chain_index, encode(h.chain_head, 'hex') AS chain_head,
                 h.sealed_index, encode(h.sealed_head, 'hex') AS sealed_head, h.proven_after, h.frames_after,
                 h.frames_index, encode(h.frames_head, 'hex') AS frames_head, encode(h.head_mac, 'hex') AS head_mac
          FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = ${runId}::uuid
          ${lock ? sql`FOR NO KEY UPDATE OF r, h` : sql``}`
        return row && toHead(runId, row, current)
      })

      const sealAt = Effect.fnUntraced(function* (runId: RunId, events: number) {
        const [row] = yield* sql<{ readonly seal: string }>`
          SELECT seal::text AS seal FROM run_seals WHERE run_id = ${runId}::uuid AND events = ${events}`
        return row && decodeSeal(row.seal)
      })

      /**
       * The stored seal over all events of a run. One that this key signed counts only when the head is the one that
       * this key wrote with it.
       */
      const standing = Effect.fnUntraced(function* (runId: RunId, head: Head) {
        if (head.sealed?.events !== head.lastIndex) return undefined
        const seal = yield* sealAt(runId, head.lastIndex)
        if (seal === undefined || seal.keyId !== current?.keyId || current === undefined || isUnchecked(seal))
          return seal
        return head.isVouched && seal.head === head.sealed.head ? seal : undefined
      })

      /** Extends a chain by what the log has beyond it, a bounded piece at a time. */
      const extended = Effect.fnUntraced(function* (runId: RunId, from: Chain) {
        const [at] = yield* sql<{ readonly seq: bigint }>`
          SELECT seq FROM canonical_events WHERE run_id = ${runId}::uuid AND index = ${from.index}`
        let afterSeq = Number(at?.seq ?? 0n)
        let { head, index } = from
        while (true) {
          const slice = yield* events.slice(runId, { afterSeq }, EVENTS_PER_READ)
          for (const event of slice.events) {
            if (event.index !== index + 1) return { head, index }
            head = extendChain(head, event.json)
            index = event.index
            afterSeq = event.seq
          }
          if (slice.isLast) return { head, index }
        }
      })

      /**
       * Makes a late seal over the chain that was computed, and stores it; undefined when the log has moved on
       * meanwhile. Where another seal is stored for the same events, which does not count, that one stays.
       */
      const store = Effect.fnUntraced(function* (runId: RunId, chain: Chain) {
        const now = yield* read(runId, true)
        if (now === undefined || !isTerminal(now.status)) return undefined
        const seal = yield* standing(runId, now)
        if (seal !== undefined) return seal
        if (now.lastIndex !== chain.index) return undefined
        const sealedAt = new Date(yield* clock.now).toISOString()
        const end = { ...(now.isVouched ? now : unproven(now)), chain: chain.head }
        const draft = {
          runId,
          events: chain.index,
          head: chain.head,
          sealedAt,
          late: true,
          provenAfter: end.provenAfter,
          frames: now.isVouched ? sealedFrames(now.frames) : null
        }
        const previous = now.sealed !== null && now.sealed.events < chain.index ? now.sealed : undefined
        const late = makeSeal({ ...draft, ...(previous !== undefined && { previous }) }, current)
        const stored = yield* sql`
          INSERT INTO run_seals (run_id, events, seal)
          VALUES (${runId}::uuid, ${chain.index}, ${JSON.stringify(late)}::text::json)
          ON CONFLICT (run_id, events) DO NOTHING RETURNING events`
        if (stored.length > 0) {
          yield* insertPending(sql, [pendingSeal(current, late)])
          const mac = headMac(current, { ...end, sealed: late })
          yield* sql`
            UPDATE run_heads SET chain_index = ${chain.index}, chain_head = decode(${late.head}, 'hex'),
                                 sealed_index = ${chain.index}, sealed_head = decode(${late.head}, 'hex'),
                                 proven_after = ${end.provenAfter}, frames_after = ${end.frames.after},
                                 frames_index = ${end.frames.last},
                                 frames_head = decode(${Hex.encode(end.frames.head)}, 'hex'),
                                 head_mac = decode(nullif(${mac}, ''), 'hex')
            WHERE run_id = ${runId}::uuid`
        }
        return late
      }, sql.withTransaction)

      const catchUp = Effect.fnUntraced(function* (runId: RunId) {
        while (true) {
          const head = yield* read(runId, false)
          if (head === undefined) return undefined
          if (!isTerminal(head.status)) return "open" as const
          const found = yield* standing(runId, head)
          if (found !== undefined) return found
          const chain = yield* extended(runId, head.known)
          const seal = yield* store(runId, chain)
          if (seal !== undefined) {
            if (seal.keyId !== null && seal.late === true) yield* doubted(seal)
            return seal
          }
          // Only a deletion under way, or damage, looks like that.
          if (chain.index < head.lastIndex && (yield* read(runId, false)) !== undefined) {
            yield* Effect.logError(`run ${runId} has ${head.lastIndex} events, its log lacks event ${chain.index + 1}`)
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
        return (yield* standing(runId, head)) ?? (yield* turns.withPermits(1)(catchUp(runId)))
      })

      const before = Effect.fn("RunSeals.before")((seal: Seal, limit: number) =>
        Effect.map(
          sql<{ readonly seal: string }>`
            SELECT seal::text AS seal FROM run_seals
            WHERE run_id = ${seal.runId}::uuid AND events < ${seal.events} ORDER BY events DESC LIMIT ${limit}`,
          (rows) => rows.map((row) => decodeSeal(row.seal))
        )
      )
      const readKeys = Effect.gen(function* () {
        yield* publish
        const rows = yield* sql<KeyRow>`
          SELECT key_id, public_key, first_used_at FROM seal_keys ORDER BY first_used_at DESC, key_id`
        return rows.map((row) => ({
          keyId: row.key_id,
          publicKey: row.public_key,
          firstUsedAt: row.first_used_at.toISOString()
        }))
      }).pipe(Effect.withSpan("RunSeals.keys"))
      // Anybody may ask.
      const keys = yield* Effect.cachedWithTTL(readKeys, KEYS_KEPT_MS)
      return RunSeals.of({ sealed, before, signer: current, keys })
    })
  )
}

interface KeyRow {
  readonly key_id: string
  readonly public_key: string
  readonly first_used_at: Date
}

/** How far a chain reaches. */
interface Chain {
  readonly index: number
  readonly head: Uint8Array
}

interface HeadRow extends ProofRow {
  readonly status: RunStatus
  readonly chain_index: number
  readonly chain_head: string | null
}

type Head = ReturnType<typeof toHead>

const decodeSeal = Schema.decodeUnknownSync(Schema.fromJsonString(Seal))

const toHead = (runId: RunId, row: HeadRow, key: SealKey | undefined) => {
  const stored = {
    index: row.chain_index,
    head: row.chain_head === null ? emptyChain(runId) : Buffer.from(row.chain_head, "hex")
  }
  const end: ChainedEnd = {
    runId,
    lastIndex: row.last_index,
    chain: stored.index === row.last_index ? stored.head : undefined,
    frames: framesOf(runId, row),
    provenAfter: row.proven_after,
    sealed: row.sealed_head === null ? null : { events: row.sealed_index, head: row.sealed_head }
  }
  const isOurs = key === undefined ? undefined : isVouched(key, end, row.head_mac)
  // A chain that no MAC vouches for is computed anew from the events.
  const known: Chain = isOurs === false || row.chain_head === null ? { index: 0, head: emptyChain(runId) } : stored
  return { ...end, status: row.status, isVouched: isOurs === true, known }
}
