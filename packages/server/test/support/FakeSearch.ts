import { type AlertBudget, ControlPlaneApi, tooFewRuns } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

export const Query = HttpApiBuilder.group(ControlPlaneApi, "query", (handlers) =>
  handlers.handleAll({
    fields: ({ query }) => Effect.succeed({ resource: query.resource, fields: [] }),
    facets: () => Effect.succeed({ total: 0, facets: [] })
  })
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

const mark = {
  id: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10",
  runId: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10",
  target: { kind: "run" },
  name: "quality",
  value: 1,
  source: "human",
  author: "key:5e884898",
  createdAt: "2026-07-01T10:00:00.000Z"
} as const
const definition = { name: "quality", kind: "number", reserved: false } as const

export const Marks = HttpApiBuilder.group(ControlPlaneApi, "marks", (handlers) =>
  handlers.handleAll({
    add: () => Effect.succeed(mark),
    list: () => Effect.succeed({ data: [mark], total: 1, limit: 100, offset: 0 }),
    remove: () => Effect.void,
    definitions: () => Effect.succeed([definition]),
    definition: () => Effect.succeed(definition),
    define: () => Effect.succeed(definition),
    undefine: () => Effect.void
  })
)

const perRun = { per: "run", window: "run", measure: "costUsd" } as const
const alertRule = {
  ...{ id: "r", name: "r", enabled: true, match: "", zone: "UTC", ...perRun },
  levels: [],
  createdAt: "2026-07-01T10:00:00.000Z",
  updatedAt: "2026-07-01T10:00:00.000Z"
} as const
const alert = {
  ...{ id: "f", ruleId: "r", ruleName: "r", ...perRun, key: "k", period: "k", level: 0, at: 1, value: 1 },
  severity: "info",
  status: "open",
  startsAt: "2026-07-01T10:00:00.000Z",
  silenced: false
} as const
const silence = {
  ...{ id: "s", match: "", until: "2026-07-01T10:00:00.000Z", reason: "test", author: "a" },
  createdAt: "2026-07-01T10:00:00.000Z"
}
const budget: AlertBudget = {
  ...{ ruleId: "r", name: "r", measure: "costUsd", per: "all", window: "day", key: "all", period: "2026-07-01" },
  ...{ startsAt: "2026-07-01T00:00:00.000Z", endsAt: "2026-07-02T00:00:00.000Z", spent: 0, reserved: 0 },
  levels: [{ at: 1, severity: "info" }]
}
const tested = { since: alert.startsAt, until: alert.startsAt, events: 0, complete: true, firings: [alert] }
const alertPage = { data: [alert], total: 1, limit: 100, offset: 0, lagMs: 0 }

export const Alerts = HttpApiBuilder.group(ControlPlaneApi, "alerts", (handlers) =>
  handlers.handleAll({
    rules: () => Effect.succeed([alertRule]),
    addRule: () => Effect.succeed(alertRule),
    rule: () => Effect.succeed(alertRule),
    putRule: () => Effect.succeed(alertRule),
    removeRule: () => Effect.void,
    testRule: () => Effect.succeed(tested),
    tryRule: () => Effect.succeed(tested),
    budgets: () => Effect.succeed([budget]),
    silences: () => Effect.succeed([silence]),
    addSilence: () => Effect.succeed(silence),
    removeSilence: () => Effect.void,
    list: () => Effect.succeed(alertPage),
    ofRun: () => Effect.succeed(alertPage),
    get: () => Effect.succeed(alert),
    acknowledge: () => Effect.succeed(alert)
  })
)

export const Prices = HttpApiBuilder.group(ControlPlaneApi, "prices", (handlers) =>
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
    models: () => Effect.succeed({ since: "2026-07-01T00:00:00.000Z", isPartial: false, models: [] }),
    calls: () => Effect.succeed({ since: "2026-07-01T00:00:00.000Z", calls: 0, groups: [] })
  })
)

export const MarkReports = HttpApiBuilder.group(ControlPlaneApi, "markReports", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => Effect.succeed({ data: [], total: 0, limit: query.limit, offset: query.offset }),
    agreement: () => Effect.succeed({ data: [], truncated: false }),
    records: () => Effect.succeed({ data: [], examined: 0, truncated: false }),
    record: ({ params }) =>
      Effect.succeed({
        participantId: params.participantId,
        examined: 0,
        runs: 0,
        withOutcome: 0,
        judged: 0,
        right: 0,
        againstMajority: 0,
        rightAgainstMajority: 0,
        pivotal: 0,
        reliability: [],
        costUsd: 0,
        guessedCostUsd: 0,
        truncated: false
      })
  })
)

/** Committees without runs. */
export const Committees = HttpApiBuilder.group(ControlPlaneApi, "committees", (handlers) => {
  const none = () => Effect.succeed({ data: [], truncated: false, waiting: 0 })
  return handlers.handleAll({
    independence: none,
    seats: none,
    search: () => Effect.fail(tooFewRuns({ cases: 0, needed: 149, missing: 149 }))
  })
})
