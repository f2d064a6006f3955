import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { CircuitBreaker, RuntimeClient, RuntimeCredentials } from "@runplane/runtime"
import { RuntimeSettings, readCertificates, readSetting, readSettings } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const connection = {
  address: RuntimeSettings.RUNTIME_ADDRESS,
  kind: RuntimeSettings.RUNTIME_KIND,
  tls: RuntimeSettings.RUNTIME_TLS,
  requestTimeoutMs: RuntimeSettings.RUNTIME_REQUEST_TIMEOUT_MS,
  maxReceiveBytes: RuntimeSettings.RUNTIME_MAX_RECEIVE_MESSAGE_BYTES,
  maxSendBytes: RuntimeSettings.RUNTIME_MAX_SEND_MESSAGE_BYTES,
  streamBufferBytes: RuntimeSettings.RUNTIME_STREAM_BUFFER_BYTES
}

const listing = {
  pageSize: RuntimeSettings.RUNTIME_LIST_SESSIONS_PAGE_SIZE,
  maxPages: RuntimeSettings.RUNTIME_LIST_SESSIONS_MAX_PAGES,
  timeoutMs: RuntimeSettings.RUNTIME_LIST_SESSIONS_TIMEOUT_MS
}

const breaker = {
  threshold: RuntimeSettings.RUNTIME_CIRCUIT_BREAKER_THRESHOLD,
  resetMs: RuntimeSettings.RUNTIME_CIRCUIT_BREAKER_RESET_MS
}

const tokenService = {
  url: RuntimeSettings.PROTO_AUTH_SERVICE_URL,
  timeoutMs: RuntimeSettings.PROTO_AUTH_SERVICE_TIMEOUT_MS,
  ttlSeconds: RuntimeSettings.PROTO_AUTH_TOKEN_TTL_SECONDS,
  sender: RuntimeSettings.PROTO_AUTH_TOKEN_SENDER,
  canManageRegistry: RuntimeSettings.PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY
}

const identity = {
  bearer: RuntimeSettings.RUNTIME_BEARER_TOKEN,
  useDevHeader: RuntimeSettings.RUNTIME_USE_DEV_HEADER,
  devAgentId: RuntimeSettings.RUNTIME_DEV_AGENT_ID
}

/** A shorter deadline is accepted with a warning. */
const SHORT_TIMEOUT_MS = 5_000

/** The credentials that the settings name. */
export const layerRuntimeCredentials = Layer.unwrap(
  Effect.gen(function* () {
    const { url, ...service } = yield* readSettings(tokenService)
    const { bearer, devAgentId, useDevHeader } = yield* readSettings(identity)
    return RuntimeCredentials.layerChain({
      ...(url !== undefined && { tokenService: { url, ...service } }),
      ...(bearer !== undefined && { bearer: Redacted.make(bearer) }),
      ...(useDevHeader && { devAgentId })
    })
  })
)

/**
 * The runtime over gRPC, as the `RUNTIME_*` and `PROTO_AUTH_*` settings say. The circuit breaker around its calls is
 * offered to the administration.
 */
export const layerRuntime = Layer.unwrap(
  Effect.gen(function* () {
    const caFile = yield* readSetting(RuntimeSettings.RUNTIME_TLS_CA_FILE)
    const options = {
      ...(yield* readSettings(connection)),
      ca: caFile === undefined ? undefined : yield* Effect.provide(readCertificates(caFile), NodeFileSystem.layer),
      listing: yield* readSettings(listing)
    }
    if (options.requestTimeoutMs < SHORT_TIMEOUT_MS) {
      yield* Effect.logWarning(`RUNTIME_REQUEST_TIMEOUT_MS is only ${options.requestTimeoutMs}`)
    }
    return RuntimeClient.layerBreaker.pipe(
      Layer.provide(RuntimeClient.layerGrpc(options)),
      Layer.provide(layerRuntimeCredentials.pipe(Layer.provide(FetchHttpClient.layer))),
      Layer.provideMerge(CircuitBreaker.layer(yield* readSettings(breaker)))
    )
  })
)
