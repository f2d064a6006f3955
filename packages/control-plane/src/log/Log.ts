import * as Layer from "effect/Layer"
import { AppendQueue } from "./AppendQueue.ts"
import { DatabaseClock } from "./DatabaseClock.ts"
import { EventLog } from "./EventLog.ts"
import { EventRepository } from "./EventRepository.ts"
import { FrameBudget } from "./FrameBudget.ts"
import { FramePreparation } from "./FramePreparation.ts"
import { Ids } from "./Ids.ts"
import { LiveEvents } from "./LiveEvents.ts"
import { LogRows } from "./LogRows.ts"
import { Pace } from "./Pace.ts"
import { ProjectionCache } from "./ProjectionCache.ts"
import { RunStates } from "./RunStates.ts"
import { ArtifactRepository } from "./runs/ArtifactRepository.ts"
import { RunDocuments } from "./runs/RunDocuments.ts"
import { RunEnds } from "./runs/RunEnds.ts"
import { RunList } from "./runs/RunList.ts"
import { RunRepository } from "./runs/RunRepository.ts"
import { RunTraces } from "./runs/RunTraces.ts"
import { RunUpkeep } from "./runs/RunUpkeep.ts"
import { LateSeals } from "./seal/LateSeals.ts"
import { RunSeals } from "./seal/RunSeals.ts"
import { Watermark } from "./Watermark.ts"

/** The log by another clock than the database's. */
export const layerBy = <E, R>(clock: Layer.Layer<DatabaseClock, E, R>) =>
  Layer.mergeAll(EventLog.layer, RunEnds.layer, RunStates.layer).pipe(
    Layer.provideMerge(FramePreparation.layer),
    Layer.provide(ProjectionCache.layer),
    Layer.provide([LateSeals.layer, LogRows.layer]),
    Layer.provideMerge(RunSeals.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        AppendQueue.layer,
        ArtifactRepository.layer,
        EventRepository.layer,
        FrameBudget.layer,
        Ids.layer,
        LiveEvents.layer,
        RunDocuments.layer,
        RunList.layer,
        RunRepository.layer,
        RunTraces.layer,
        RunUpkeep.layer,
        Watermark.layer
      ).pipe(Layer.provideMerge(Pace.layer))
    ),
    Layer.provideMerge(clock)
  )

/**
 * The log with its readers and the rows of runs. Wants the database, the normaliser, the key that seals and the
 * reactors from its surroundings.
 */
export const layer = layerBy(DatabaseClock.layer)
