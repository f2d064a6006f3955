import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import { describe } from "vitest"
import { controlPlaneForm, launcherForm, layerHttpServer } from "../../src/index.ts"
import { ask } from "../support/Ask.ts"

const MESSAGE = "the service is starting or stopping; retry in a second"

const listening = (form: typeof controlPlaneForm) =>
  layerHttpServer({ host: "127.0.0.1", port: 0 }, { form, graceMs: 0 })

describe("a server whose port is open", () => {
  it.live("answers at once while its routes are not there, and serves when they are", () =>
    Effect.gen(function* () {
      const early = yield* ask("/runs")
      assert.strictEqual(early.status, 503)
      assert.strictEqual(early.headers["retry-after"], "1")
      assert.strictEqual(early.headers["x-content-type-options"], "nosniff")
      assert.deepStrictEqual(early.json, {
        statusCode: 503,
        errorCode: "SERVICE_UNAVAILABLE",
        message: MESSAGE,
        error: "Service Unavailable"
      })
      const patient = yield* ask("/runs", { method: "POST", body: "{}", headers: { expect: "100-continue" } })
      assert.strictEqual(patient.status, 503)

      const server = yield* HttpServer.HttpServer
      const serving = yield* Scope.make()
      yield* Scope.provide(server.serve(Effect.succeed(HttpServerResponse.text("served"))), serving)
      assert.strictEqual((yield* ask("/runs")).text, "served")
      yield* Scope.close(serving, Exit.void)
    }).pipe(Effect.provide(listening(controlPlaneForm)))
  )

  it.live("answers in the form of the launch service there", () =>
    Effect.map(ask("/packs"), ({ json, status }) => {
      assert.strictEqual(status, 503)
      assert.deepStrictEqual(json, { message: MESSAGE, error: "Service Unavailable", statusCode: 503 })
    }).pipe(Effect.provide(listening(launcherForm)))
  )
})
