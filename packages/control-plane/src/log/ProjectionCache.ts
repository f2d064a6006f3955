import type { RunId } from "@runplane/domain"
import { RunMetrics, RunState } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { LogRows } from "./LogRows.ts"
import type { Projected } from "./Projected.ts"

/** Runs whose projection stays in memory between appends. */
export const CACHED_RUNS = 1000

const parseJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/**
 * Checks a stored text without making a new value of it: decoding a struct would put its keys into the schema's order,
 * and what is folded on top would no longer be written as a rebuild writes it.
 */
const asStored = <A>(is: (value: unknown) => value is A, text: string) =>
  Effect.flatMap(Effect.orDie(parseJson(text)), (value) =>
    is(value) ? Effect.succeed(value) : Effect.die(new Error("a stored projection is not one"))
  )

const isState = Schema.is(RunState)
const isMetrics = Schema.is(RunMetrics)

/** The place of a projection: the run, its last event, and how often the projection has been rebuilt. */
export interface CacheKey {
  readonly runId: RunId
  readonly lastSeq: number
  readonly revision: number
}

/**
 * The projections of the runs that were written last. An entry is used only when it stands at the very seq and revision
 * that the locked head of the run names, so another instance's append, or a rebuild, makes it stale without anyone
 * telling.
 */
export class ProjectionCache extends Context.Service<
  ProjectionCache,
  {
    readonly get: (head: CacheKey) => Projected | undefined
    /** The run's participants as last seen by this process; empty when it does not remember the run. */
    readonly participants: (runId: RunId) => ReadonlySet<string>
    readonly put: (head: CacheKey, projected: Projected) => void
    /** Reads stored projections; a stored one that does not decode is a broken invariant and dies. */
    readonly load: (runIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Projected>, SqlError>
  }
>()("runplane/control-plane/ProjectionCache") {
  static readonly layer = Layer.effect(
    ProjectionCache,
    Effect.gen(function* () {
      const rows = yield* LogRows
      const entries = new Map<string, { readonly at: CacheKey; readonly projected: Projected }>()

      const get = ({ lastSeq, revision, runId }: CacheKey) => {
        const entry = entries.get(runId)
        return entry?.at.lastSeq === lastSeq && entry.at.revision === revision ? entry.projected : undefined
      }
      const participants = (runId: RunId) =>
        new Set(entries.get(runId)?.projected.state.participants.map((participant) => participant.participantId))
      const put = (at: CacheKey, projected: Projected) => {
        entries.delete(at.runId)
        entries.set(at.runId, { at, projected })
        if (entries.size <= CACHED_RUNS) return
        for (const oldest of entries.keys()) {
          entries.delete(oldest)
          break
        }
      }
      const load = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>) {
        const loaded = new Map<string, Projected>()
        for (const row of yield* rows.loadProjections(runIds)) {
          loaded.set(row.run_id, {
            state: yield* asStored(isState, row.state),
            metrics: yield* asStored(isMetrics, row.metrics)
          })
        }
        return loaded
      })
      return ProjectionCache.of({ get, participants, put, load })
    })
  )
}
