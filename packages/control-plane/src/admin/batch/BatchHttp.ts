import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { exportAnswer } from "../../queries/insights/InsightsHttp.ts"
import { RunExports } from "../../queries/insights/RunExports.ts"
import { BatchRuns } from "./BatchRuns.ts"

/** The `batch` group (docs/reference/http.md#batch). */
export const BatchHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "batch",
  Effect.fn(function* (handlers) {
    const batch = yield* BatchRuns
    const exports = yield* RunExports
    return handlers.handleAll({
      cancel: ({ payload }) => asCaller((caller) => batch.cancel(payload.runIds, caller)),
      archive: ({ payload }) => asCaller((caller) => batch.archive(payload.runIds, caller)),
      remove: ({ payload }) => asCaller((caller) => batch.remove(payload.runIds, caller)),
      export: ({ payload }) =>
        asCaller((caller) =>
          Effect.map(exports.many(payload.runIds, caller), (text) => exportAnswer(text, "application/json", 201))
        )
    })
  })
)
