import * as Layer from "effect/Layer"
import type { Feature } from "../../Feature.ts"
import { Ids } from "../../platform/Ids.ts"
import { makeErasureDeletion } from "./ErasureDeletion.ts"
import { ErasureJobs } from "./ErasureJobs.ts"
import * as ErasureLoop from "./ErasureLoop.ts"
import { ErasureNotices } from "./ErasureNotices.ts"
import { ErasuresHttp } from "./ErasuresHttp.ts"
import { TextErasures } from "./TextErasures.ts"

/** Erasure of single texts from runs whose seals stay valid (docs/reference/erasure.md). */
export const erasure = {
  name: "erasure",
  tables: ["erasure_jobs", "erasure_runs"],
  onRunsDeleted: makeErasureDeletion,
  layer: ErasureLoop.layer.pipe(
    Layer.provideMerge(Layer.merge(TextErasures.layer, ErasureJobs.layer)),
    Layer.provide([ErasureNotices.layer, Ids.layer])
  ),
  routes: ErasuresHttp
} satisfies Feature
