import {
  type AgentMetrics,
  type BadRequest,
  badRequest,
  ControlPlaneApi,
  type DashboardOverview,
  type DashboardQuery
} from "@runplane/api"
import { streamReadsAt } from "@runplane/database"
import { ControlPlaneSettings, makeFairTurns, readSetting, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { RuntimeHealth } from "../../platform/http/RuntimeHealth.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import { DashboardRepository } from "./DashboardRepository.ts"
import { chartsOf, kpisOf, scenariosOf, trendsOf } from "./Overview.ts"
import { dashboardWindow } from "./WindowParts.ts"

/** The `dashboard` group (docs/reference/search.md#dashboard-figures). */
export const DashboardHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "dashboard",
  Effect.fnUntraced(function* (handlers) {
    const dashboard = yield* Dashboard

    return handlers.handleAll({
      overview: ({ query }) => orUnavailable(dashboard.overview(query)),
      // The rows are ours, and may be ten thousand: they are not encoded with the schema again.
      agents: () => orUnavailable(Effect.map(dashboard.agents, (agents) => HttpServerResponse.jsonUnsafe(agents)))
    })
  })
)

/** The health of the runtime is read at most this often, for all dashboards. */
const RUNTIME_HEALTH_TTL = "1 second"

/** Aggregates over runs (docs/reference/search.md#dashboard-figures). */
export class Dashboard extends Context.Service<
  Dashboard,
  {
    readonly overview: (query: DashboardQuery) => Effect.Effect<DashboardOverview, BadRequest | SqlError | TurnRefused>
    readonly agents: Effect.Effect<ReadonlyArray<AgentMetrics>, SqlError | TurnRefused>
  }
>()("runplane/control-plane/Dashboard") {
  static readonly layer = Layer.effect(
    Dashboard,
    Effect.gen(function* () {
      const clock = yield* DatabaseClock
      const repository = yield* DashboardRepository
      const health = yield* RuntimeHealth
      const turns = makeFairTurns("dashboard", streamReadsAt(yield* readSetting(ControlPlaneSettings.DB_POOL_MAX)))
      const runtimeHealth = yield* Effect.cachedWithTTL(health.check, RUNTIME_HEALTH_TTL)

      const read = Effect.fnUntraced(function* (query: DashboardQuery) {
        const window = dashboardWindow(query, yield* clock.now)
        if (window === undefined) return yield* badRequest("to must be after from")
        const { environment, scenarioRef } = query
        const filter = {
          ...(environment !== undefined && { environment }),
          ...(scenarioRef !== undefined && { scenarioRef })
        }
        const rows = yield* turns.run(repository.overview(window, filter))
        const runtime = yield* runtimeHealth
        return {
          kpis: kpisOf(rows),
          recentRuns: rows.recent,
          runtimeHealth: runtime,
          charts: chartsOf(rows),
          trends: trendsOf(rows),
          ...scenariosOf(rows)
        }
      })
      // Many screens request the same overview at a time; an error of one caller does not reach the others.
      const shared = yield* shareReads(read, (query, client) => `${client} ${JSON.stringify(query)}`)
      const overview = Effect.fn("Dashboard.overview")(shared)
      return Dashboard.of({ overview, agents: turns.run(repository.agents) })
    })
  )
}
