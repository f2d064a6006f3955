import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import {
  ControlPlaneSettings,
  type ListenOptions,
  layerLogging,
  listenHost,
  readSetting,
  SettingsRefused,
  sayOpenDoors
} from "@runplane/server"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Audit from "./audit/Audit.ts"
import { type DatabaseOptions, databaseSettings, layerDatabase } from "./database/Database.ts"
import * as Edge from "./edge/Edge.ts"
import { layerRuntime } from "./edge/RuntimeFromSettings.ts"
import * as Server from "./http/Server.ts"
import { layerHeadsFile } from "./ledger/HeadsFile.ts"
import { LedgerWriter } from "./ledger/LedgerWriter.ts"
import { layerSealKeys } from "./ledger/SealKeys.ts"
import * as EventNotices from "./log/EventNotices.ts"
import { FrameNormaliser } from "./log/FrameNormaliser.ts"
import * as Log from "./log/Log.ts"
import { layerLogSettings } from "./log/LogSettings.ts"
import { layerProjectionSettings } from "./log/ProjectionSettings.ts"
import { Redactor } from "./log/Redactor.ts"
import { TokenPricing } from "./log/TokenPricing.ts"
import * as Meters from "./Meters.ts"
import * as Observation from "./observe/Observation.ts"
import { ObserverSettings } from "./observe/ObserverSettings.ts"
import { Health } from "./operate/health/Health.ts"
import * as Operations from "./operate/Operations.ts"
import { Metrics } from "./react/metrics/Metrics.ts"
import * as Reactions from "./react/Reactions.ts"
import * as Tracing from "./react/traces/Tracing.ts"
import * as Reads from "./read/Reads.ts"
import * as RunActions from "./runs/RunActions.ts"
import { checkControlPlaneSettings } from "./SettingsCheck.ts"

export interface ControlPlaneOptions {
  readonly http: ListenOptions
  readonly database: DatabaseOptions
}

/** The whole service but for its runtime: what stands above knows only what stands below it. */
export const layerControlPlane = (options: ControlPlaneOptions) =>
  Server.layer(options.http).pipe(
    Layer.merge(Health.layerWatch),
    Layer.provide(Operations.layer),
    Layer.provide([Reads.layer, RunActions.layer]),
    Layer.provide(Observation.layer),
    Layer.provide(EventNotices.layer),
    Layer.provide(Log.layer),
    Layer.provide(Reactions.layer),
    Layer.merge(LedgerWriter.layerForever),
    Layer.provide(LedgerWriter.layer.pipe(Layer.provide(layerHeadsFile))),
    Layer.provide([Audit.layer, Edge.layer]),
    Layer.provide(Meters.layer.pipe(Layer.provide(Metrics.layer))),
    Layer.provide([
      ObserverSettings.layer,
      layerLogSettings,
      layerProjectionSettings,
      FrameNormaliser.layer.pipe(Layer.provideMerge(Redactor.layer), Layer.provide(TokenPricing.layer)),
      layerSealKeys,
      layerDatabase(options.database)
    ]),
    Layer.provide([Tracing.layer, NodeFileSystem.layer])
  )

/** Why the service did not start, in the form of its log; a fault of the program with all that is known of it. */
const reportStart = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || error instanceof SettingsRefused) return Effect.void
  return Cause.hasDies(cause) || !(error instanceof Error)
    ? Effect.logError("the service did not start", cause)
    : Effect.logError(`the service did not start: ${error.message}`)
}

/** What `main.ts` runs: everything from the settings, which are checked before anything is started. */
export const layerFromSettings = Layer.unwrap(
  Effect.gen(function* () {
    yield* checkControlPlaneSettings.pipe(Effect.provide(NodeFileSystem.layer))
    const http = { host: yield* listenHost, port: yield* readSetting(ControlPlaneSettings.PORT) }
    const service = layerControlPlane({ http, database: yield* databaseSettings })
    return Layer.effectDiscard(sayOpenDoors).pipe(Layer.provideMerge(service), Layer.provide(layerRuntime))
  })
).pipe(Layer.tapCause(reportStart), Layer.provide(layerLogging))
