import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

export const Query = HttpApiBuilder.group(ControlPlaneApi, "query", (handlers) =>
  handlers.handle("fields", ({ query }) => Effect.succeed({ resource: query.resource, fields: [] }))
)

const view = {
  id: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10",
  name: "Failed",
  resource: "runs",
  q: "status:failed",
  columns: [],
  owner: "key:5e884898",
  readOnly: false
} as const

export const Views = HttpApiBuilder.group(ControlPlaneApi, "views", (handlers) =>
  handlers.handleAll({
    list: () => Effect.succeed([]),
    create: () => Effect.succeed(view),
    update: () => Effect.succeed(view),
    remove: () => Effect.void
  })
)

export const Pricing = HttpApiBuilder.group(ControlPlaneApi, "pricing", (handlers) =>
  handlers.handleAll({
    price: () => Effect.succeed({ costBasis: "fallback", input: 1, output: 3 } as const),
    unknown: () =>
      Effect.succeed({
        since: "2026-07-01T00:00:00.000Z",
        calls: 0,
        estimatedCostUsd: 0,
        guessedCostUsd: 0,
        isPartial: false,
        models: []
      }),
    calls: () => Effect.succeed({ since: "2026-07-01T00:00:00.000Z", calls: 0, groups: [] })
  })
)
