import * as Layer from "effect/Layer"
import { ExportRepository } from "../insights/ExportRepository.ts"
import { Insights } from "../insights/Insights.ts"
import { ProjectionRebuild } from "../insights/ProjectionRebuild.ts"
import { RunExports } from "../insights/RunExports.ts"
import { ArtifactRepository } from "./ArtifactRepository.ts"
import { BatchRuns } from "./BatchRuns.ts"
import { RunDocuments } from "./RunDocuments.ts"
import { RunManagement } from "./RunManagement.ts"
import { Runs } from "./Runs.ts"
import { RunUpkeep } from "./RunUpkeep.ts"

/** What can be done with runs beside their life-cycle, to be built within `layerCapabilities`. */
export const layerRunCapabilities = Layer.mergeAll(
  BatchRuns.layerNoDeps,
  Insights.layerNoDeps,
  ProjectionRebuild.layerNoDeps,
  RunExports.layerNoDeps
).pipe(
  Layer.provideMerge(RunManagement.layerNoDeps),
  Layer.provide([ExportRepository.layerNoDeps, Runs.layerNoDeps]),
  Layer.provideMerge(Layer.mergeAll(ArtifactRepository.layer, RunUpkeep.layer)),
  Layer.provide(RunDocuments.layer)
)
