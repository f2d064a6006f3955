import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { layerTestService } from "../support/HttpService.ts"
import {
  assertEndedOnce,
  assertPausesAlternate,
  auditOf,
  eventsOf,
  post,
  runningRun,
  statusOf
} from "../support/LiveRuns.ts"
import { awaitEvent, awaitStatus } from "../support/Observation.ts"

/** Races are run so often, because each time others win. */
const ROUNDS = 5

// The watch notifies the observers of every suspension, beside the answer to its caller.
const service = layerTestService({ observer: { discoveryEnabled: true, endCheckDelayMs: 5 } })

const together = (...actions: ReadonlyArray<readonly [runId: RunId, action: string]>) =>
  Effect.map(
    Effect.all(
      actions.map(([runId, action]) => post(runId, action)),
      { concurrency: "unbounded" }
    ),
    (answers) => answers.map(({ status }) => status).toSorted()
  )

const suspendedRun = Effect.tap(runningRun(), (runId) => post(runId, "suspend"))

// docs/reference/runs.md#pause, docs/reference/events.md#transitions
layer(service, { excludeTestServices: true })("races of suspend and resume", (it) => {
  it.effect(
    "many pauses, one right after the other, are one event each, with the reason of the caller, in either order",
    () =>
      Effect.gen(function* () {
        const runId = yield* runningRun()
        const reasons: Array<string> = []
        for (let round = 0; round < ROUNDS; round++) {
          reasons.push(`lunch ${round}`, `back ${round}`)
          assert.strictEqual((yield* post(runId, "suspend", { reason: `lunch ${round}` })).status, 201)
          assert.strictEqual((yield* post(runId, "resume", { reason: `back ${round}` })).status, 201)
        }
        const recorded = [...(yield* eventsOf(runId, "run.suspended")), ...(yield* eventsOf(runId, "run.resumed"))]
        assert.deepStrictEqual(
          recorded.toSorted((one, other) => one.index - other.index).map(({ recorded: { data } }) => data["reason"]),
          reasons
        )
        yield* RuntimeFake.use((fake) => fake.transition(runId, "RESOLVED"))
        yield* awaitStatus(runId, "completed")
        assert.strictEqual(yield* assertPausesAlternate(runId), 2 * ROUNDS)
        const pauses = (yield* auditOf(runId)).slice(1)
        assert.lengthOf(pauses, 2 * ROUNDS)
        yield* assertEndedOnce(runId)
      })
  )

  it.effect("news of a pause that is long over change nothing", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun()
      yield* post(runId, "suspend")
      yield* post(runId, "resume")
      const session = yield* fake.client.getSession(runId)
      const late = { session: { ...session, state: "SUSPENDED" }, observedAtUnixMs: 0 } as const
      yield* fake.announce({ ...late, type: "SUSPENDED" })
      yield* fake.announce({ ...late, type: "SUSPENDED" })
      yield* fake.transition(runId, "RESOLVED")
      yield* awaitStatus(runId, "completed")
      assert.strictEqual(yield* assertPausesAlternate(runId), 2)
    })
  )

  for (const action of ["suspend", "resume"] as const) {
    it.effect(`two callers who ${action} at once: one does, the other is refused`, () =>
      Effect.gen(function* () {
        for (let round = 0; round < ROUNDS; round++) {
          const runId = yield* action === "suspend" ? runningRun() : suspendedRun
          const statuses = yield* together([runId, action], [runId, action])
          assert.strictEqual(statuses[0], 201)
          assert.include([400, 409], statuses[1])
          assert.lengthOf(yield* eventsOf(runId, action === "suspend" ? "run.suspended" : "run.resumed"), 1)
          const entries = (yield* auditOf(runId)).filter((entry) => entry === `run.${action}`)
          assert.lengthOf(entries, 1)
        }
      })
    )
  }

  it.effect("a resume at the same moment as a suspend comes before it, or after", () =>
    Effect.gen(function* () {
      for (let round = 0; round < ROUNDS; round++) {
        const runId = yield* runningRun()
        const [suspended, resumed] = yield* Effect.all([post(runId, "suspend"), post(runId, "resume")], {
          concurrency: "unbounded"
        })
        assert.strictEqual(suspended.status, 201)
        assert.include([201, 400, 409], resumed.status)
        assert.strictEqual(yield* statusOf(runId), resumed.status === 201 ? "running" : "suspended")
        yield* assertPausesAlternate(runId)
      }
    })
  )

  for (const [how, end] of [
    ["RESOLVED", "completed"],
    ["EXPIRED", "failed"],
    ["CANCELLED", "cancelled"]
  ] as const) {
    for (const action of ["suspend", "resume"] as const) {
      it.effect(`a session that is ${how} while a caller wants to ${action} it: the run is ${end}, once`, () =>
        Effect.gen(function* () {
          const fake = yield* RuntimeFake
          for (let round = 0; round < ROUNDS; round++) {
            const runId = yield* action === "suspend" ? runningRun() : suspendedRun
            const [answer] = yield* Effect.all([post(runId, action), fake.transition(runId, how)], {
              concurrency: "unbounded"
            })
            assert.include([201, 400, 409], answer.status, answer.text)
            yield* awaitStatus(runId, end)
            assert.strictEqual(yield* assertEndedOnce(runId), end)
            yield* assertPausesAlternate(runId)
            const audited = (yield* auditOf(runId)).filter((entry) => entry === `run.${action}`)
            assert.lengthOf(audited, answer.status === 201 ? 1 : 0)
          }
        })
      )
    }
  }

  it.effect(
    "the observer receives a caller's suspension before the runtime answers: the event has the caller's reason",
    () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* runningRun()
        yield* fake.delay({ method: "SuspendSession", sessionId: runId }, "200 millis")
        const before = (yield* fake.calls).filter(({ method }) => method === "SuspendSession").length
        const receiving = Effect.gen(function* () {
          yield* fake.awaitCalls("SuspendSession", before + 1)
          yield* fake.transition(runId, "SUSPENDED")
          yield* awaitEvent(runId, "run.suspended")
        })
        yield* Effect.all([post(runId, "suspend", { reason: "lunch" }), receiving], { concurrency: "unbounded" })
        const suspended = yield* eventsOf(runId, "run.suspended")
        assert.deepStrictEqual(
          suspended.map(({ recorded: { data } }) => data["reason"]),
          ["lunch"]
        )
      })
  )

  it.effect(
    "the runtime answers late, after the session has ended: the run stays ended and the caller receives it",
    () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* runningRun()
        yield* fake.delay({ method: "SuspendSession", sessionId: runId }, "100 millis")
        const before = (yield* fake.calls).filter(({ method }) => method === "SuspendSession").length
        const ending = Effect.gen(function* () {
          yield* fake.awaitCalls("SuspendSession", before + 1)
          yield* fake.transition(runId, "RESOLVED")
          yield* awaitStatus(runId, "completed")
        })
        const [answer] = yield* Effect.all([post(runId, "suspend"), ending], { concurrency: "unbounded" })
        assert.strictEqual(yield* assertEndedOnce(runId), "completed")
        // On a very slow machine the answer was not that late, and the suspension came first.
        const pauses = yield* assertPausesAlternate(runId)
        assert.strictEqual(answer.status, pauses === 0 ? 409 : 201, answer.text)
        assert.lengthOf(yield* auditOf(runId), pauses + 1)
      })
  )

  for (const how of ["RESOLVED", "EXPIRED", "CANCELLED"] as const) {
    it.effect(`a suspended run whose session is ${how} has ended and is not resumed`, () =>
      Effect.gen(function* () {
        const runId = yield* suspendedRun
        yield* RuntimeFake.use((fake) => fake.transition(runId, how))
        const end = { RESOLVED: "completed", EXPIRED: "failed", CANCELLED: "cancelled" } as const
        yield* awaitStatus(runId, end[how])
        const { body, status } = yield* post(runId, "resume")
        assert.strictEqual(status, 400)
        assert.strictEqual(body.message, `only suspended runs can be resumed (current status: ${end[how]})`)
        yield* assertEndedOnce(runId)
      })
    )
  }

  it.effect("the runtime suspends by itself while a caller does: one event, and the caller receives the conflict", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* runningRun()
      yield* fake.transition(runId, "SUSPENDED")
      yield* awaitStatus(runId, "suspended")
      const { body, status } = yield* post(runId, "suspend")
      assert.strictEqual(status, 400)
      assert.strictEqual(body.message, "only running runs can be suspended (current status: suspended)")
      yield* fake.transition(runId, "RESUMED")
      yield* awaitStatus(runId, "running")
      assert.strictEqual(yield* assertPausesAlternate(runId), 2)
    })
  )

  for (const action of ["suspend", "resume"] as const) {
    it.effect(`a runtime that cannot be reached: ${action} is 503 and nothing has changed`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* action === "suspend" ? runningRun() : suspendedRun
        const before = yield* statusOf(runId)
        const method = action === "suspend" ? "SuspendSession" : "ResumeSession"
        yield* fake.fail({ method, sessionId: runId }, "UNAVAILABLE", "connection refused")
        const { body, status } = yield* post(runId, action)
        assert.strictEqual(status, 503)
        assert.strictEqual(body.errorCode, "RUNTIME_UNAVAILABLE")
        assert.strictEqual(yield* statusOf(runId), before)
        assert.notInclude(
          (yield* auditOf(runId)).slice(1).at(-1) ?? "",
          action === "suspend" ? "run.suspend" : "run.resume"
        )
      })
    )
  }

  it.effect(
    "an answer of the runtime that is lost on its way: the caller receives it, the run follows the runtime",
    () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        const runId = yield* runningRun()
        yield* fake.fail({ method: "SuspendSession", sessionId: runId }, "DEADLINE_EXCEEDED", "no answer")
        const { body, status } = yield* post(runId, "suspend")
        assert.deepStrictEqual([status, body.errorCode], [504, "RUNTIME_TIMEOUT"])
        // The call had arrived: only the answer was lost.
        yield* fake.transition(runId, "SUSPENDED")
        yield* awaitEvent(runId, "run.suspended")
        assert.strictEqual(yield* statusOf(runId), "suspended")
        assert.strictEqual((yield* post(runId, "resume")).status, 201)
        assert.strictEqual(yield* assertPausesAlternate(runId), 2)
      })
  )
})
