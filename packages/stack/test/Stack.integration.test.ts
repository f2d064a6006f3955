import { existsSync } from "node:fs"
import { join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { temporaryFolder } from "@runplane/postgres"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { connectSilently, createDatabase, slowness } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { lookByCommandLine } from "./support/CommandLineLook.ts"
import { descendants, isRunning } from "./support/Processes.ts"
import { type StackProcess, startStack } from "./support/StackProcess.ts"
import { untilGone } from "./support/StackRuns.ts"

/** Ctrl-C ends everything within this time, in milliseconds. */
const STOP_LIMIT_MS = 2_000

const AGENTS = 4

const clientOf = ({ ports }: StackProcess) =>
  ControlPlaneClient.layer({ baseUrl: `http://127.0.0.1:${ports.controlPlane}` }).pipe(
    Layer.provide(NodeHttpClient.layerNodeHttp)
  )

const listRuns = Effect.flatMap(ControlPlaneClient, ({ api }) =>
  api.runs.list({ query: { limit: 10, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: false } })
)

/** Ctrl-C, and the proof that nothing of the stack is left. */
const stopAndLook = Effect.fnUntraced(function* (stack: StackProcess, started: ReadonlyArray<number>) {
  const limit = STOP_LIMIT_MS * (yield* slowness)
  const end = yield* stack.stop("SIGINT")
  assert.strictEqual(end.code, 0)
  assert.isBelow(end.ms, limit)
  assert.deepStrictEqual(started.filter(isRunning), [])
  assert.deepStrictEqual(end.stderr, [])
  return end
})

layer(Layer.empty, { excludeTestServices: true })("npm start", (it) => {
  it.effect("tells the example live, decides it, keeps it over a restart, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const env = { RUNPLANE_DATA_DIR: yield* temporaryFolder }
      const runId = yield* Effect.scoped(
        Effect.gen(function* () {
          const stack = yield* startStack({ env })
          assert.isDefined(yield* stack.line("Serving"))
          const found = yield* lookAtRun.pipe(Effect.provide(clientOf(stack)))
          const started = descendants(stack.pid)
          assert.isNotEmpty(started)
          const { stdout } = yield* stopAndLook(stack, started)
          checkStory(stdout)
          assert.isDefined(stdout.find((line) => line.includes(`/runs/${found}/state`)))
          assert.lengthOf(
            stdout.filter((line) => line.startsWith("  curl ")),
            3
          )
          return found
        })
      )
      const again = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* again.line("Serving"))
      const { data } = yield* listRuns.pipe(Effect.provide(clientOf(again)))
      yield* lookByCommandLine(again.ports, runId)
      assert.deepStrictEqual(
        data.map(({ id, status }) => [String(id), status]),
        [[runId, "completed"]]
      )
      yield* stopAndLook(again, descendants(again.pid))
    })
  )

  it.effect("stops in the middle of the example with all its agents", () =>
    Effect.gen(function* () {
      const stack = yield* startStack({ env: { RUNPLANE_DATA_DIR: yield* temporaryFolder } })
      assert.isDefined(yield* stack.line("evaluates"))
      const started = descendants(stack.pid)
      assert.isAtLeast(started.length, AGENTS)
      yield* stopAndLook(stack, started)
    })
  )

  it.effect("leaves neither agents nor the database server behind when it is killed", () =>
    Effect.gen(function* () {
      const stack = yield* startStack({ env: { RUNPLANE_DATA_DIR: yield* temporaryFolder } })
      assert.isDefined(yield* stack.line("evaluates"))
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

  it.effect("uses a database and a runtime that are given, and ends with the example when that is asked for", () =>
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
      checkStory(stdout)
      assert.isFalse(existsSync(dataDir))
    })
  )
})

/** The only run: decided, counted, and complete on the public stream. */
const lookAtRun = Effect.gen(function* () {
  const { api, streamRun } = yield* ControlPlaneClient
  const { data } = yield* listRuns
  const [run] = data
  if (run === undefined) return assert.fail("no run")
  const params = { id: run.id }
  const state = yield* api.runs.state({ params })
  assert.strictEqual(state.run.status, "completed")
  assert.isTrue(state.decision.current?.finalized)
  assert.strictEqual(state.decision.current?.outcomePositive, true)
  assert.strictEqual(state.llm.totals.callCount, AGENTS)

  const metrics = yield* api.runs.metrics({ params })
  assert.strictEqual(metrics.decisionCount, 1)
  assert.isAbove(metrics.totalTokens, 0)
  assert.isAbove(metrics.estimatedCostUsd, 0)

  const frames = yield* Stream.runCollect(streamRun(run.id, { afterSeq: 0 }))
  const indexes = frames.flatMap((frame) => (frame.event === "canonical_event" ? [frame.data.index] : []))
  assert.deepStrictEqual(
    indexes,
    Array.from({ length: metrics.eventCount }, (_, place) => place + 1)
  )
  return String(run.id)
})

const checkStory = (stdout: ReadonlyArray<string>) => {
  const place = (...words: ReadonlyArray<string>) =>
    stdout.findIndex((line) => words.every((word) => line.includes(word)))
  const chapters = [
    place("run", "created"),
    place("incident-commander", "opens the session for 4 participants"),
    place("incident-commander", "proposes fail_over_now"),
    place("security-analyst", "evaluates APPROVE"),
    place("replication-analyst", "votes APPROVE"),
    place("incident-commander", "commits decision.selected (positive)"),
    place("run", "completed"),
    place("Decision", "decision.selected, positive, by incident-commander"),
    place("Tokens", "4 calls", "$0.0")
  ]
  assert.notInclude(chapters, -1)
  assert.deepStrictEqual(
    chapters,
    chapters.toSorted((one, other) => one - other)
  )
}
