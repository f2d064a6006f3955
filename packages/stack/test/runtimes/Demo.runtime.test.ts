import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { startRuntime } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { startStack } from "../support/StackProcess.ts"

/**
 * What the demo says about its outcome. Tokens are not among it: what the agents say, and thus pay for, names the
 * session.
 */
const OUTCOME = ["Decision", "Because", "Votes"]

const outcomeOf = (stdout: ReadonlyArray<string>) =>
  stdout.filter((line) => OUTCOME.some((name) => line.startsWith(`  ${name} `)))

const demo = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const settings = { RUNPLANE_DATA_DIR: yield* temporaryFolder, ...env }
  const { code, stderr, stdout } = yield* Effect.flatMap(
    startStack({ args: ["--demo-only"], env: settings }),
    ({ ended }) => ended
  )
  assert.deepStrictEqual(stderr, [])
  assert.strictEqual(code, 0)
  return outcomeOf(stdout)
})

layer(Layer.empty, { excludeTestServices: true })("npm start", (it) => {
  it.effect("has the same outcome on macp-runtime as on the sandbox, with nothing but its address", () =>
    Effect.gen(function* () {
      // As the README says: with the limits that the runtime has by itself.
      const address = yield* startRuntime({ MACP_MEMORY_ONLY: "1" })
      const outcome = yield* demo({ RUNTIME_ADDRESS: address })
      assert.lengthOf(outcome, OUTCOME.length)
      assert.deepStrictEqual(outcome, yield* demo({}))
    })
  )
})
