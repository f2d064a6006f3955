import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LaunchedRuns } from "../../src/control-plane/LaunchedRuns.ts"
import { SESSION_ID } from "../fixtures/Compiled.ts"
import { memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { json, stubHttp } from "../fixtures/StubHttp.ts"

/** A control plane that refuses to abandon a run, and shows it. */
const planeWith = (run: Response) =>
  LaunchedRuns.layer.pipe(
    Layer.provide([
      stubHttp(({ method }) => Effect.sync(() => (method === "POST" ? json(409, { errorCode: "CONFLICT" }) : run))),
      memoryFiles({})
    ]),
    Layer.provide(settingsLayer({ controlPlane: { url: "http://plane.test", timeoutMs: 5_000, apiKey: undefined } }))
  )

const shown = (run: object) => json(200, { id: SESSION_ID, runtimeSessionId: SESSION_ID, ...run })

describe("a run that cannot be abandoned", () => {
  it.effect.each([
    ["opened, while it is running", shown({ status: "running" }), "opened"],
    ["opened, when it has completed", shown({ status: "completed" }), "opened"],
    ["abandoned, when it has waited in vain", shown({ status: "failed", errorCode: "RUNTIME_TIMEOUT" }), "abandoned"],
    ["opened, when it has failed later", shown({ status: "failed", errorCode: "SESSION_EXPIRED" }), "opened"],
    ["opened, when it has been deleted", json(404, {}), "opened"],
    ["unknown, when it cannot be read", json(500, {}), "unknown"]
  ] as const)("is %s", ([, run, expected]) =>
    Effect.gen(function* () {
      const runs = yield* LaunchedRuns
      assert.strictEqual(yield* runs.abandon(SESSION_ID, "all agents have exited"), expected)
    }).pipe(Effect.provide(planeWith(run)))
  )
})
