import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"

const manifest = {
  agentId: "macp-runtime",
  title: "Runtime",
  supportedModes: ["macp.mode.decision.v1"],
  metadata: { region: "eu" }
}
const mode = {
  mode: "macp.mode.decision.v1",
  modeVersion: "1.0.0",
  messageTypes: ["Proposal", "Commitment"],
  terminalMessageTypes: ["Commitment"],
  schemaUris: {}
}
const root = { uri: "file:///data", name: "data" }

// docs/reference/admin.md#runtime-endpoints
layer(layerTestService(), { excludeTestServices: true })("the runtime over HTTP", (it) => {
  it.effect("passes manifest, modes and roots through", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.configure({ manifest, modes: [mode], roots: [root] })
      assert.deepStrictEqual((yield* call("GET", "/runtime/manifest")).body, manifest)
      assert.deepStrictEqual((yield* call("GET", "/runtime/modes")).body, [mode])
      assert.deepStrictEqual((yield* call("GET", "/runtime/roots")).body, [root])
      assert.deepStrictEqual((yield* call("GET", "/runtime/health")).body, {
        ok: true,
        runtimeKind: "fake",
        detail: "connected to fake:0",
        manifest
      })
    })
  )

  it.effect("answers health with 200 and the reason when the runtime is away", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.fail({ method: "Initialize" }, "UNAVAILABLE", "connection refused")
      const { body, status } = yield* call("GET", "/runtime/health")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body, { ok: false, runtimeKind: "fake", detail: "connection refused" })
    })
  )

  it.effect("is healthy without a manifest", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.fail({ method: "GetManifest" }, "UNIMPLEMENTED", "no manifest")
      const { body } = yield* call("GET", "/runtime/health")
      assert.deepStrictEqual(body, { ok: true, runtimeKind: "fake", detail: "connected to fake:0" })
    })
  )

  // docs/reference/errors.md#runtime-errors
  for (const [route, method] of [
    ["manifest", "GetManifest"],
    ["modes", "ListModes"],
    ["roots", "ListRoots"]
  ] as const) {
    it.effect(`maps a failure of ${route}`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        yield* fake.fail({ method }, "UNAVAILABLE", "connection refused")
        const { body, status } = yield* call("GET", `/runtime/${route}`)
        assert.strictEqual(status, 503)
        assert.deepStrictEqual(body, {
          statusCode: 503,
          errorCode: "RUNTIME_UNAVAILABLE",
          message: "connection refused",
          metadata: { grpcCode: 14 }
        })
      })
    )
  }
})
