import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { temporaryFolder } from "@runplane/postgres"
import { otlpCollector } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { DEMO_SCENARIO } from "../src/demo/Demo.ts"
import { readByCommandLine } from "./support/CommandLineReads.ts"
import { checkNarrative } from "./support/Narrative.ts"
import { checkTraces, tracedTo } from "./support/OneTrace.ts"
import { descendants } from "./support/Processes.ts"
import { stopAndCheck } from "./support/StackEnd.ts"
import { type StackProcess, startStack } from "./support/StackProcess.ts"

const AGENTS = 4

const clientOf = ({ ports }: StackProcess) =>
  ControlPlaneClient.layer({ baseUrl: `http://127.0.0.1:${ports.controlPlane}` }).pipe(
    Layer.provide(NodeHttpClient.layerNodeHttp)
  )

/** The runs of the example. The one with a person goes on, and ends with its agents. */
const listRuns = Effect.flatMap(ControlPlaneClient, ({ api }) =>
  api.runs.list({
    query: {
      scenarioRef: DEMO_SCENARIO,
      limit: 10,
      offset: 0,
      sortBy: "createdAt",
      sortOrder: "desc",
      includeArchived: false
    }
  })
)

layer(Layer.empty, { excludeTestServices: true })("npm start", (it) => {
  it.effect("shows the example live, decides it, keeps it over a restart, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const env = { RUNPLANE_DATA_DIR: yield* temporaryFolder }
      const collector = yield* otlpCollector
      const { runId, shown } = yield* Effect.scoped(
        Effect.gen(function* () {
          const stack = yield* startStack({ env: { ...env, ...tracedTo(collector.url) } })
          assert.isDefined(yield* stack.line("Serving"))
          assert.isDefined(yield* stack.line("One question waits for you"))
          const found = yield* readRun.pipe(Effect.provide(clientOf(stack)))
          const started = descendants(stack.pid)
          assert.isNotEmpty(started)
          const { stdout } = yield* stopAndCheck(stack, started)
          checkNarrative(stdout)
          assert.isDefined(stdout.find((line) => line.includes(`/runs/${found}/state`)))
          assert.isDefined(stdout.find((line) => line.includes("/inbox/")))
          assert.lengthOf(
            stdout.filter((line) => line.startsWith("  curl ")),
            3
          )
          return { runId: found, shown: stdout }
        })
      )
      checkTraces(collector.spans, runId, AGENTS)
      const again = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* again.line("Serving"))
      const { data } = yield* listRuns.pipe(Effect.provide(clientOf(again)))
      yield* readByCommandLine(again.ports, runId, shown)
      assert.deepStrictEqual(
        data.map(({ id, status }) => [String(id), status]),
        [[runId, "completed"]]
      )
      yield* stopAndCheck(again, descendants(again.pid))
    })
  )
})

/** The example: decided, counted, and complete on the public stream. */
const readRun = Effect.gen(function* () {
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
    Array.from({ length: metrics.eventCount }, (_, position) => position + 1)
  )
  return String(run.id)
})
