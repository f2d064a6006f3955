import { assert, layer } from "@effect/vitest"
import type { RunId, RunStatus } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import type { Answer } from "@runplane/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import { type CallbackRequest, callbackServer } from "../support/CallbackServer.ts"
import { baseUrl, layerTestService } from "../support/HttpService.ts"
import {
  assertEndedOnce,
  assertPausesAlternate,
  auditOf,
  eventsOf,
  post,
  runningRun,
  statusOf,
  unboundRun
} from "../support/LiveRuns.ts"
import { awaitStatus } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"

/** Races are run so often, because each time others win. */
const ROUNDS = 5

// Without recovery no process adopts the runs that the tests put into a state of their own.
const observer = { discoveryEnabled: true, endCheckDelayMs: 5, recoveryEnabled: false }
const service = layerTestService({ settings: { CANCEL_CALLBACK_TIMEOUT_MS: "30000" }, observer })
const impatientService = layerTestService({ settings: { CANCEL_CALLBACK_TIMEOUT_MS: "100" }, observer })

const delegated = { cancellationDelegated: true }
const cancel = (runId: RunId) => post(runId, "cancel", { reason: "enough" })
const both = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.all([effect, effect], { concurrency: "unbounded" })

/** Requests a cancellation, and disconnects once `hungUp` is done. */
const cancelAndHangUp = Effect.fnUntraced(function* (runId: RunId, hungUp: Effect.Effect<unknown>) {
  const url = `${yield* baseUrl}/runs/${runId}/cancel`
  const abort = new AbortController()
  const request = yield* Effect.forkChild(
    Effect.promise(() => fetch(url, { method: "POST", signal: abort.signal }).catch(() => "hung up"))
  )
  yield* hungUp
  abort.abort()
  yield* Fiber.join(request)
})

const awaitAudit = (runId: RunId, entry: string) => until(auditOf(runId, true), (entries) => entries.includes(entry))

/** The event has the reason, whether the request or the observer wrote it. */
const assertReasonTold = (runId: RunId) =>
  Effect.map(eventsOf(runId, "run.cancelled"), ([event]) =>
    assert.strictEqual(event?.recorded.data["reason"], "enough")
  )

/** Once ended, as answered to the caller: 201 and an entry only for a cancelled run. Returns the status. */
const assertAnswerFits = Effect.fnUntraced(function* (runId: RunId, answer: Answer) {
  const end = yield* assertEndedOnce(runId)
  assert.include(end === "cancelled" ? [201, 409] : [409], answer.status, answer.text)
  const audited = (yield* auditOf(runId, true)).slice(1)
  assert.deepStrictEqual(audited, answer.status === 201 ? ["run.cancel succeeded"] : [])
  if (answer.status === 201) yield* assertReasonTold(runId)
  return end
})

const ENDS = [
  ["RESOLVED", "completed"],
  ["EXPIRED", "failed"],
  ["CANCELLED", "cancelled"]
] as const

