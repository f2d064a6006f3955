import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { listenAnywhere, slowness, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { descendants } from "./support/Processes.ts"
import { type StackProcess, startStack } from "./support/StackProcess.ts"
import { createRun, launch, Running, runningWith, runOf, startServing, untilGone } from "./support/StackRuns.ts"
import { INITIATOR, packsWith, SPECIALISTS } from "./support/TestPacks.ts"

const AGENTS = 4

const stackOfLosses = Effect.gen(function* () {
  const patience = { env: { PROTO_SESSION_WAIT_MS: "1000" } }
  const packs = yield* packsWith({
    [INITIATOR]: { idle: ["--fail-after", "700"] },
    ...Object.fromEntries(SPECIALISTS.map((agentRef) => [agentRef, patience]))
  })
  return yield* startServing({
    PACKS_DIR: packs,
    CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS: "false",
    SESSION_POLL_TIMEOUT_MS: "3000"
  })
})

layer(runningWith(stackOfLosses), { excludeTestServices: true, timeout: "60 seconds" })(
  "a stack that calls no private addresses, and whose initiator crashes",
  (it) => {
    it.effect("sends no cancel request to an agent of this machine", () =>
      Effect.gen(function* () {
        const port = yield* listenAnywhere
        const url = `http://127.0.0.1:${port}/cancel`
        const failure = yield* Effect.flip(createRun(url))
        assert.strictEqual(failure.message, "session.metadata.cancelCallback.url is a private address")
      })
    )

    it.effect("fails the launch at once with the reason, and leaves neither an agent nor a waiting run", () =>
      Effect.gen(function* () {
        const stack = yield* Running
        const before = new Set(descendants(stack.pid))
        const refusal = yield* Effect.flip(launch)
        if (refusal._tag !== "AgentStartFailed") return assert.fail(`${refusal}`)
        assert.include(refusal.message, "incident-commander")
        const id = String(refusal.metadata?.["sessionId"])
        // It may have crashed before the run was submitted, or after.
        const run = yield* Effect.option(runOf(id))
        assert.isTrue(Option.isNone(run) || run.value.status === "failed")
        yield* untilGone(descendants(stack.pid).filter((pid) => !before.has(pid)))
      })
    )
  }
)

layer(Layer.empty, { excludeTestServices: true })("a stack that was killed", (it) => {
  it.effect("leaves no process, and its successor starts on the same data and removes the leftovers", () =>
    Effect.gen(function* () {
      const env = { RUNPLANE_DATA_DIR: yield* temporaryFolder, TMPDIR: yield* temporaryFolder }
      const stack = yield* startStack({ env })
      assert.isDefined(yield* stack.line("recommends"))
      const started = descendants(stack.pid)
      assert.isAtLeast(started.length, AGENTS)
      yield* stack.stop("SIGKILL")
      assert.isNotEmpty(bootstrapFiles(env.TMPDIR))

      const successor = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* successor.line("Serving"))
      yield* untilGone(started)
      assert.deepStrictEqual(bootstrapFiles(env.TMPDIR), [])
      const { code, stderr } = yield* successor.stop("SIGINT")
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(stderr, [])
    })
  )
})

/** The server of a stack's database. */
const postmasterOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0])

const answers = (stack: StackProcess) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${stack.ports.controlPlane}/runs`).then(
      ({ status }) => status,
      () => undefined
    )
  )

layer(Layer.empty, { excludeTestServices: true })("a stack whose database server", (it) => {
  it.effect("is killed restarts it, with a log line, and continues", () =>
    Effect.gen(function* () {
      const env = { RUNPLANE_DATA_DIR: yield* temporaryFolder }
      const stack = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* stack.line("Serving"))
      const first = postmasterOf(env.RUNPLANE_DATA_DIR)
      process.kill(first, "SIGKILL")
      yield* until(Effect.sync(stack.output), (text) => text.includes("PostgreSQL is back"))
      yield* until(answers(stack), (status) => status === 200)
      assert.include(stack.output(), `PostgreSQL ended (process ${first}: ended by SIGKILL); it is started again`)
      const second = postmasterOf(env.RUNPLANE_DATA_DIR)
      assert.notStrictEqual(second, first)
      // What still connects anew may take the whole time that a stop has.
      yield* stack.stop("SIGINT")
      yield* untilGone([second])
    })
  )

  it.effect("cannot be started again ends with one clear line", () =>
    Effect.gen(function* () {
      const env = { RUNPLANE_DATA_DIR: yield* temporaryFolder }
      const stack = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* stack.line("Serving"))
      const server = postmasterOf(env.RUNPLANE_DATA_DIR)
      rmSync(join(env.RUNPLANE_DATA_DIR, "postgres", "PG_VERSION"))
      process.kill(server, "SIGKILL")
      const { code, stderr } = yield* stack.ended
      assert.strictEqual(code, 1)
      assert.match(stderr.at(-1) ?? "", /^runplane: PostgreSQL did not start: /)
    })
  )

  it.effect("hangs does not hold up a second Ctrl-C", () =>
    Effect.gen(function* () {
      const env = { RUNPLANE_DATA_DIR: yield* temporaryFolder }
      const stack = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* stack.line("Serving"))
      const server = postmasterOf(env.RUNPLANE_DATA_DIR)
      process.kill(server, "SIGSTOP")
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(server, "SIGKILL")).pipe(Effect.ignoreCause))
      process.kill(stack.pid, "SIGINT")
      // It is stopping: nothing listens any more.
      yield* until(answers(stack), (status) => status === undefined)
      assert.isTrue(stack.isAlive())
      const { code, ms } = yield* stack.stop("SIGINT")
      assert.strictEqual(code, 130)
      assert.isBelow(ms, 500 * (yield* slowness))
    })
  )
})

/** The agents' input, in the only folder of a temporary one that is theirs. */
const bootstrapFiles = (folder: string): ReadonlyArray<string> => {
  const own = readdirSync(folder).find((name) => name.startsWith("macp-bootstrap"))
  return own !== undefined && existsSync(join(folder, own)) ? readdirSync(join(folder, own)) : []
}
