import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { MAX_CHECKPOINT_BYTES } from "./Checkpoint.ts"

/** The stored projection of a run as texts; null when the row or the value is absent, or the state is too large. */
export interface StoredProjection {
  readonly run_id: string
  readonly state: string | null
  readonly metrics: string | null
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const load = (runIds: ReadonlyArray<RunId>) =>
    sql<StoredProjection>`
      SELECT h.run_id::text AS run_id, m.metrics::text AS metrics,
             CASE WHEN octet_length(p.state::text) <= ${MAX_CHECKPOINT_BYTES} THEN p.state::text END AS state
      FROM run_heads h LEFT JOIN projections p USING (run_id) LEFT JOIN run_metrics m USING (run_id)
      WHERE h.run_id = ANY(${runIds}::text[]::uuid[])`
  return { load } as const
})

/** Reads the stored projections of runs; fails with the database's `SqlError`. */
export class ProjectionRows extends Context.Service<ProjectionRows, Effect.Success<typeof make>>()(
  "runplane/control-plane/ProjectionRows"
) {
  static readonly layer = Layer.effect(ProjectionRows, make)
}