// docs/reference/runs.md#cancel, docs/reference/events.md#end-of-run
layer(service, { excludeTestServices: true })("races of cancel by delegation", (it) => {
  it.effect("two callers at once: cancelled once, and each receives how the run ended", () =>
    Effect.gen(function* () {
      for (let round = 0; round < ROUNDS; round++) {
        const runId = yield* runningRun(delegated)
        const answers = yield* both(cancel(runId))
        for (const { body, status } of answers) {
          assert.include([201, 409], status)
          if (status === 201) assert.strictEqual(body.status, "cancelled")
          else assert.strictEqual(body.errorCode, "INVALID_STATE_TRANSITION")
        }
        assert.isTrue(answers.some(({ status }) => status === 201))
        assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
        const entries = (yield* auditOf(runId, true)).slice(1)
        assert.deepStrictEqual(
          entries,
          answers.filter(({ status }) => status === 201).map(() => "run.cancel succeeded")
        )
      }
    })
  )

  for (const status of ["queued", "starting", "binding_session", "running", "suspended"] satisfies Array<RunStatus>) {
    it.effect(`a run that is ${status}, whose session is open at the runtime`, () =>
      Effect.gen(function* () {
        const runId = yield* createRun({ status, metadata: delegated })
        yield* RuntimeFake.use((fake) => fake.openSession({ sessionId: runId, initiator: "agent://lead" }))
        const { body, status: answered, text } = yield* cancel(runId)
        assert.strictEqual(answered, 201, text)
        assert.strictEqual(body.status, "cancelled")
        assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
        const [change] = yield* eventsOf(runId, "session.state.changed")
        assert.deepInclude(change?.data, { state: "CANCELLED" })
        assert.deepStrictEqual(yield* auditOf(runId, true), ["run.cancel succeeded"])
      })
    )

    it.effect(`a run that is ${status}, whose session the runtime does not know`, () =>
      Effect.gen(function* () {
        const runId = yield* createRun({ status, metadata: delegated })
        assert.strictEqual((yield* cancel(runId)).status, 201)
        assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
        assert.deepStrictEqual(yield* auditOf(runId, true), ["run.cancel succeeded"])
      })
    )
  }

  it.effect("a session that is opened while the run is being cancelled: the run stays cancelled", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      for (let round = 0; round < ROUNDS; round++) {
        const runId = yield* unboundRun(delegated)
        const [{ status }] = yield* Effect.all(
          [cancel(runId), fake.openSession({ sessionId: runId, initiator: "agent://lead" })],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(status, 201)
        assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
      }
    })
  )

  for (const [how, end] of ENDS) {
    it.effect(`a session that is ${how} at the same moment: one end, which the caller receives`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        for (let round = 0; round < ROUNDS; round++) {
          const runId = yield* runningRun(delegated)
          const racers = [cancel(runId), fake.transition(runId, how)] as const
          const [answer] = yield* Effect.all(racers, { concurrency: "unbounded" })
          // The runtime decides which came first; the fake lets a transition overrule a cancellation.
          yield* until(statusOf(runId), (status) => status === end || status === "cancelled")
          yield* assertAnswerFits(runId, answer)
        }
      })
    )

    it.effect(`the runtime's answer comes late, after the session was ${how}`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* runningRun(delegated)
        yield* fake.delay({ method: "CancelSession", sessionId: runId }, "100 millis")
        const before = (yield* fake.calls).filter(({ method }) => method === "CancelSession").length
        const ending = Effect.gen(function* () {
          yield* fake.awaitCalls("CancelSession", before + 1)
          yield* fake.transition(runId, how)
          yield* awaitStatus(runId, end)
        })
        const [answer] = yield* Effect.all([cancel(runId), ending], { concurrency: "unbounded" })
        assert.strictEqual(yield* assertAnswerFits(runId, answer), end)
      })
    )
  }

  for (const [reason, status, errorCode] of [
    ["PERMISSION_DENIED", 403, "FORBIDDEN"],
    ["FAILED_PRECONDITION", 409, "CONFLICT"],
    ["UNAVAILABLE", 503, "RUNTIME_UNAVAILABLE"],
    ["DEADLINE_EXCEEDED", 504, "RUNTIME_TIMEOUT"]
  ] as const) {
    it.effect(`a runtime that answers ${reason}: ${status}, the run is unchanged and can be cancelled later`, () =>
      Effect.gen(function* () {
        const runId = yield* runningRun(delegated)
        yield* RuntimeFake.use((fake) => fake.fail({ method: "CancelSession", sessionId: runId }, reason))
        const { body, status: answered } = yield* cancel(runId)
        assert.deepStrictEqual([answered, body.errorCode], [status, errorCode])
        assert.strictEqual(yield* statusOf(runId), "running")
        assert.deepStrictEqual(yield* auditOf(runId), ["run.create"])
        assert.strictEqual((yield* cancel(runId)).status, 201)
        assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
      })
    )
  }

  it.effect("the runtime cancels and its answer is lost: 504, and the run is cancelled by the runtime's report", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun(delegated)
      yield* fake.fail({ method: "CancelSession", sessionId: runId }, "DEADLINE_EXCEEDED")
      const [{ status }] = yield* Effect.all([cancel(runId), fake.transition(runId, "CANCELLED")], {
        concurrency: "unbounded"
      })
      assert.include([409, 504], status)
      yield* awaitStatus(runId, "cancelled")
      yield* assertEndedOnce(runId)
    })
  )

  it.effect("a caller who hangs up: the run follows what the runtime has done, and the entry is written", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun(delegated)
      yield* fake.delay({ method: "CancelSession", sessionId: runId }, "100 millis")
      const before = (yield* fake.calls).filter(({ method }) => method === "CancelSession").length
      yield* cancelAndHangUp(runId, fake.awaitCalls("CancelSession", before + 1))
      yield* awaitStatus(runId, "cancelled")
      yield* awaitAudit(runId, "run.cancel succeeded")
      yield* assertEndedOnce(runId)
    })
  )

  it.effect("a suspension or a resumption at the same moment: cancelled once, whichever came first", () =>
    Effect.gen(function* () {
      for (const action of ["suspend", "resume"]) {
        for (let round = 0; round < ROUNDS; round++) {
          const runId = yield* runningRun(delegated)
          if (action === "resume") yield* post(runId, "suspend")
          const [cancelled, paused] = yield* Effect.all([cancel(runId), post(runId, action)], {
            concurrency: "unbounded"
          })
          assert.strictEqual(cancelled.status, 201, cancelled.text)
          assert.include([201, 400, 409], paused.status, paused.text)
          assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
          yield* assertPausesAlternate(runId)
        }
      }
    })
  )
})

/** The agent cancels, and what its callback says to the service is another matter. */
const cancelledUnasked = Effect.fnUntraced(function* (reply: (request: CallbackRequest) => void) {
  const fake = yield* RuntimeFake
  const server = yield* callbackServer("hang")
  const runId = yield* runningRun({ cancelCallback: { url: server.url } })
  const answer = yield* Effect.forkChild(cancel(runId))
  const request = yield* Queue.take(server.requests)
  yield* fake.transition(runId, "CANCELLED")
  yield* awaitStatus(runId, "cancelled")
  reply(request)
  assert.strictEqual((yield* Fiber.join(answer)).status, 502)
  assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
  assert.deepStrictEqual(yield* auditOf(runId), ["run.create"])
})

