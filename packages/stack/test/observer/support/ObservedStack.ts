import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ControlPlaneClient } from "@runplane/api"
import { layerControlPlane, layerRuntime } from "@runplane/control-plane"
import { CONTROL_PLANE_IDENTITY, RuntimeClient, RuntimeCredentials } from "@runplane/runtime"
import { Sandbox, type SandboxOptions } from "@runplane/sandbox"
import { freePorts, slowness } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { createMigratedDatabase } from "../../support/MigratedDatabase.ts"
import { MAX_FRAME_BYTES } from "./FaultMix.ts"
import { LEAD } from "./SessionScript.ts"

/** Back-offs short enough for hundreds of runs. Discovery would take sessions whose run is posted after their end. */
const SETTINGS = {
  NODE_ENV: "test",
  THROTTLE_LIMIT: "1000000",
  RUNTIME_ALLOW_INSECURE: "true",
  // A call on a connection that is cut at the wrong moment may last until its deadline, and some of them in a row open
  // the breaker: both have to be over well before a trial is.
  RUNTIME_REQUEST_TIMEOUT_MS: "10000",
  RUNTIME_CIRCUIT_BREAKER_RESET_MS: "1000",
  RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
  RUNTIME_MAX_RECEIVE_MESSAGE_BYTES: String(MAX_FRAME_BYTES),
  SESSION_POLL_BASE_MS: "10",
  SESSION_POLL_MAX_MS: "50",
  SESSION_END_CHECK_DELAY_MS: "50",
  SESSION_DISCOVERY_GRACE_MS: "600000",
  STREAM_BACKOFF_BASE_MS: "5",
  STREAM_BACKOFF_MAX_MS: "100",
  STREAM_IDLE_TIMEOUT_MS: "3000",
  WATCH_RECONNECT_MS: "100"
}

/** The sandbox shares the process with the observer: where the machine is slow, an open stream pauses for longer. */
const drainSettings = Effect.map(slowness, (factor) => {
  const times = Math.min(factor, 4)
  return {
    STREAM_DRAIN_TIMEOUT_MS: String(Math.round(1_500 * times)),
    STREAM_LONGEST_DRAIN_MS: String(Math.round(10_000 * times))
  }
})

/** Thousands of lines about injected faults: logged only for the analysis of one seed. */
const isLogged = process.env["OBSERVER_FAULT_LOG"] !== undefined
const logging = isLogged ? Layer.empty : Logger.layer([])

/** The gRPC server writes a line, with the stack, about every call whose client has gone. */
const quietServer = Layer.effectDiscard(
  Effect.acquireRelease(
    Effect.sync(() => {
      const { error } = console
      if (!isLogged) console.error = (...text) => (isAboutCall(text[0]) ? undefined : error(...text))
      return error
    }),
    (error) => Effect.sync(() => Object.assign(console, { error }))
  )
)

const isAboutCall = (text: unknown): boolean => typeof text === "string" && text.startsWith("handler for rpc ")

/** The agents' side of the runtime: what Send does not do is called as the initiator. */
export class Initiator extends Context.Service<Initiator, RuntimeClient["Service"]>()("runplane/stack/test/Initiator") {
  static readonly layer = Layer.unwrap(
    Effect.map(Sandbox, ({ address }) =>
      Layer.effect(Initiator, Effect.map(RuntimeClient, Initiator.of)).pipe(
        Layer.provide(Layer.fresh(RuntimeClient.layerGrpc({ address }))),
        Layer.provide(Layer.fresh(RuntimeCredentials.layerChain({ bearer: Redacted.make(LEAD) }))),
        Layer.provide(FetchHttpClient.layer)
      )
    )
  )
}

/** Reads a document of the control plane as text: decoding it would put its keys into another order. */
export class Documents extends Context.Service<Documents, (path: string) => Effect.Effect<string>>()(
  "runplane/stack/test/Documents"
) {}

/** The whole control plane on a database of its own, observing the runtime at an address. */
export const layerObserving = (address: string, settings: Readonly<Record<string, string>> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const [port = 0] = yield* freePorts(1)
      const baseUrl = `http://127.0.0.1:${port}`
      const env = { ...SETTINGS, ...(yield* drainSettings), ...settings, RUNTIME_ADDRESS: address }
      const controlPlane = layerControlPlane({
        http: { host: "127.0.0.1", port },
        database: { url: yield* createMigratedDatabase }
      }).pipe(
        Layer.provide(Layer.fresh(layerRuntime)),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
        Layer.provide(logging)
      )
      const documents = Layer.effect(
        Documents,
        Effect.map(HttpClient.HttpClient, (http) =>
          Documents.of((path) => Effect.orDie(Effect.flatMap(http.get(`${baseUrl}${path}`), ({ text }) => text)))
        )
      )
      return Layer.mergeAll(ControlPlaneClient.layer({ baseUrl }), documents).pipe(
        Layer.provide(NodeHttpClient.layerNodeHttp),
        Layer.provideMerge(controlPlane)
      )
    })
  )

/** A control plane that observes a sandbox, and what plays the sandbox's agents. */
export const layerObservedStack = (
  options: Partial<SandboxOptions> = {},
  settings: Readonly<Record<string, string>> = {}
) =>
  Layer.unwrap(Effect.map(Sandbox, ({ address }) => layerObserving(address, settings))).pipe(
    Layer.provideMerge(Initiator.layer),
    Layer.provideMerge(
      Sandbox.layer({ port: 0, sweepIntervalMs: 50, observers: [CONTROL_PLANE_IDENTITY], ...options }).pipe(
        Layer.provide(quietServer)
      )
    )
  )
