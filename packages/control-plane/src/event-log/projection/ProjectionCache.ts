/**
 * Without this: each append reads the stored projection of its run, so one event of a run of 500 takes 3.0 ms instead
 * of 2.1 (docs/internals/scale.md); costs `PROJECTION_CACHE_BYTES` of memory.
 */
import { emptyRunMetrics, emptyRunState, measure, project, RunId, type RunState } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import { forever } from "../../platform/loop/Forever.ts"
import { ErasedRuns } from "../ErasedRuns.ts"
import { EventRepository } from "../EventRepository.ts"
import { makeByteCache } from "./ByteCache.ts"
import { type Checkpoint, NO_CHECKPOINT, readMetrics, readState } from "./Checkpoint.ts"
import { ProjectionRows, type StoredProjection } from "./ProjectionRows.ts"
import { ProjectionSettings } from "./ProjectionSettings.ts"
import { beginning, foldOn, type Projected, prefixOf } from "./ReplayLog.ts"

/** About the memory of a parsed state for each byte of its text, and of an entry besides. */
const BYTES_PER_TEXT_BYTE = 3
const ENTRY_BYTES = 2_000

/** Beyond this share of the bytes, entries without a write for this time are removed. Milliseconds. */
const SPARE_SHARE = 4
const REMEMBERED_MS = 30_000
/** The interval of that check. Milliseconds. */
const CHECK_MS = 5_000

const NO_PARTICIPANTS: ReadonlySet<string> = new Set()

/** The declared and seen participants of a state. */
export const participantsOf = (state: RunState): Set<string> =>
  new Set(state.participants.map(({ participantId }) => participantId))

/** The run, its last event, and how often the projection has been rebuilt. */
export interface CacheKey {
  readonly runId: RunId
  readonly lastSeq: number
  readonly revision: number
}

/** A projection at the end of its run's log. */
export interface RememberedRun {
  readonly projected: Projected
  readonly checkpoint: Checkpoint
  /** About how long the state is as text. */
  readonly stateBytes: number
  /** Declared or seen. */
  readonly participants: ReadonlySet<string>
}

/** The position of a run that the calling transaction has locked. */
export interface LockedProjection {
  readonly run: { readonly id: RunId }
  readonly lastSeq: number
}

interface Remembered {
  readonly at: CacheKey
  readonly run: RememberedRun
  readonly putAt: number
}

/**
 * The projections of the runs that were written last, within a number of bytes, of which quiet runs have a quarter. An
 * entry is used only when it has exactly the seq and revision of the run's head, so an append of another process, or a
 * rebuild, makes it stale without a notification.
 */
export class ProjectionCache extends Context.Service<
  ProjectionCache,
  {
    readonly get: (head: CacheKey) => RememberedRun | undefined
    /** The run's participants as last seen by this process; empty when it does not remember the run. */
    readonly participants: (runId: RunId) => ReadonlySet<string>
    readonly put: (head: CacheKey, run: RememberedRun) => void
    /** For ended runs, which have few further appends. */
    readonly forget: (runId: RunId) => void
    /**
     * Reads the stored projections of locked runs and folds the events after them. A missing or too large one is folded
     * from the first event.
     */
    readonly load: (
      heads: ReadonlyArray<LockedProjection>
    ) => Effect.Effect<ReadonlyMap<string, RememberedRun>, SqlError>
  }
>()("runplane/control-plane/ProjectionCache") {
  static readonly layer = Layer.effect(
    ProjectionCache,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const projections = yield* ProjectionRows
      const { cacheBytes } = yield* ProjectionSettings
      const clock = yield* Clock.Clock
      const entries = makeByteCache<RunId, Remembered>(cacheBytes)
      yield* (yield* ErasedRuns).listen((runId) => entries.forget(RunId.make(runId)))

      const get = ({ lastSeq, revision, runId }: CacheKey) => {
        const entry = entries.get(runId)
        return entry?.at.lastSeq === lastSeq && entry.at.revision === revision ? entry.run : undefined
      }
      const participants = (runId: RunId) => entries.get(runId)?.run.participants ?? NO_PARTICIPANTS
      const put = (at: CacheKey, run: RememberedRun) =>
        entries.put(
          at.runId,
          { at, run, putAt: clock.currentTimeMillisUnsafe() },
          run.stateBytes * BYTES_PER_TEXT_BYTE + ENTRY_BYTES
        )

      /** The oldest entries come first. */
      const forgetQuiet = () => {
        const before = clock.currentTimeMillisUnsafe() - REMEMBERED_MS
        for (const { at, putAt } of entries.values()) {
          if (putAt > before || entries.bytes() <= cacheBytes / SPARE_SHARE) return
          entries.forget(at.runId)
        }
      }
      yield* Effect.forkScoped(
        forever("projection-cache", Effect.sync(forgetQuiet), { every: CHECK_MS, first: CHECK_MS })
      )

      const fold = Effect.fnUntraced(function* (
        { lastSeq, run: { id } }: LockedProjection,
        row: Omit<StoredProjection, "run_id">
      ) {
        const stored = readState(row.state)
        if (Option.isNone(stored)) yield* Effect.logWarning(`the projection of run ${id} is made anew from its events`)
        const begin = prefixOf(Option.getOrElse(stored, () => emptyRunState(id)))
        const { folded: state } = yield* foldOn(events, id, begin, project, lastSeq)
        // The counters are stored with every append, so they do not lag.
        const counted = readMetrics(row.metrics)
        const metrics = Option.isSome(counted)
          ? counted.value
          : (yield* foldOn(events, id, beginning(emptyRunMetrics(id)), measure, lastSeq)).folded
        return {
          projected: { state, metrics },
          checkpoint: NO_CHECKPOINT,
          stateBytes: row.state?.length ?? 0,
          participants: participantsOf(state)
        }
      })

      const load = Effect.fnUntraced(function* (heads: ReadonlyArray<LockedProjection>) {
        const rows = yield* projections.load(heads.map(({ run }) => run.id))
        const stored = new Map(rows.map((row) => [row.run_id, row]))
        const loaded = new Map<string, RememberedRun>()
        for (const head of heads) {
          loaded.set(head.run.id, yield* fold(head, stored.get(head.run.id) ?? { state: null, metrics: null }))
        }
        return loaded
      })
      return ProjectionCache.of({ get, participants, put, forget: entries.forget, load })
    })
  )
}
