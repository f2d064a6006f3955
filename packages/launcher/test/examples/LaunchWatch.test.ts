import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import type { EndedAgent } from "../../src/agents/AgentHost.ts"
import { ExampleRuns } from "../../src/examples/ExampleRuns.ts"
import { compiledLaunch, SESSION_ID } from "../fixtures/Compiled.ts"

import { accepted, manifest, stage } from "./Stage.ts"

/** What an agent leaves behind. */
const ending = (code: number, ...lastLines: ReadonlyArray<string>): Effect.Effect<EndedAgent> =>
  Effect.succeed({ code, signal: null, lastLines })

const withRun = { submission: Effect.succeedSome(accepted) }

describe("before anything is started", () => {
  it.effect("the failure names every member that cannot be started, and nothing is submitted", () => {
    const manifests = {
      "agent-a": manifest({ id: "x" }),
      "agent-b": manifest({ entrypoint: {} }),
      "agent-c": manifest({ id: "z" })
    }
    const { log, run, submitted } = stage({ manifests, unstartable: ["x", "z"] })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.strictEqual(error.errorCode, "AGENT_ATTACH_FAILED")
      assert.deepStrictEqual(error.metadata?.["failedParticipants"], [
        { participantId: "one", agentRef: "agent-a", reason: "no x" },
        {
          participantId: "two",
          agentRef: "agent-b",
          reason: "manifest.entrypoint.type is required; manifest.entrypoint.value is required"
        },
        { participantId: "lead", agentRef: "agent-c", reason: "no z" }
      ])
      assert.deepStrictEqual([log, submitted], [[], []])
    })
  })

  it.effect.each([
    ["refused where agents are started", true],
    ["accepted where no agent is", false]
  ] as const)("an extension that is not base64 is %s", ([, bootstrapAgents]) => {
    const whole = compiledLaunch()
    const { initiator } = whole
    assert.isDefined(initiator)
    const sessionStart = { ...initiator.sessionStart, extensions: { "ops.bridge": "bridge-7!" } }
    const { log, run, submitted } = stage({ compiled: { ...whole, initiator: { ...initiator, sessionStart } } })
    return Effect.gen(function* () {
      const outcome = yield* Effect.result(run({ bootstrapAgents }))
      const message = "launch.extensions.ops.bridge must be a base64-encoded string, got text that is not base64"
      const failure = Result.isFailure(outcome) ? outcome.failure : undefined
      assert.strictEqual(failure?.message, bootstrapAgents ? message : undefined)
      assert.strictEqual(failure?.errorCode, bootstrapAgents ? "COMPILATION_ERROR" : undefined)
      assert.deepStrictEqual([log, submitted], [[], []])
    })
  })

  it.effect("a policy that the runtime lacks fails the launch", () => {
    const { log, run, submitted } = stage({ policyMissing: true })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.strictEqual(error.errorCode, "INVALID_CONFIG")
      assert.strictEqual(error.message, "policy policy.p is not registered")
      assert.deepStrictEqual([log, submitted], [[], []])
    })
  })
})

