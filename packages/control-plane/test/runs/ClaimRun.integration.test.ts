import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"
import { awaitStatus } from "../support/Observation.ts"

const service = layerTestService({ observer: { discoveryEnabled: true, discoveryGraceMs: 0 } })

/** A session that its agents opened before a run was posted for it, discovered and observed. */
const discovered = Effect.gen(function* () {
  const fake = yield* RuntimeFake
  const sessionId = randomUUID()
  yield* fake.awaitOpenStreams("WatchSessions", 1)
  yield* fake.openSession({ sessionId })
  const seen = call("GET", `/runs/${sessionId}`)
  yield* until(seen, (answer) => answer.status === 200)
  yield* awaitStatus(RunId.make(sessionId), "running")
  return sessionId
})

layer(service, { excludeTestServices: true })("POST /runs for a session that was discovered first", (it) => {
  it.effect("takes the discovered run, with its id, its status and the descriptor's metadata", () =>
    Effect.gen(function* () {
      const sessionId = yield* discovered
      const before = yield* call("GET", `/runs/${sessionId}`)
      assert.strictEqual(before.body.metadata.source, "session-discovery")
      const posted = yield* call("POST", "/runs", {
        body: descriptor({
          session: { sessionId, metadata: { environment: "staging", scenarioRef: "a/b@1.0.0" } },
          execution: { tags: ["mine"] }
        })
      })
      assert.strictEqual(posted.status, 202, posted.text)
      assert.strictEqual(posted.body.runId, sessionId)
      assert.strictEqual(posted.body.status, "running")
      assert.strictEqual(posted.body.traceId, before.body.traceId)
      const after = yield* call("GET", `/runs/${sessionId}`)
      assert.deepStrictEqual(after.body.tags, ["mine"])
      assert.strictEqual(after.body.metadata.environment, "staging")
      assert.strictEqual(after.body.metadata.executionRequest.session.metadata.scenarioRef, "a/b@1.0.0")
      assert.isUndefined(after.body.metadata.source)
      const listed = yield* call("GET", "/runs?environment=staging")
      assert.strictEqual(listed.body.total, 1)
    })
  )

  it.effect("gives a run that has ended meanwhile its scenario, for lists, and leaves its end", () =>
    Effect.gen(function* () {
      const sessionId = yield* discovered
      yield* (yield* RuntimeFake).transition(sessionId, "RESOLVED")
      yield* awaitStatus(RunId.make(sessionId), "completed")
      const { text: log } = yield* call("GET", `/runs/${sessionId}/events`)
      const scenarioRef = `late/${sessionId}@1.0.0`
      const metadata = { scenarioRef, launch: { inputs: { a: 1 } } }
      const posted = yield* call("POST", "/runs", { body: descriptor({ session: { sessionId, metadata } }) })
      assert.deepStrictEqual([posted.status, posted.body.status], [202, "completed"])
      const listed = yield* call("GET", `/runs?scenarioRef=${encodeURIComponent(scenarioRef)}`)
      assert.deepStrictEqual([listed.body.total, listed.body.data[0].status], [1, "completed"])
      assert.deepStrictEqual(listed.body.data[0].metadata.launch, metadata.launch)
      assert.strictEqual((yield* call("GET", `/runs/${sessionId}/events`)).text, log)
    })
  )

  it.effect("lets one of several requests have it and answers the others 409", () =>
    Effect.gen(function* () {
      const sessionId = yield* discovered
      const post = call("POST", "/runs", { body: descriptor({ session: { sessionId } }) })
      const answers = yield* Effect.all([post, post, post], { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map((answer) => answer.status).sort(), [202, 409, 409])
    })
  )
})
