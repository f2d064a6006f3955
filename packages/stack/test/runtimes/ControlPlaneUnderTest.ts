import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ControlPlaneClient } from "@runplane/api"
import { layerControlPlane, layerRuntime } from "@runplane/control-plane"
import { freePorts } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createMigratedDatabase } from "../support/MigratedDatabase.ts"
import { type Link, openLink } from "./Loopback.ts"
import { RuntimeUnderTest } from "./RuntimeUnderTest.ts"

/** Waits short enough for tests, and no discovery of the sessions that a scenario posts later. */
const SETTINGS = {
  NODE_ENV: "test",
  THROTTLE_LIMIT: "100000",
  RUNTIME_ALLOW_INSECURE: "true",
  SESSION_POLL_MAX_MS: "100",
  SESSION_END_CHECK_DELAY_MS: "100",
  SESSION_DISCOVERY_GRACE_MS: "600000",
  STREAM_BACKOFF_BASE_MS: "50"
}

/** The whole control plane: its own database, its HTTP port, and a link to the runtime that can be cut. */
export class ControlPlaneUnderTest extends Context.Service<ControlPlaneUnderTest, { readonly link: Link }>()(
  "runplane/stack/test/ControlPlaneUnderTest"
) {
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const { address, settings } = yield* RuntimeUnderTest
      const link = yield* openLink(address)
      const [port = 0] = yield* freePorts(1)
      const env = { ...SETTINGS, ...settings, RUNTIME_ADDRESS: link.address }
      const controlPlane = layerControlPlane({
        http: { host: "127.0.0.1", port },
        database: { url: yield* createMigratedDatabase }
      }).pipe(Layer.provide(layerRuntime), Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
      const client = ControlPlaneClient.layer({ baseUrl: `http://127.0.0.1:${port}` }).pipe(
        Layer.provide(NodeHttpClient.layerNodeHttp)
      )
      return Layer.succeed(ControlPlaneUnderTest, { link }).pipe(
        Layer.provideMerge(client),
        Layer.provideMerge(controlPlane)
      )
    })
  )
}
