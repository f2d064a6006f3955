import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { RuntimeClient } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type DatabaseOptions, databaseConfig, layerDatabase } from "./database/Database.ts"
import { EventNotices } from "./events/EventNotices.ts"
import { FrameNormaliser } from "./events/FrameNormaliser.ts"
import { layerCapabilities } from "./http/Capabilities.ts"
import { type HttpOptions, layerHttp } from "./http/Server.ts"
import { layerObservation } from "./observer/Observation.ts"
import { ObserverSettings } from "./observer/ObserverSettings.ts"
import { layerRetention } from "./retention/Retention.ts"
import { integer, word } from "./Settings.ts"
import { checkSettings, SettingsRefused } from "./settings/SettingsCheck.ts"
import { layerLogging } from "./telemetry/Logging.ts"
import { layerMeters } from "./telemetry/Meters.ts"
import { Metrics } from "./telemetry/Metrics.ts"
import { layerTracedLog } from "./telemetry/TracedLog.ts"
import { layerTracedRuntime } from "./telemetry/TracedRuntime.ts"
import { layerTracing } from "./telemetry/Tracing.ts"

export const DEFAULT_PORT = 3001
const DEFAULT_HOST = "0.0.0.0"

export interface ControlPlaneOptions {
  readonly http: HttpOptions
  readonly database: DatabaseOptions
}

/** The whole service but for its runtime, in the order in which its parts lean on each other. */
export const layerControlPlane = (options: ControlPlaneOptions) =>
  layerHttp(options.http).pipe(
    Layer.provide(layerCapabilities),
    Layer.provide([layerObservation, EventNotices.layer, layerRetention]),
    Layer.provide([layerTracedLog, layerTracedRuntime]),
    Layer.provide(layerMeters.pipe(Layer.provideMerge(Metrics.layer))),
    Layer.provide([
      ObserverSettings.layer,
      FrameNormaliser.layer.pipe(Layer.provide(NodeFileSystem.layer)),
      layerDatabase(options.database)
    ]),
    Layer.provide(layerTracing)
  )

/** Why the service did not start, in the form of its log; a fault of the program with all that is known of it. */
const reportStart = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || error instanceof SettingsRefused) return Effect.void
  return Cause.hasDies(cause) || !(error instanceof Error)
    ? Effect.logError("the service did not start", cause)
    : Effect.logError(`the service did not start: ${error.message}`)
}

/** What `main.ts` runs: everything from the settings of http-details section 14, which are checked before anything is started. */
export const layerFromSettings = Layer.unwrap(
  Effect.gen(function* () {
    yield* checkSettings.pipe(Effect.provide(NodeFileSystem.layer))
    const http = { host: yield* word("HOST", DEFAULT_HOST), port: yield* integer("PORT", DEFAULT_PORT, 0) }
    const service = layerControlPlane({ http, database: yield* databaseConfig })
    return service.pipe(Layer.provide(RuntimeClient.layer))
  })
).pipe(Layer.tapCause(reportStart), Layer.provide(layerLogging))