describe("an agent that ends", () => {
  const failedLead = (code: number, lines: string) => ({
    participantId: "lead",
    agentRef: "agent-c",
    reason: `process exited before its session was open (code=${code}, signal=null)${lines}`
  })

  it.effect("before its session is open ends the launch, and the run has the reason", () => {
    const { log, run } = stage({ ...withRun, attachment: Effect.yieldNow, ends: { lead: ending(1, "no", "policy") } })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.strictEqual(error.errorCode, "AGENT_ATTACH_FAILED")
      assert.deepStrictEqual(error.metadata?.["failedParticipants"], [failedLead(1, ": no | policy")])
      const reports = log.filter((line) => line.startsWith("abandon"))
      assert.deepStrictEqual(reports, [
        "abandon: agent lead (agent-c): process exited before its session was open (code=1, signal=null): no | policy"
      ])
      assert.include(log, `stop ${SESSION_ID}`)
    })
  })

  it.effect.each([
    ["while others are started", Effect.never],
    ["while the control plane takes its time", Effect.void]
  ] as const)("%s fails the launch at once", ([, others]) =>
    Effect.gen(function* () {
      const attachment = Effect.suspend(() => (log.length > 2 ? others : Effect.void))
      const { log, run } = stage({
        submission: Effect.never,
        attachment,
        ends: { lead: Effect.delay(ending(1, "ImportError"), "2 seconds") }
      })
      const launch = yield* Effect.forkChild(Effect.flip(run()))
      yield* TestClock.adjust("2500 millis")
      const error = yield* Fiber.join(launch)
      assert.deepStrictEqual(error.metadata?.["failedParticipants"], [failedLead(1, ": ImportError")])
      assert.include(log, `stop ${SESSION_ID}`)
    })
  )

  it.effect("with success before its session is open ends the launch too", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        stage({ ...withRun, attachment: Effect.yieldNow, ends: { lead: ending(0) } }).run()
      )
      assert.deepStrictEqual(error.metadata?.["failedParticipants"], [failedLead(0, "")])
    })
  )

  it.effect("with success once its session is open is done", () =>
    Effect.gen(function* () {
      const answer = yield* stage({ ...withRun, ends: { lead: ending(0) }, abandonment: "opened" }).run()
      assert.lengthOf(answer.hostedAgents, 3)
    })
  )

  it.effect("without success does not count as bootstrapped, open session or not, with the others that ended", () =>
    Effect.gen(function* () {
      const scene = { ...withRun, abandonment: "opened", ends: { one: ending(2), lead: ending(1) } } as const
      const { log, run } = stage({ ...scene, attachment: Effect.yieldNow })
      const error = yield* Effect.flip(run())
      const failed = error.metadata?.["failedParticipants"]
      assert.deepInclude(failed, failedLead(1, ""))
      assert.include(log, `stop ${SESSION_ID}`)
    })
  )

  it.effect("after the answer, before its session is open, ends the others and the run", () =>
    Effect.gen(function* () {
      const end = yield* Deferred.make<EndedAgent>()
      const stopped = yield* Deferred.make<void>()
      const { log, service } = stage({ ...withRun, ends: { one: Deferred.await(end) }, stopped })
      yield* Effect.gen(function* () {
        const runs = yield* ExampleRuns
        yield* runs.run({ scenarioRef: "demo/one@1.0.0", inputs: {} })
        yield* Deferred.succeed(end, { code: 0, signal: null, lastLines: [] })
        yield* Deferred.await(stopped)
      }).pipe(Effect.provide(service))
      assert.deepStrictEqual(log.slice(-2), [
        "abandon: agent one (agent-a): process exited before its session was open (code=0, signal=null)",
        `stop ${SESSION_ID}`
      ])
    })
  )

  it.effect.each([
    ["waits in vain", true],
    ["is open", false]
  ] as const)("not at all, while the session %s", ([, waiting]) =>
    Effect.gen(function* () {
      const phase = () => (waiting ? ("waiting" as const) : ("open" as const))
      const { log, service } = stage({ ...withRun, phase, settings: { sessionOpenTimeoutMs: 5_000 } })
      yield* Effect.gen(function* () {
        yield* (yield* ExampleRuns).run({ scenarioRef: "demo/one@1.0.0", inputs: {} })
        yield* TestClock.adjust("6 seconds")
      }).pipe(Effect.provide(service))
      const said = ["lead", "one", "two"].map((id, at) => `agent ${id} (agent-${"cab"[at]}) said: line of ${id}`)
      assert.deepStrictEqual(
        log.slice(6),
        waiting ? [`abandon: no agent opened it within 5000 ms; ${said.join("; ")}`, `stop ${SESSION_ID}`] : []
      )
    })
  )
})

describe("slots for agents", () => {
  const request = { scenarioRef: "demo/one@1.0.0", inputs: {} }

  it.effect("are released by each agent that ends, and a launch that waited reports its wait", () =>
    Effect.gen(function* () {
      const ends = yield* Deferred.make<EndedAgent>()
      const end = Deferred.await(ends)
      const { service } = stage({
        ...withRun,
        abandonment: "opened",
        ends: { one: end, two: end, lead: end },
        settings: { maxAgents: 3, sessionOpenTimeoutMs: 0 }
      })
      yield* Effect.gen(function* () {
        const runs = yield* ExampleRuns
        assert.notProperty(yield* runs.run(request), "queue")
        const second = yield* Effect.forkChild(runs.run({ ...request, runLabel: "later" }))
        yield* TestClock.adjust("3 seconds")
        const { agents, waiting } = yield* runs.queue
        assert.deepStrictEqual(agents, { running: 3, limit: 3 })
        assert.deepStrictEqual(
          waiting.map(({ position, runLabel }) => [position, runLabel]),
          [[1, "later"]]
        )
        yield* Deferred.succeed(ends, { code: 0, signal: null, lastLines: [] })
        assert.deepStrictEqual((yield* Fiber.join(second)).queue, { position: 1, waitedMs: 3_000 })
      }).pipe(Effect.provide(service))
    })
  )

  it.effect("are released by a launch that fails", () => {
    const { service } = stage({ failing: ["lead"], settings: { maxAgents: 3 } })
    return Effect.gen(function* () {
      const runs = yield* ExampleRuns
      yield* Effect.flip(runs.run(request))
      assert.strictEqual((yield* runs.queue).agents.running, 0)
    }).pipe(Effect.provide(service))
  })
})
