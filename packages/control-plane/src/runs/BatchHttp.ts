import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { currentCaller } from "../http/CurrentCaller.ts"
import { exportAnswer } from "../insights/ExportAnswer.ts"
import { RunExports } from "../insights/RunExports.ts"
import { BatchRuns } from "./BatchRuns.ts"

/** The `batch` group (http-details section 4.8). */
export const BatchHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "batch",
  Effect.fn(function* (handlers) {
    const batch = yield* BatchRuns
    const exports = yield* RunExports
    return handlers.handleAll({
      cancel: ({ payload }) => Effect.flatMap(currentCaller, (caller) => batch.cancel(payload.runIds, caller)),
      archive: ({ payload }) => Effect.flatMap(currentCaller, (caller) => batch.archive(payload.runIds, caller)),
      remove: ({ payload }) => Effect.flatMap(currentCaller, (caller) => batch.remove(payload.runIds, caller)),
      export: ({ payload }) =>
        Effect.map(exports.many(payload.runIds), (text) => exportAnswer(text, "application/json", 201))
    })
  })
)
