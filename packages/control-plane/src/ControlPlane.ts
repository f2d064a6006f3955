import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import {
  ControlPlaneSettings,
  type ListenOptions,
  layerLogging,
  listenHost,
  readSetting,
  SettingsRefused,
  Shutdown,
  warnWithoutAuthentication
} from "@runplane/server"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Admin from "./admin/Admin.ts"
import { Health } from "./admin/health/Health.ts"
import { layerLogSettings } from "./event-log/EventLogSettings.ts"
import * as Log from "./event-log/Log.ts"
import { layerProjectionSettings } from "./event-log/projection/ProjectionSettings.ts"
import * as EventNotices from "./event-log/subscribe/EventNotices.ts"
import { fieldsOf } from "./Feature.ts"
import { ColdLog } from "./features/archive/read/ColdLog.ts"
import * as ColdReads from "./features/archive/read/ColdReads.ts"
import * as ReadOnlyRuns from "./features/archive/read/ReadOnlyRuns.ts"
import { features } from "./features.ts"
import * as Server from "./http/Server.ts"
import * as Marks from "./marks/Marks.ts"
import * as Observation from "./observe/Observation.ts"
import { ObserverSettings } from "./observe/ObserverSettings.ts"
import { AuditLog } from "./platform/audit/AuditLog.ts"
import { AuditTrail } from "./platform/audit/AuditTrail.ts"
import { FrameNormaliser } from "./platform/deployment/FrameNormaliser.ts"
import { Prices } from "./platform/deployment/Prices.ts"
import { Redactor } from "./platform/deployment/Redactor.ts"
import { layerRuntime } from "./platform/http/RuntimeFromSettings.ts"
import { RuntimeHealth } from "./platform/http/RuntimeHealth.ts"
import { layerHeadsFile } from "./platform/ledger/HeadsFile.ts"
import { LedgerWriter } from "./platform/ledger/LedgerWriter.ts"
import { layerSealKeys } from "./platform/ledger/SealKeys.ts"
import { Metrics } from "./platform/metrics/Metrics.ts"
import { Outbox } from "./platform/outbox/Outbox.ts"
import { type DatabaseOptions, databaseSettings, layerDatabase } from "./platform/postgres/Database.ts"
import * as Queries from "./queries/Queries.ts"
import * as Reactions from "./Reactions.ts"
import { routes } from "./Routes.ts"
import * as Tracing from "./reactors/traces/Tracing.ts"
import * as RunActions from "./runs/RunActions.ts"
import { checkControlPlaneSettings } from "./SettingsCheck.ts"
import * as Streams from "./streams/Streams.ts"

export interface ControlPlaneOptions {
  readonly http: ListenOptions
  readonly database: DatabaseOptions
}

/** The readers of runs, also of those that only the archive has; what the service writes knows the database alone. */
const reads = ColdReads.layer.pipe(Layer.provideMerge(ColdLog.layer))

/** The whole service without its runtime: each layer knows only the layers below it. */
export const layerControlPlane = (options: ControlPlaneOptions) =>
  Server.layer(options.http, routes).pipe(
    Layer.provide(reads),
    Layer.merge(Health.layerWatch),
    Layer.provide(Admin.layer.pipe(Layer.provide(Reactions.layerReady))),
    Layer.provide(ReadOnlyRuns.layer.pipe(Layer.provide(reads))),
    Layer.provide([
      Streams.layer.pipe(Layer.provideMerge(Queries.layer), Layer.provide(reads)),
      ...fieldsOf(features, "layer")
    ]),
    Layer.provide(RunActions.layer.pipe(Layer.provide(reads))),
    Layer.provide(Marks.layer),
    Layer.provide(Observation.layer),
    Layer.provide(EventNotices.layer),
    Layer.provide(Log.layer),
    Layer.provide(Reactions.layer),
    Layer.merge(LedgerWriter.layerForever),
    Layer.provide(LedgerWriter.layer.pipe(Layer.provide(layerHeadsFile))),
    Layer.provide([AuditTrail.layer, AuditLog.layer, Outbox.layer, RuntimeHealth.layer, Shutdown.layer]),
    Layer.provide(Metrics.layer),
    Layer.provide([
      ObserverSettings.layer,
      layerLogSettings,
      layerProjectionSettings,
      FrameNormaliser.layer.pipe(Layer.provideMerge(Redactor.layer), Layer.provideMerge(Prices.layer)),
      layerSealKeys,
      layerDatabase(options.database)
    ]),
    Layer.provide([Tracing.layer, NodeFileSystem.layer])
  )

/** Logs why the service did not start; a defect with its whole cause. */
const reportStart = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || error instanceof SettingsRefused) return Effect.void
  return Cause.hasDies(cause) || !(error instanceof Error)
    ? Effect.logError("the service did not start", cause)
    : Effect.logError(`the service did not start: ${error.message}`)
}

/** The service of `main.ts`: everything from the settings, which are validated first. */
export const layerFromSettings = Layer.unwrap(
  Effect.gen(function* () {
    yield* checkControlPlaneSettings.pipe(Effect.provide(NodeFileSystem.layer))
    const http = { host: yield* listenHost, port: yield* readSetting(ControlPlaneSettings.PORT) }
    const service = layerControlPlane({ http, database: yield* databaseSettings })
    return Layer.effectDiscard(warnWithoutAuthentication).pipe(Layer.provideMerge(service), Layer.provide(layerRuntime))
  })
).pipe(Layer.tapCause(reportStart), Layer.provide(layerLogging))
