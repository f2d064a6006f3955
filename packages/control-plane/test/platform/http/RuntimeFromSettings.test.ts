import { assert, describe, it } from "@effect/vitest"
import { CONTROL_PLANE_IDENTITY, RuntimeClient, RuntimeCredentials } from "@runplane/runtime"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { layerRuntime, layerRuntimeCredentials } from "../../../src/platform/http/RuntimeFromSettings.ts"

const environment = (env: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

const clientWith = (env: Record<string, string>) =>
  Effect.gen(function* () {
    return yield* RuntimeClient
  }).pipe(Effect.provide(Layer.fresh(layerRuntime)), Effect.provide(environment(env)))

describe("the runtime of the settings", () => {
  it.effect("has defaults, for empty values too", () =>
    Effect.gen(function* () {
      const client = yield* clientWith({ RUNTIME_ADDRESS: "", RUNTIME_LIST_SESSIONS_PAGE_SIZE: " " })
      assert.strictEqual(client.address, "127.0.0.1:50051")
      assert.strictEqual(client.kind, "rust")
      assert.deepStrictEqual(client.listing, { pageSize: 200, maxPages: 200, timeoutMs: 60_000 })
    })
  )

  it.effect("may be another one", () =>
    Effect.gen(function* () {
      const client = yield* clientWith({
        RUNTIME_ADDRESS: "[::1]:50052",
        RUNTIME_KIND: "go",
        RUNTIME_TLS: "true",
        RUNTIME_LIST_SESSIONS_MAX_PAGES: "3"
      })
      assert.strictEqual(client.address, "[::1]:50052")
      assert.strictEqual(client.kind, "go")
      assert.strictEqual(client.listing.maxPages, 3)
    })
  )

  it.effect("does not start over a value that makes no sense, and names the variable", () =>
    Effect.gen(function* () {
      for (const [variable, value] of [
        ["RUNTIME_ADDRESS", "http://runtime:50051"],
        ["RUNTIME_ADDRESS", "runtime"],
        ["RUNTIME_REQUEST_TIMEOUT_MS", "30s"],
        ["RUNTIME_LIST_SESSIONS_TIMEOUT_MS", "0"],
        ["RUNTIME_MAX_RECEIVE_MESSAGE_BYTES", "-1"],
        ["PROTO_AUTH_SERVICE_URL", "auth"],
        ["PROTO_AUTH_TOKEN_TTL_SECONDS", "soon"]
      ] as const) {
        const error = yield* Effect.flip(clientWith({ [variable]: value }))
        assert.isTrue(error.message.startsWith(variable), error.message)
      }
    })
  )
})

describe("the credentials of the settings", () => {
  const headersWith = (env: Record<string, string>, requests: Array<unknown> = []) =>
    Effect.gen(function* () {
      const { headers } = yield* RuntimeCredentials
      return (yield* headers).map(([name, value]) => `${name}: ${Redacted.value(value)}`)
    }).pipe(
      Effect.provide(Layer.fresh(layerRuntimeCredentials)),
      Effect.provide(environment(env)),
      Effect.provideService(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.sync(() => {
            if (request.body._tag === "Uint8Array") {
              requests.push(JSON.parse(new TextDecoder().decode(request.body.body)))
            }
            return HttpClientResponse.fromWeb(request, Response.json({ token: "jwt", expires_in_seconds: 300 }))
          })
        )
      )
    )

  it.effect("are the development identity by default", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* headersWith({}), [
        `x-macp-agent-id: ${CONTROL_PLANE_IDENTITY}`,
        `authorization: Bearer ${CONTROL_PLANE_IDENTITY}`
      ])
    })
  )

  it.effect("are none outside of development where nothing is set", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* headersWith({ NODE_ENV: "production" }), [])
    })
  )

  it.effect("are the whole chain, and empty values count as unset", () => {
    const requests: Array<unknown> = []
    const env = {
      NODE_ENV: "production",
      PROTO_AUTH_SERVICE_URL: "http://auth.test:3200/",
      PROTO_AUTH_TOKEN_TTL_SECONDS: "900",
      PROTO_AUTH_TOKEN_SENDER: "observer-7",
      PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY: "Yes",
      PROTO_AUTH_SERVICE_TIMEOUT_MS: "",
      RUNTIME_BEARER_TOKEN: "static-token",
      RUNTIME_USE_DEV_HEADER: "on"
    }
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* headersWith(env, requests), ["authorization: Bearer jwt"])
      assert.deepStrictEqual(requests, [
        {
          sender: "observer-7",
          ttl_seconds: 900,
          scopes: { can_start_sessions: false, is_observer: true, can_manage_mode_registry: true }
        }
      ])
    })
  })
})
