import * as PgClient from "@effect/sql-pg/PgClient"
import { isTerminal } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Reactor } from "../../event-log/append/Reactors.ts"
import { forever, roundGoesOn } from "../../platform/loop/Forever.ts"

/** Pause between two folds. Each row that is not folded yet costs its readers some microseconds. Milliseconds. */
const FOLDING_INTERVAL_MS = 3_000
/** Changed runs that one transaction folds. */
const RUNS_PER_FOLDING = 5_000

/**
 * Keeps the sums over ended runs and over marks (docs/reference/events.md#tallies) close behind the log. Readers are
 * exact without it, only slower: they add the rows that the sums lack. All processes try, one at a time folds.
 */
export class RunTallies extends Context.Service<
  RunTallies,
  {
    /** Updates the sums to the committed rows. */
    readonly fold: Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/RunTallies") {
  static readonly layer = Layer.effect(
    RunTallies,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const foldSome = Effect.map(
        sql<{ readonly done: boolean }>`SELECT fold_tallies(${RUNS_PER_FOLDING}) AS done`,
        ([row]) => row?.done ?? true
      ).pipe(Effect.tap(roundGoesOn))
      const fold = Effect.asVoid(Effect.repeat(foldSome, { until: (done) => done })).pipe(
        Effect.withTracerEnabled(false)
      )
      yield* Effect.forkScoped(forever("run-tallies", fold, { every: FOLDING_INTERVAL_MS }))
      return RunTallies.of({ fold })
    })
  )
}

/**
 * Notes the ended runs that a late append changes: a signal with token usage, a second decision, a rebuild. A trigger
 * of the database notes the change that ends a run.
 */
export const makeLateChanges = Effect.map(
  PgClient.PgClient,
  (sql): Reactor => ({
    inTransaction: (appends) => {
      const late = appends.filter(({ change, state }) => change === undefined && isTerminal(state.run.status))
      if (late.length === 0) return []
      const ids = [...new Set(late.map(({ runId }) => runId))]
      return [sql`INSERT INTO tally_changes (run_id) SELECT unnest(${ids}::text[]::uuid[])`]
    }
  })
)
