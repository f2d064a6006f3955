import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { isAlive } from "../fixtures/Roots.ts"

const SECRET = "key-of-the-service"

const FIXTURE = new URL("../fixtures/guarded.ts", import.meta.url).pathname

/** Starts the fixture; answers it with the ids that it prints. */
const service = Effect.acquireRelease(
  Effect.callback<{
    readonly kill: () => void
    readonly pid: number | undefined
    readonly kept: number
    readonly released: number
    readonly helper: number
  }>((resume) => {
    const env = { ...process.env, AUTH_API_KEYS: SECRET }
    const child = spawn(process.execPath, [FIXTURE], { stdio: ["ignore", "pipe", "inherit"], env })
    child.stdout.once("data", (text: Buffer) => {
      const [kept = 0, released = 0, helper = 0] = text.toString().trim().split(" ").map(Number)
      resume(Effect.succeed({ kill: () => child.kill("SIGKILL"), pid: child.pid, kept, released, helper }))
    })
  }),
  ({ helper, kept, kill, released }) =>
    Effect.sync(() => {
      kill()
      for (const pid of [kept, released, helper]) if (isAlive(pid)) process.kill(pid, "SIGKILL")
    })
)

/** The guards of a process, from the list of all processes. */
const guardsOf = (parent: number | undefined): ReadonlyArray<string> =>
  readdirSync("/proc")
    .filter((id) => /^\d+$/.test(id) && existsSync(`/proc/${id}/cmdline`))
    .filter((id) => {
      const [, , , above] = (textOf(`/proc/${id}/stat`) ?? "").replace(/\(.*\)/, "name").split(" ")
      return above === String(parent) && (textOf(`/proc/${id}/cmdline`) ?? "").includes("runplane-agent-guard")
    })

const textOf = (file: string) => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined // The process has ended meanwhile.
  }
}

it.live.skipIf(process.platform !== "linux")("the guard inherits no key of the service", () =>
  Effect.gen(function* () {
    const { pid } = yield* service
    const guards = guardsOf(pid)
    assert.lengthOf(guards, 1)
    assert.notInclude(textOf(`/proc/${guards[0]}/environ`), SECRET)
  })
)

it.live(
  "a program that knows nothing of its host ends with it also by kill -9, and one that was released does not",
  () =>
    Effect.gen(function* () {
      const { helper, kept, kill, released } = yield* service
      assert.isTrue(isAlive(kept))
      kill()
      yield* until(
        Effect.sync(() => isAlive(kept)),
        (alive) => !alive
      )
      if (process.platform === "linux") {
        yield* until(
          Effect.sync(() => isAlive(helper)),
          (alive) => !alive
        )
      }
      assert.isTrue(isAlive(released))
    })
)
