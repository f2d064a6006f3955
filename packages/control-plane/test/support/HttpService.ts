import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { CircuitBreaker } from "@runplane/runtime"
import { LogLevelSwitch, Shutdown } from "@runplane/server"
import { type Call, openSse, request } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Operations from "../../src/admin/Admin.ts"
import { fieldsOf } from "../../src/Feature.ts"
import { ColdLog } from "../../src/features/archive/read/ColdLog.ts"
import * as ColdReads from "../../src/features/archive/read/ColdReads.ts"
import * as ReadOnlyRuns from "../../src/features/archive/read/ReadOnlyRuns.ts"
import { features } from "../../src/features.ts"
import * as Server from "../../src/http/Server.ts"
import * as Marks from "../../src/marks/Marks.ts"
import type { ObserverOptions } from "../../src/observe/ObserverSettings.ts"
import { AuditLog } from "../../src/platform/audit/AuditLog.ts"
import { AuditTrail } from "../../src/platform/audit/AuditTrail.ts"
import { Redactor } from "../../src/platform/deployment/Redactor.ts"
import { RuntimeHealth } from "../../src/platform/http/RuntimeHealth.ts"
import { layerHeadsFile } from "../../src/platform/ledger/HeadsFile.ts"
import { LedgerWriter } from "../../src/platform/ledger/LedgerWriter.ts"
import { SealKeys } from "../../src/platform/ledger/SealKeys.ts"
import { Metrics } from "../../src/platform/metrics/Metrics.ts"
import { Outbox } from "../../src/platform/outbox/Outbox.ts"
import * as Queries from "../../src/queries/Queries.ts"
import * as Reactions from "../../src/Reactions.ts"
import { routes } from "../../src/Routes.ts"
import * as RunActions from "../../src/runs/RunActions.ts"
import * as Streams from "../../src/streams/Streams.ts"
import { layerReactingLog, layerTestPrices, testSealKey } from "./ControlPlane.ts"
import { layerObservedBy } from "./Observation.ts"
import { layerTestDatabase } from "./TestDatabase.ts"

export interface TestServiceOptions {
  readonly settings?: Readonly<Record<string, string>>
  readonly observer?: Partial<ObserverOptions>
  /** Any free one unless said. */
  readonly port?: number
  /** One of its own unless said. */
  readonly database?: typeof layerTestDatabase
}

const reads = ColdReads.layer.pipe(Layer.provideMerge(ColdLog.layer))

/** Longer than any test, in milliseconds. */
const NO_RECOVERY_MS = 3_600_000

/**
 * The whole service on a free port of the loopback: a database of its own, real observers, a runtime in memory. A run
 * that a test puts into the database stays unobserved: runs are not adopted, unless the test enables recovery.
 */
export const layerTestService = ({ database, observer, port, settings }: TestServiceOptions = {}) =>
  Server.layer({ host: "127.0.0.1", port: port ?? 0 }, routes).pipe(
    Layer.provide(reads),
    Layer.provideMerge(Operations.layer.pipe(Layer.provideMerge(Reactions.layerReady))),
    Layer.provide(ReadOnlyRuns.layer.pipe(Layer.provide(reads))),
    Layer.provideMerge(
      Layer.mergeAll(
        Streams.layer.pipe(Layer.provideMerge(Queries.layer), Layer.provide(reads)),
        ...fieldsOf(features, "layer")
      )
    ),
    Layer.provideMerge(RunActions.layer.pipe(Layer.provide(reads))),
    Layer.provideMerge(Marks.layer),
    Layer.provide(Redactor.layer),
    Layer.provideMerge(layerTestPrices),
    Layer.provideMerge(Layer.merge(RuntimeHealth.layer, Shutdown.layer)),
    Layer.provideMerge(
      layerObservedBy(
        {
          discoveryEnabled: false,
          recoveryEnabled: false,
          endCheckDelayMs: 50,
          drainTimeoutMs: 100,
          recoveryIntervalMs: NO_RECOVERY_MS,
          ...observer
        },
        layerReactingLog
      )
    ),
    Layer.provideMerge(Reactions.layer),
    Layer.provideMerge(LedgerWriter.layer.pipe(Layer.provide(layerHeadsFile), Layer.provide(NodeFileSystem.layer))),
    Layer.provideMerge(Layer.mergeAll(AuditTrail.layer, AuditLog.layer, Outbox.layer)),
    Layer.provideMerge(Layer.succeed(SealKeys, { current: testSealKey })),
    Layer.provideMerge(CircuitBreaker.layer()),
    Layer.provide(Metrics.layer),
    Layer.provideMerge(database ?? layerTestDatabase),
    // Without it the files of one worker would share the level that one of them has left.
    Layer.provideMerge(Layer.sync(LogLevelSwitch, () => ({ level: "Info" as const }))),
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromEnv({
          env: { NODE_ENV: "test", THROTTLE_LIMIT: "100000", OTLP_GRPC_PORT: "0", ...settings }
        })
      )
    )
  )

export const baseUrl = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))

/** One request over the real port. */
export const call = Effect.fnUntraced(function* (method: string, path: string, options: Call = {}) {
  const headers = { "content-type": "application/json", ...options.headers }
  return yield* request(method, `${yield* baseUrl}${path}`, { ...options, headers })
})

/** An event stream over the real port. */
export const openStream = Effect.fnUntraced(function* (path: string, headers: Call["headers"] = {}) {
  return yield* openSse(`${yield* baseUrl}${path}`, headers)
})

/** A descriptor that passes; `session`, `execution` and the rest are merged over it. */
export const descriptor = (
  over: {
    readonly session?: Readonly<Record<string, unknown>>
    readonly execution?: Readonly<Record<string, unknown>>
    readonly [key: string]: unknown
  } = {}
) => ({
  mode: "live",
  runtime: { kind: "fake" },
  ...over,
  session: {
    modeName: "macp.mode.decision.v1",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    ttlMs: 60_000,
    participants: [{ id: "agent://lead" }, { id: "agent://risk" }],
    ...over.session
  },
  ...(over.execution === undefined ? {} : { execution: over.execution })
})

/** A run for a session that another client opens, on a service of the test's choice. */
export const postRun = (url: string, sessionId: string, execution: Readonly<Record<string, unknown>> = {}) =>
  request("POST", `${url}/runs`, { body: descriptor({ runtime: { kind: "rust" }, session: { sessionId }, execution }) })
