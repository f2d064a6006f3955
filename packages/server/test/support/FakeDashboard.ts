import { ControlPlaneApi } from "@runplane/api"
import { emptyRunState, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

const RUN_ID = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

const emptyStream = () => Effect.succeed(HttpServerResponse.text("", { contentType: "text/event-stream" }))

export const Replay = HttpApiBuilder.group(ControlPlaneApi, "replay", (handlers) =>
  handlers.handleAll({
    describe: ({ payload }) => Effect.succeed({ runId: RUN_ID, ...payload, streamUrl: "/stream", stateUrl: "/state" }),
    stream: emptyStream,
    state: () => Effect.succeed(emptyRunState(RUN_ID))
  })
)

export const AgUi = HttpApiBuilder.group(ControlPlaneApi, "agUi", (handlers) =>
  handlers.handleAll({ follow: emptyStream, run: emptyStream })
)

const chart = { labels: [], data: [] }

export const Dashboard = HttpApiBuilder.group(ControlPlaneApi, "dashboard", (handlers) =>
  handlers.handleAll({
    agents: () => Effect.succeed([]),
    overview: () =>
      Effect.succeed({
        kpis: {
          totalRuns: 0,
          activeRuns: 0,
          completedRuns: 0,
          failedRuns: 0,
          cancelledRuns: 0,
          suspendedRuns: 0,
          declinedRuns: 0,
          totalSignals: 0,
          totalTokens: 0,
          totalCostUsd: 0,
          avgDurationMs: null
        },
        recentRuns: [],
        runtimeHealth: { ok: true, runtimeKind: "rust" },
        charts: {
          runVolume: chart,
          latency: chart,
          signalVolume: chart,
          errorClasses: chart,
          throughput: chart,
          queueDepth: chart,
          latencyP50: chart,
          latencyP95: chart,
          latencyP99: chart,
          cost: chart,
          successRate: chart,
          decisionOutcome: chart,
          perScenario: chart
        },
        trends: {
          labels: [],
          totalRuns: [],
          activeRuns: [],
          completedRuns: [],
          failedRuns: [],
          cancelledRuns: [],
          suspendedRuns: [],
          declinedRuns: [],
          tokens: [],
          costUsd: []
        },
        scenarios: []
      })
  })
)