layer(impatientService, { excludeTestServices: true })("races of cancel by callback, with little patience", (it) => {
  it.effect("a callback that is silent although its agent cancels: 502, cancelled once by the runtime's report", () =>
    cancelledUnasked(() => undefined)
  )
})

layer(service, { excludeTestServices: true })("races of cancel by callback", (it) => {
  it.effect("two callers at once: both call the initiator, and the run is cancelled once", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const server = yield* callbackServer(200)
      const runId = yield* runningRun({ cancelCallback: { url: server.url } })
      const answers = yield* Effect.forkChild(both(cancel(runId)))
      yield* Queue.take(server.requests)
      yield* Queue.take(server.requests)
      yield* fake.transition(runId, "CANCELLED")
      for (const { body, status } of yield* Fiber.join(answers)) {
        assert.deepStrictEqual([status, body.status], [201, "cancelled"])
      }
      assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
      assert.deepStrictEqual((yield* auditOf(runId, true)).slice(1), ["run.cancel accepted", "run.cancel accepted"])
    })
  )

  for (const [how, end] of ENDS) {
    it.effect(`a callback that answers late, after the session was ${how}: the caller sees how the run ended`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const server = yield* callbackServer("hang")
        const runId = yield* runningRun({ cancelCallback: { url: server.url } })
        const answer = yield* Effect.forkChild(cancel(runId))
        const request = yield* Queue.take(server.requests)
        yield* fake.transition(runId, how)
        yield* awaitStatus(runId, end)
        request.answer(200)
        const { body, status } = yield* Fiber.join(answer)
        assert.deepStrictEqual([status, body.status], [201, end])
        assert.strictEqual(yield* assertEndedOnce(runId), end)
        assert.deepStrictEqual((yield* auditOf(runId, true)).slice(1), ["run.cancel accepted"])
      })
    )

    it.effect(`a callback that accepts, and a session that is ${how} before the initiator cancels it`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const server = yield* callbackServer(202)
        const runId = yield* runningRun({ cancelCallback: { url: server.url } })
        const answer = yield* Effect.forkChild(cancel(runId))
        yield* Queue.take(server.requests)
        yield* fake.transition(runId, how)
        const { body, status } = yield* Fiber.join(answer)
        assert.deepStrictEqual([status, body.status], [201, end])
        yield* assertEndedOnce(runId)
      })
    )
  }

  it.effect("a callback that refuses although its agent cancels: 502, cancelled once by the runtime's report", () =>
    cancelledUnasked((request) => request.answer(500))
  )

  it.effect("a callback that fails leaves the run as it is, to be cancelled by the next attempt", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const server = yield* callbackServer("hang")
      const runId = yield* runningRun({ cancelCallback: { url: server.url } })
      for (const status of [503, 200]) {
        const answer = yield* Effect.forkChild(cancel(runId))
        const request = yield* Queue.take(server.requests)
        request.answer(status)
        if (status === 200) yield* fake.transition(runId, "CANCELLED")
        assert.strictEqual((yield* Fiber.join(answer)).status, status === 200 ? 201 : 502)
        if (status !== 200) assert.strictEqual(yield* statusOf(runId), "running")
      }
      assert.strictEqual(yield* assertEndedOnce(runId), "cancelled")
      assert.deepStrictEqual((yield* auditOf(runId, true)).slice(1), ["run.cancel accepted"])
    })
  )

  it.effect("a run that still waits for its initiator: cancelled when the runtime reports it of the session", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const server = yield* callbackServer(200)
      const runId = yield* unboundRun({ cancelCallback: { url: server.url } })
      const answer = yield* Effect.forkChild(cancel(runId))
      yield* Queue.take(server.requests)
      yield* fake.openSession({ sessionId: runId, initiator: "agent://lead", state: "CANCELLED" })
      const { body, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, body.status], [201, "cancelled"])
      yield* assertEndedOnce(runId)
    })
  )

  it.effect("a suspended run: cancelled from there", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const server = yield* callbackServer(200)
      const runId = yield* runningRun({ cancelCallback: { url: server.url } })
      yield* post(runId, "suspend")
      const answer = yield* Effect.forkChild(cancel(runId))
      yield* Queue.take(server.requests)
      yield* fake.transition(runId, "CANCELLED")
      const { body, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, body.status], [201, "cancelled"])
      yield* assertEndedOnce(runId)
      yield* assertReasonTold(runId)
      assert.strictEqual(yield* assertPausesAlternate(runId), 1)
    })
  )

  it.effect("a caller that disconnects while the initiator thinks: the call is recorded", () =>
    Effect.gen(function* () {
      const server = yield* callbackServer("hang")
      const runId = yield* runningRun({ cancelCallback: { url: server.url } })
      yield* cancelAndHangUp(
        runId,
        Effect.map(Queue.take(server.requests), ({ answer }) => setTimeout(() => answer(200), 100))
      )
      yield* awaitAudit(runId, "run.cancel accepted")
      assert.strictEqual(yield* statusOf(runId), "running")
    })
  )
})
