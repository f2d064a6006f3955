import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"
import { createRun, readLog } from "../../support/Runs.ts"

const compare = (body: unknown) => call("POST", "/runs/compare", { body })

/** A run whose session was followed to its end. */
const followedRun = Effect.fnUntraced(function* (participants: ReadonlyArray<string>) {
  const runId = RunId.make(randomUUID())
  const fake = yield* RuntimeFake
  yield* fake.openSession({ sessionId: runId, participants, initiator: participants[0] ?? "" })
  yield* call("POST", "/runs", {
    body: descriptor({
      session: { sessionId: runId, metadata: { scenarioRef: "loans/fast@1.0.0" } },
      ...{ mode: "sandbox" }
    })
  })
  yield* awaitStatus(runId, "running")
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitStatus(runId, "completed")
  return runId
})

layer(layerTestService(), { excludeTestServices: true })("insights over HTTP", (it) => {
  it.effect("rebuilds the projection and answers the state with its latest seq", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, 30, 10)
      const state = yield* call("GET", `/runs/${runId}/state`)
      const answer = yield* call("POST", `/runs/${runId}/projection/rebuild`)
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepStrictEqual(answer.body, {
        rebuilt: true,
        latestSeq: state.body.timeline.latestSeq,
        ...state.body
      })
      const { projection } = yield* readLog(runId)
      assert.strictEqual(projection?.state, state.text)
    })
  )

  it.effect("shows the trace of a run with its artifacts and its scenario", () =>
    Effect.gen(function* () {
      const runId = yield* followedRun(["a"])
      const { body, status } = yield* call("GET", `/runs/${runId}/traces`)
      assert.strictEqual(status, 200)
      const run = yield* call("GET", `/runs/${runId}`)
      const state = yield* call("GET", `/runs/${runId}/state`)
      const artifacts = yield* call("GET", `/runs/${runId}/artifacts`)
      assert.deepStrictEqual(body, {
        traceId: run.body.traceId,
        spanCount: state.body.trace.spanCount,
        lastSpanId: state.body.trace.lastSpanId,
        linkedArtifacts: artifacts.body.map((artifact: { id: string }) => artifact.id),
        runStatus: "completed",
        scenarioRef: "loans/fast@1.0.0"
      })
    })
  )

  it.effect("leaves the scenario of a run without one away, and prefers the source's own reference", () =>
    Effect.gen(function* () {
      const bare = yield* call("GET", `/runs/${yield* createRun()}/traces`)
      assert.notProperty(bare.body, "scenarioRef")
      const { body } = yield* call("POST", "/runs", {
        body: descriptor({ session: { metadata: { scenarioRef: "a", sourceRef: "b" } } })
      })
      assert.strictEqual((yield* call("GET", `/runs/${body.runId}/traces`)).body.scenarioRef, "b")
    })
  )

  it.effect("compares two runs", () =>
    Effect.gen(function* () {
      const left = yield* followedRun(["a", "b"])
      const right = yield* endedRun
      const { body, status, text } = yield* compare({ leftRunId: left.toUpperCase(), rightRunId: right })
      assert.strictEqual(status, 201, text)
      assert.strictEqual(body.left.runId, left)
      assert.strictEqual(body.left.status, "completed")
      assert.isAtLeast(body.left.durationMs, 0)
      assert.deepStrictEqual(body.right, {
        runId: right,
        status: "cancelled",
        modeName: "macp.mode.decision.v1"
      })
      assert.strictEqual(body.statusMatch, false)
      assert.notProperty(body, "durationDeltaMs")
      assert.deepStrictEqual(body.participantsDiff, { added: [], removed: ["a", "b"], common: [] })
      assert.deepStrictEqual(body.signalsDiff, { added: [], removed: [] })
    })
  )

  it.effect("compares only runs that exist", () =>
    Effect.gen(function* () {
      const [known, unknown] = [yield* createRun(), randomUUID()]
      for (const body of [
        { leftRunId: known, rightRunId: unknown },
        { leftRunId: unknown, rightRunId: known }
      ]) {
        const answer = yield* compare(body)
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(answer.body.message, `run ${unknown} not found`)
      }
    })
  )

  for (const [body, message] of [
    [{}, ["leftRunId must be a UUID", "rightRunId must be a UUID"]],
    [
      { leftRunId: "x", rightRunId: 7, other: 1 },
      ["property other should not exist", "leftRunId must be a UUID", "rightRunId must be a UUID"]
    ]
  ] as const) {
    it.effect(`refuses to compare ${JSON.stringify(body)}`, () =>
      Effect.gen(function* () {
        const answer = yield* compare(body)
        assert.strictEqual(answer.status, 400)
        assert.deepStrictEqual(answer.body.message, message)
      })
    )
  }
})
