import * as PgClient from "@effect/sql-pg/PgClient"
import { emptyRunState, isUuid, project, RunId, type RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import { batchedReads } from "../../platform/postgres/Batched.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { ErasedRuns } from "../ErasedRuns.ts"
import { EventRepository } from "../EventRepository.ts"
import { SESSION_ORDER } from "../SessionOrder.ts"
import { MAX_CHECKPOINT_BYTES, readState } from "./Checkpoint.ts"
import { ProjectionCache } from "./ProjectionCache.ts"
import { foldOn, prefixOf } from "./ReplayLog.ts"
import { makeStateTexts } from "./StateTexts.ts"

/** Most runs of one read, and the largest state that it reads. */
const BATCHED_RUNS = 32
const BATCHED_BYTES = 64 * 1024
/** Most reads of a run that is deleted and created again between them. */
const READS = 3

/** Where a run's log ends. */
export interface RunHead {
  readonly runId: RunId
  readonly status: RunStatus
  readonly lastSeq: number
  readonly lastIndex: number
  /** Raised by each rebuild and each erasure: what was made of the events before is not theirs any more. */
  readonly revision?: number
}

/** The end of a run's log, with the state there. */
export interface CurrentState extends RunHead {
  /** JSON text of the projected state. */
  readonly state: string
}

/**
 * The current states of runs, with every committed event. The stored projection may lag behind
 * (docs/reference/events.md#checkpoint): the events after it are folded here, unless this process has just written
 * them.
 */
export class RunStateReader extends Context.Service<
  RunStateReader,
  {
    /** By run id or session id; undefined for an unknown run. Inside a transaction too. */
    readonly current: (reference: string) => Effect.Effect<CurrentState | undefined, SqlError>
    /** All but the state, which costs more. */
    readonly head: (runId: RunId) => Effect.Effect<RunHead | undefined, SqlError>
  }
>()("runplane/control-plane/RunStateReader") {
  static readonly layer = Layer.effect(
    RunStateReader,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const cache = yield* ProjectionCache
      const events = yield* EventRepository
      const texts = makeStateTexts()
      yield* (yield* ErasedRuns).listen(texts.forget)

      /** The stored state of a run, by its id or session id. */
      const readOne = (reference: string) =>
        Effect.map(
          sql<StateRow>`
            SELECT r.id::text AS id, r.status, h.last_seq, h.last_index, h.projection_revision,
                   p.last_seq AS checkpoint_seq, false AS is_left_out,
                   CASE WHEN octet_length(p.state::text) <= ${MAX_CHECKPOINT_BYTES} THEN p.state::text END AS state
            FROM runs r JOIN run_heads h ON h.run_id = r.id LEFT JOIN projections p ON p.run_id = r.id
            WHERE ${isUuid(reference) ? sql`r.id = ${reference}::uuid` : sql`r.runtime_session_id = ${reference}`}
            ${sql.literal(SESSION_ORDER)} LIMIT 1`,
          ([row]) => row
        )

      /** The same of many; large states are left out, and those that are known. */
      const readMany = (runIds: ReadonlyArray<string>) => {
        const cached = runIds.map((runId) => {
          const known = texts.get(runId)
          return { run_id: runId, last_seq: known?.lastSeq ?? -1, revision: known?.revision ?? -1 }
        })
        return Effect.map(
          sql<StateRow>`
            SELECT r.id::text AS id, r.status, h.last_seq, h.last_index, h.projection_revision,
                   p.last_seq AS checkpoint_seq, left_out.is_left_out,
                   CASE WHEN NOT left_out.is_left_out THEN p.state::text END AS state
            FROM ${unnestRows(sql, cached, { run_id: "uuid", last_seq: "bigint", revision: "int" })} AS cached
            JOIN runs r ON r.id = cached.run_id JOIN run_heads h ON h.run_id = r.id
            LEFT JOIN projections p ON p.run_id = r.id
            CROSS JOIN LATERAL (
              SELECT p.run_id IS NOT NULL AND (
                h.last_seq = cached.last_seq AND h.projection_revision = cached.revision
                OR octet_length(p.state::text) > ${BATCHED_BYTES}) AS is_left_out
            ) AS left_out`,
          (rows) => new Map(rows.map((row) => [row.id, row]))
        )
      }
      const batchedRow = batchedReads(sql, BATCHED_RUNS, readMany)

      const textOf = Effect.fnUntraced(function* (row: StateRow, { lastIndex, lastSeq, runId }: RunHead) {
        if (lastSeq === 0) return JSON.stringify(emptyRunState(runId))
        const revision = row.projection_revision
        const known = texts.get(runId)
        if (known?.lastSeq === lastSeq && known.revision === revision) return known.text
        const keep = (text: string) => {
          texts.put(runId, { lastSeq, revision, text }, text.length)
          return text
        }
        if (row.state !== null && row.checkpoint_seq === row.last_seq) return keep(row.state)
        let state = cache.get({ runId, lastSeq, revision })?.projected.state
        if (state === undefined) {
          if (row.is_left_out) return undefined
          const begin = prefixOf(Option.getOrElse(readState(row.state), () => emptyRunState(runId)))
          const end = yield* foldOn(events, runId, begin, project, lastSeq)
          if (end.lastIndex !== lastIndex) return undefined
          state = end.folded
        }
        return keep(JSON.stringify(state))
      })

      const current = Effect.fn("RunStateReader.current")(function* (reference: string) {
        // Only a transaction itself sees its rows.
        const transaction = yield* Effect.serviceOption(sql.transactionService)
        let isAlone = !isUuid(reference) || Option.isSome(transaction)
        for (let attempt = 0; attempt < READS; attempt++) {
          const row = yield* isAlone ? readOne(reference) : batchedRow(reference.toLowerCase())
          if (row === undefined) return undefined
          const head = toHead(row)
          const state = yield* textOf(row, head)
          if (state !== undefined) return { ...head, state }
          if (!isAlone) attempt -= 1
          isAlone = true
        }
        return yield* Effect.die(new Error(`the log of run ${reference} does not reach to where its head says`))
      })

      const head = Effect.fn("RunStateReader.head")((runId: RunId) =>
        Effect.map(
          sql<HeadRow>`
            SELECT r.id::text AS id, r.status, h.last_seq, h.last_index, h.projection_revision
            FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = ${runId}::uuid`,
          ([row]) => row && toHead(row)
        )
      )
      return RunStateReader.of({ current, head })
    })
  )
}

interface HeadRow {
  readonly id: string
  readonly status: RunStatus
  readonly last_seq: bigint
  readonly last_index: number
  readonly projection_revision: number
}

interface StateRow extends HeadRow {
  readonly checkpoint_seq: bigint | null
  /** Whether there is a state that was not read. */
  readonly is_left_out: boolean
  readonly state: string | null
}

const toHead = (row: HeadRow): RunHead => ({
  runId: RunId.make(row.id),
  status: row.status,
  lastSeq: Number(row.last_seq),
  lastIndex: row.last_index,
  revision: row.projection_revision
})
