import { ControlPlaneSettings, listenHost, readSettings, ServiceSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const settings = {
  enabled: ControlPlaneSettings.OTLP_INGEST_ENABLED,
  maxBodyBytes: ControlPlaneSettings.OTLP_MAX_BODY_BYTES,
  grpcPort: ControlPlaneSettings.OTLP_GRPC_PORT,
  spanInboxBytes: ControlPlaneSettings.OTLP_INBOX_BYTES,
  exportLimit: ControlPlaneSettings.OTLP_EXPORT_LIMIT,
  exportWindowMs: ServiceSettings.THROTTLE_TTL_MS,
  tracesPerRequest: ControlPlaneSettings.OTLP_TRACES_PER_REQUEST,
  newTracesPerMinute: ControlPlaneSettings.OTLP_NEW_TRACES_PER_MINUTE,
  settleMs: ControlPlaneSettings.OTLP_SETTLE_MS,
  idleMs: ControlPlaneSettings.OTLP_IDLE_MS,
  parentWaitMs: ControlPlaneSettings.OTLP_PARENT_WAIT_MS,
  runKey: ControlPlaneSettings.OTLP_RUN_KEY,
  content: ControlPlaneSettings.OTLP_CONTENT,
  maxStatedCostUsd: ControlPlaneSettings.OTLP_MAX_STATED_COST_USD,
  truth: ControlPlaneSettings.OTLP_TRUTH,
  keepUser: ControlPlaneSettings.OTLP_KEEP_USER,
  joinedUsage: ControlPlaneSettings.OTLP_JOINED_USAGE
}

const authentication = { keys: ServiceSettings.AUTH_API_KEYS, issuer: ServiceSettings.OIDC_ISSUER }

/** The port that exporters of gRPC use unless said otherwise. */
export const GRPC_PORT = 4_317

const LOOPBACK = /^(127\.|::1$|localhost$)/

const make = Effect.gen(function* () {
  const { content, enabled, joinedUsage, ...given } = yield* readSettings(settings)
  const { issuer, keys } = yield* readSettings(authentication)
  const isGuarded = keys.length > 0 || issuer !== undefined
  return {
    ...given,
    /** Without keys every caller is the same one: whose spans may join a run cannot be said. */
    joinsEverything: !isGuarded,
    isEnabled: enabled ?? (isGuarded || LOOPBACK.test(yield* listenHost)),
    dropsContent: content === "drop",
    countsJoinedUsage: joinedUsage === "on"
  }
})

/** The settings of the ingest (docs/reference/settings.md); times are milliseconds. */
export class IngestSettings extends Context.Service<IngestSettings, Effect.Success<typeof make>>()(
  "runplane/control-plane/IngestSettings"
) {
  static readonly layer = Layer.effect(IngestSettings, make)
}
