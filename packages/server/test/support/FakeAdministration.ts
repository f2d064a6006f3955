import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"

export const Admin = HttpApiBuilder.group(ControlPlaneApi, "admin", (handlers) =>
  handlers.handleAll({
    setLogLevel: ({ payload }) => Effect.succeed({ level: payload.level, previous: "info" as const }),
    resetCircuitBreaker: () => Effect.succeed({ status: "ok" as const, state: "CLOSED" as const }),
    circuitBreakerHistory: () => Effect.succeed({ state: "CLOSED" as const, history: [] }),
    process: () =>
      Effect.succeed({ version: "0.0.0", startedAt: "2026-07-01T10:00:00.000Z", observedRuns: 0, settings: [] }),
    processes: () => Effect.succeed({ data: [] }),
    archive: () => Effect.succeed({ archive: null }),
    ingest: () => Effect.succeed({ data: [] }),
    issueToken: () =>
      Effect.succeed({ token: "t", header: "x-runplane-join=t", expiresAt: "2026-07-01T10:00:00.000Z" }),
    runtimeSessions: () =>
      Effect.succeed({
        complete: true,
        runtimeSessionCount: 0,
        liveRuntimeSessionCount: 0,
        trackedRunCount: 0,
        untrackedSessions: [],
        missingFromRuntime: []
      })
  })
)

export const Runtime = HttpApiBuilder.group(ControlPlaneApi, "runtime", (handlers) =>
  handlers.handleAll({
    manifest: () => Effect.succeed({ agentId: "macp-runtime", supportedModes: [], metadata: {} }),
    modes: () => Effect.succeed([]),
    roots: () => Effect.succeed([]),
    health: () => Effect.succeed({ ok: true, runtimeKind: "rust", detail: "connected to 127.0.0.1:50051" })
  })
)
