import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { callbackServer } from "../support/CallbackServer.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { auditOf, eventsOf, post, runningRun, statusOf } from "../support/LiveRuns.ts"

const options = { observer: { discoveryEnabled: true } }

// docs/internals/runtime.md#lost-session
layer(layerTestService(options), { excludeTestServices: true })("a run whose session the runtime has lost", (it) => {
  /** A bound run, whose session is gone without a notice. */
  const lostRun = Effect.fnUntraced(function* (metadata: object = {}) {
    const runId = yield* runningRun({ ...metadata }, "policy.default", { expiresAtUnixMs: Date.now() + 60_000 })
    yield* RuntimeFake.use((fake) => fake.evict(runId))
    return runId
  })
  const assertGone = Effect.fnUntraced(function* (runId: string, audit: string) {
    assert.deepStrictEqual(yield* auditOf(runId), ["run.create", audit])
    assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
  })

  it.effect("is cancelled by delegation, and can be deleted", () =>
    Effect.gen(function* () {
      const runId = yield* lostRun({ cancellationDelegated: true })
      const answer = yield* post(runId, "cancel", { reason: "it is gone" })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(answer.body.status, "cancelled")
      assert.lengthOf(yield* eventsOf(runId, "run.cancelled"), 1)
      yield* assertGone(runId, "run.cancel")
    })
  )

  it.effect("is cancelled without a delegation and without a callback", () =>
    Effect.gen(function* () {
      const runId = yield* lostRun()
      const answer = yield* post(runId, "cancel")
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(answer.body.status, "cancelled")
      yield* assertGone(runId, "run.cancel")
    })
  )

  for (const [answered, audit] of [
    [404, ["run.cancel"]],
    [204, ["run.cancel", "run.cancel"]]
  ] as const) {
    it.effect(`is cancelled when its initiator answers ${answered} to the callback`, () =>
      Effect.gen(function* () {
        const server = yield* callbackServer(answered)
        const runId = yield* lostRun({ cancelCallback: { url: server.url } })
        const answer = yield* post(runId, "cancel")
        assert.strictEqual(answer.status, 201, answer.text)
        assert.strictEqual(answer.body.status, "cancelled", answer.text)
        assert.deepStrictEqual(yield* auditOf(runId), ["run.create", ...audit])
      })
    )
  }

  it.effect("is not cancelled while the runtime does not answer", () =>
    Effect.gen(function* () {
      const runId = yield* lostRun()
      yield* RuntimeFake.use((fake) => fake.fail({ method: "GetSession", sessionId: runId, times: 9 }, "UNAVAILABLE"))
      assert.strictEqual((yield* post(runId, "cancel")).status, 400)
      assert.strictEqual(yield* statusOf(runId), "running")
    })
  )

  it.effect("fails when it is abandoned", () =>
    Effect.gen(function* () {
      const runId = yield* lostRun()
      const answer = yield* post(runId, "abandon", { reason: "the runtime was replaced" })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepInclude(answer.body, {
        status: "failed",
        errorCode: "SESSION_LOST",
        errorMessage: "the runtime does not know the session any more: the runtime was replaced"
      })
      yield* assertGone(runId, "run.abandon")
    })
  )
})
