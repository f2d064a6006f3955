import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { connectSilently, createDatabase, slowness } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { checkNarrative } from "./support/Narrative.ts"
import { descendants } from "./support/Processes.ts"
import { STOP_LIMIT_MS, stopAndCheck } from "./support/StackEnd.ts"
import { startStack } from "./support/StackProcess.ts"
import { untilGone } from "./support/StackRuns.ts"

const AGENTS = 4

layer(Layer.empty, { excludeTestServices: true })("npm start, ended in every way", (it) => {
  it.effect("stops in the middle of the example with all its agents", () =>
    Effect.gen(function* () {
      const stack = yield* startStack({ env: { RUNPLANE_DATA_DIR: yield* temporaryFolder } })
      assert.isDefined(yield* stack.line("recommends"))
      const started = descendants(stack.pid)
      assert.isAtLeast(started.length, AGENTS)
      yield* stopAndCheck(stack, started)
    })
  )

  it.effect("leaves neither agents nor the database server behind when it is killed", () =>
    Effect.gen(function* () {
      const stack = yield* startStack({ env: { RUNPLANE_DATA_DIR: yield* temporaryFolder } })
      assert.isDefined(yield* stack.line("recommends"))
      const started = descendants(stack.pid)
      assert.isAtLeast(started.length, AGENTS)
      yield* stack.stop("SIGKILL")
      yield* untilGone(started)
    })
  )

  it.effect("stops in time although a client holds a connection open", () =>
    Effect.gen(function* () {
      const stack = yield* startStack({ args: ["--no-demo"], env: { RUNPLANE_DATA_DIR: yield* temporaryFolder } })
      assert.isDefined(yield* stack.line("Serving"))
      yield* connectSilently(stack.ports.controlPlane)
      yield* connectSilently(stack.ports.launcher)
      const started = descendants(stack.pid)
      const limit = STOP_LIMIT_MS * (yield* slowness)
      const { ms } = yield* stack.stop("SIGINT")
      assert.isBelow(ms, limit)
      yield* untilGone(started)
    })
  )

  it.effect("uses a database and a runtime that are given, and ends with the example under --demo-only", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* temporaryFolder, "unused")
      const sandbox = yield* Layer.build(Sandbox.layer({ port: 0, observers: [CONTROL_PLANE_IDENTITY] }))
      const stack = yield* startStack({
        args: ["--demo-only"],
        env: {
          RUNPLANE_DATA_DIR: dataDir,
          DATABASE_URL: yield* createDatabase,
          RUNTIME_ADDRESS: Context.get(sandbox, Sandbox).address
        }
      })
      const { code, stderr, stdout } = yield* stack.ended
      assert.deepStrictEqual(stderr, [])
      assert.strictEqual(code, 0)
      checkNarrative(stdout)
      assert.isFalse(existsSync(dataDir))
    })
  )
})
