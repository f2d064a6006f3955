import * as PgClient from "@effect/sql-pg/PgClient"
import { emptyRunState, type RunId, type RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"

/** Where a run's log ends, and what the run is at that point. */
export interface StreamHead {
  readonly status: RunStatus
  readonly lastSeq: number
  readonly lastIndex: number
}

export interface StreamSnapshot extends StreamHead {
  /** JSON text of the projected state. */
  readonly state: string
}

/** What a stream reads besides the events. Each answer is one statement, so its parts belong to one moment. */
export class StreamRepository extends Context.Service<
  StreamRepository,
  {
    readonly head: (runId: RunId) => Effect.Effect<StreamHead | undefined, SqlError>
    readonly snapshot: (runId: RunId) => Effect.Effect<StreamSnapshot | undefined, SqlError>
  }
>()("runplane/control-plane/StreamRepository") {
  static readonly layer = Layer.effect(
    StreamRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const head = Effect.fn("StreamRepository.head")((runId: RunId) =>
        Effect.map(
          sql<HeadRow>`
            SELECT r.status, h.last_seq, h.last_index FROM runs r JOIN run_heads h ON h.run_id = r.id
            WHERE r.id = ${runId}::uuid`,
          ([row]) => row && toHead(row)
        )
      )
      const snapshot = Effect.fn("StreamRepository.snapshot")((runId: RunId) =>
        Effect.map(
          sql<HeadRow & { readonly state: string | null }>`
            SELECT r.status, h.last_seq, h.last_index, p.state::text AS state
            FROM runs r JOIN run_heads h ON h.run_id = r.id LEFT JOIN projections p ON p.run_id = r.id
            WHERE r.id = ${runId}::uuid`,
          ([row]) => row && { ...toHead(row), state: row.state ?? JSON.stringify(emptyRunState(runId)) }
        )
      )
      return StreamRepository.of({ head, snapshot })
    })
  )
}

interface HeadRow {
  readonly status: RunStatus
  readonly last_seq: bigint
  readonly last_index: number
}

const toHead = (row: HeadRow): StreamHead => ({
  status: row.status,
  lastSeq: Number(row.last_seq),
  lastIndex: row.last_index
})
