import { spawn } from "node:child_process"
import { assert, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { isAlive } from "../fixtures/Roots.ts"

const FIXTURE = new URL("../fixtures/guarded.ts", import.meta.url).pathname

/** Starts the fixture; answers it with the ids that it prints. */
const service = Effect.acquireRelease(
  Effect.callback<{ readonly kill: () => void; readonly kept: number; readonly released: number }>((resume) => {
    const child = spawn(process.execPath, [FIXTURE], { stdio: ["ignore", "pipe", "inherit"] })
    child.stdout.once("data", (text: Buffer) => {
      const [kept = 0, released = 0] = text.toString().trim().split(" ").map(Number)
      resume(Effect.succeed({ kill: () => child.kill("SIGKILL"), kept, released }))
    })
  }),
  ({ kept, kill, released }) =>
    Effect.sync(() => {
      kill()
      for (const pid of [kept, released]) if (isAlive(pid)) process.kill(pid, "SIGKILL")
    })
)

it.live(
  "a program that knows nothing of its host ends with it also by kill -9, and one that was released does not",
  () =>
    Effect.gen(function* () {
      const { kept, kill, released } = yield* service
      assert.isTrue(isAlive(kept))
      kill()
      yield* until(
        Effect.sync(() => isAlive(kept)),
        (alive) => !alive
      )
      assert.isTrue(isAlive(released))
    })
)
