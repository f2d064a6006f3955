import { ControlPlaneApi } from "@runplane/api"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

const ID = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const by = { by: "key:5e884898", reason: "request of the person" }
const erasure = {
  ...{ runId: RunId.make(ID), dryRun: true, plan: "0-0-", at: "2026-07-01T10:00:00.000Z", ...by },
  ...{ members: 0, erased: [], rows: [], remaining: 0, remains: [], pending: null, notReached: [] }
}
const job = {
  ...{ id: ID, dryRun: true, query: "", createdAt: "2026-07-01T10:00:00.000Z", ...by },
  state: "done",
  ...{ runs: 0, done: 0, matching: 0, erased: 0, members: 0, remaining: 0, leftOut: 0, runsLeftOut: [] },
  ...{ pendingFiles: 0, notReached: [] }
} as const

export const Erasures = HttpApiBuilder.group(ControlPlaneApi, "erasures", (handlers) =>
  handlers.handleAll({
    erase: () => Effect.succeed(erasure),
    eraseFromRuns: () => Effect.succeed(job),
    list: () => Effect.succeed({ data: [job] }),
    get: () => Effect.succeed(job)
  })
)
