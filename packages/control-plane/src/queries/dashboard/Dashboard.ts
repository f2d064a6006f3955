import {
  type AgentMetrics,
  type BadRequest,
  badRequest,
  type DashboardOverview,
  type DashboardQuery
} from "@runplane/api"
import { ControlPlaneSettings, makeFairTurns, readSetting, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { RuntimeHealth } from "../../platform/http/RuntimeHealth.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { streamReadsAt } from "../../platform/postgres/PoolUse.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import { DashboardRepository } from "./DashboardRepository.ts"
import { dashboardWindow } from "./DashboardWindow.ts"
import { chartsOf, kpisOf, scenariosOf, trendsOf } from "./Overview.ts"

/** However many look at dashboards, the runtime is asked at most this often. */
const RUNTIME_HEALTH_TTL = "1 second"

/** Aggregates over runs (docs/reference/http.md#dashboard-figures). */
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
          scenarios: scenariosOf(rows)
        }
      })
      // A room full of screens asks for the same at the same time; a refusal concerns its own caller only.
      const shared = yield* shareReads(read, (query, client) => `${client} ${JSON.stringify(query)}`)
      const overview = Effect.fn("Dashboard.overview")(shared)
      return Dashboard.of({ overview, agents: turns.run(repository.agents) })
    })
  )
}
