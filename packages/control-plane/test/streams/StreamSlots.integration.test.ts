import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { call, layerTestService, openStream } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

const settings = { AUTH_API_KEYS: "ann,bob", STREAM_MAX: "3", STREAM_MAX_PER_KEY: "2" }
const as = (key: string) => ({ authorization: `Bearer ${key}` })

// docs/reference/streams.md#stream-limits
layer(layerTestService({ observer: { recoveryEnabled: false }, settings }), { excludeTestServices: true })(
  "event streams of a process",
  (it) => {
    it.effect("have room for so many of a key and so many in all, and a stream that is left makes room", () =>
      Effect.gen(function* () {
        const path = `/runs/${yield* createRun()}/stream`
        const scope = yield* Scope.make()
        const open = (key: string) => Scope.provide(openStream(path, as(key)), scope)
        for (const key of ["ann", "ann"]) assert.strictEqual((yield* open(key)).status, 200)
        const third = yield* call("GET", path, { headers: as("ann") })
        assert.strictEqual(third.status, 429)
        assert.strictEqual(third.headers.get("retry-after"), "10")
        assert.include(third.body.message, "STREAM_MAX_PER_KEY")
        // A rejected request does not read the run.
        const unknown = yield* call("GET", `/runs/${randomUUID()}/stream`, { headers: as("ann") })
        assert.strictEqual(unknown.status, 429)
        assert.strictEqual((yield* call("GET", "/events/stream", { headers: as("ann") })).status, 429)
        assert.strictEqual((yield* open("bob")).status, 200)
        const fourth = yield* call("GET", path, { headers: as("bob") })
        assert.strictEqual(fourth.status, 503)
        assert.strictEqual(fourth.body.errorCode, "SERVICE_UNAVAILABLE")
        assert.strictEqual(fourth.headers.get("retry-after"), "10")
        yield* Scope.close(scope, Exit.void)
        yield* until(
          Effect.scoped(Effect.map(openStream(path, as("ann")), ({ status }) => status)),
          (status) => status === 200
        )
      })
    )
  }
)
