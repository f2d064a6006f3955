import * as Layer from "effect/Layer"
import { Ids } from "../platform/Ids.ts"
import { DatabaseClock } from "../platform/postgres/DatabaseClock.ts"
import { AppendQueue } from "./append/AppendQueue.ts"
import { BatchDelay } from "./append/BatchDelay.ts"
import { FrameBudget } from "./append/FrameBudget.ts"
import { InsertEvents } from "./append/InsertEvents.ts"
import { ErasedRuns } from "./ErasedRuns.ts"
import { EventLog } from "./EventLog.ts"
import { EventRepository } from "./EventRepository.ts"
import { ProjectionCache } from "./projection/ProjectionCache.ts"
import { ProjectionRows } from "./projection/ProjectionRows.ts"
import { RunStateReader } from "./projection/RunStateReader.ts"
import { AcceptedMessages } from "./runs/AcceptedMessages.ts"
import { ArtifactRepository } from "./runs/ArtifactRepository.ts"
import { RunAdministration } from "./runs/RunAdministration.ts"
import { RunEndWaiters } from "./runs/RunEndWaiters.ts"
import { RunRepository } from "./runs/RunRepository.ts"
import { RunTraces } from "./runs/RunTraces.ts"
import { PublishedKeys } from "./seal/PublishedKeys.ts"
import { RunErasures } from "./seal/RunErasures.ts"
import { RunSeals } from "./seal/RunSeals.ts"
import { LiveEvents } from "./subscribe/LiveEvents.ts"
import { Watermark } from "./subscribe/Watermark.ts"

/** The log by another clock than the database's. */
export const layerBy = <E, R>(clock: Layer.Layer<DatabaseClock, E, R>) =>
  Layer.mergeAll(EventLog.layer, RunEndWaiters.layer, RunStateReader.layer).pipe(
    Layer.provide(ProjectionCache.layer),
    Layer.provide([InsertEvents.layer, ProjectionRows.layer]),
    Layer.provideMerge(Layer.merge(RunSeals.layer, PublishedKeys.layer)),
    Layer.provideMerge(RunErasures.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        AppendQueue.layer,
        AcceptedMessages.layer,
        ArtifactRepository.layer,
        ErasedRuns.layer,
        EventRepository.layer,
        FrameBudget.layer,
        Ids.layer,
        LiveEvents.layer,
        RunRepository.layer,
        RunTraces.layer,
        RunAdministration.layer,
        Watermark.layer
      ).pipe(Layer.provideMerge(BatchDelay.layer))
    ),
    Layer.provideMerge(clock)
  )

/**
 * The log with its readers and the rows of runs. Wants the database, the normaliser, the key that seals and the
 * reactors from its surroundings.
 */
export const layer = layerBy(DatabaseClock.layer)
