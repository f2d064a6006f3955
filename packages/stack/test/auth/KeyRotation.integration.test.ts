import { assert, it } from "@effect/vitest"
import { layerControlPlane, layerRuntime } from "@runplane/control-plane"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { createDatabase, freePorts } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const OLD = "old-key-of-the-team-0123"
const NEW = "new-key-of-the-team-4567"

const sandbox = Sandbox.layer({ port: 0, observers: [CONTROL_PLANE_IDENTITY] })

const request = (url: string, key: string, init: RequestInit = {}) =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const answer = await fetch(url, { ...init, headers })
    const body: unknown = await answer.json()
    return { status: answer.status, text: JSON.stringify(body) }
  })

// docs/reference/deploy.md#rotate-a-key
it.live("a key is rotated with both keys valid at once, and the audit log names each", () =>
  Effect.gen(function* () {
    const url = yield* createDatabase
    const { address } = yield* Sandbox
    const [port = 0] = yield* freePorts(1)
    const baseUrl = `http://127.0.0.1:${port}`
    const change = (key: string) =>
      request(`${baseUrl}/admin/log-level`, key, { method: "PUT", body: JSON.stringify({ level: "error" }) })
    const actors = (key: string) =>
      Effect.map(request(`${baseUrl}/audit?limit=10`, key), ({ text }) =>
        [...text.matchAll(/"actor(?:Name)?":"(team-\d+)"/g)].map(([, name]) => name)
      )
    const served = <A>(keys: Readonly<Record<string, string>>, test: Effect.Effect<A>) => {
      const env = {
        NODE_ENV: "production",
        RUNTIME_ADDRESS: address,
        RUNTIME_TLS: "false",
        RUNTIME_ALLOW_INSECURE: "true",
        RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
        AUTH_API_KEYS: Object.values(keys).join(","),
        AUTH_API_KEY_NAMES: Object.keys(keys).join(","),
        AUTH_API_KEY_ROLES: Object.keys(keys)
          .map(() => "admin")
          .join(",")
      }
      const service = layerControlPlane({ http: { host: "127.0.0.1", port }, database: { url } }).pipe(
        Layer.provide(Layer.fresh(layerRuntime)),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      )
      return Effect.provide(test, Layer.fresh(service))
    }

    yield* served(
      { "team-2026": OLD },
      Effect.gen(function* () {
        assert.strictEqual((yield* change(OLD)).status, 200)
        assert.strictEqual((yield* change(NEW)).status, 401)
      })
    )
    yield* served(
      { "team-2026": OLD, "team-2027": NEW },
      Effect.gen(function* () {
        assert.strictEqual((yield* change(OLD)).status, 200)
        assert.strictEqual((yield* change(NEW)).status, 200)
      })
    )
    yield* served(
      { "team-2027": NEW },
      Effect.gen(function* () {
        assert.strictEqual((yield* change(OLD)).status, 401)
        assert.strictEqual((yield* change(NEW)).status, 200)
        // The entries of the removed key keep its name.
        assert.deepStrictEqual(yield* actors(NEW), ["team-2027", "team-2027", "team-2026", "team-2026"])
      })
    )
  }).pipe(Effect.provide(Layer.fresh(sandbox)))
)
