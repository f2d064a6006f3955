import { assert, describe, it } from "@effect/vitest"
import type { CompileLaunchResult } from "@runplane/api"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { launchUnaffordable } from "../../src/common/LaunchErrors.ts"
import { compiledLaunch, profile, SESSION_ID } from "../fixtures/Compiled.ts"

import { ALL, accepted, manifest, stage } from "./Stage.ts"

describe("the example flow", () => {
  it.effect("starts the initiator first, each after the other is confirmed, and answers in declaration order", () => {
    const { log, run } = stage({ submission: Effect.succeedSome(accepted) })
    return Effect.gen(function* () {
      const answer = yield* run()
      assert.deepStrictEqual(log, [
        "mint lead as initiator",
        "attach lead",
        "mint one",
        "attach one",
        "mint two",
        "attach two"
      ])
      assert.deepStrictEqual(
        answer.hostedAgents.map(({ participantId, role, status, participantMetadata }) => ({
          participantId,
          role,
          status,
          participantMetadata
        })),
        [
          ["one", "member"],
          ["two", "member"],
          ["lead", "leader"]
        ].map(([participantId = "", role = ""]) => ({
          participantId,
          role,
          status: "bootstrapped" as const,
          participantMetadata: { processAttached: true, pid: 100, launchMode: "adapter", adapterFramework: "custom" }
        }))
      )
      assert.strictEqual(answer.sessionId, SESSION_ID)
      assert.deepStrictEqual(answer.controlPlaneRun, accepted)
    })
  })

  it.effect("submits while the agents are being started", () =>
    Effect.gen(function* () {
      const submitted = yield* Deferred.make<void>()
      const { run } = stage({
        attachment: Deferred.await(submitted),
        submission: Effect.as(Deferred.succeed(submitted, undefined), Option.some(accepted))
      })
      assert.deepStrictEqual((yield* run()).controlPlaneRun, accepted)
    })
  )

  it.effect("ends the started agents and answers 409 when a budget refuses the run", () =>
    Effect.gen(function* () {
      const second = yield* Deferred.make<void>()
      let started = 0
      const { log, run } = stage({
        attachment: Effect.suspend(() =>
          ++started === 1 ? Effect.void : Effect.andThen(Deferred.succeed(second, undefined), Effect.never)
        ),
        submission: Effect.andThen(Deferred.await(second), launchUnaffordable("no money left"))
      })
      const failure = yield* Effect.flip(run())
      assert.deepInclude(failure, { errorCode: "BUDGET_EXHAUSTED", statusCode: 409, message: "no money left" })
      assert.deepStrictEqual(
        log.filter((line) => !line.startsWith("mint")),
        ["attach lead", "attach one", `stop ${SESSION_ID}`]
      )
    })
  )

  it.effect("leaves controlPlaneRun out when the run was not accepted", () =>
    Effect.map(stage({}).run(), (answer) => assert.notProperty(answer, "controlPlaneRun"))
  )

  it.effect.each([
    ["the request says so", { bootstrapAgents: false }, {}],
    ["the setting says so", {}, { autoBootstrapAgents: false }]
  ] as const)("only compiles when %s", ([, request, settings]) => {
    const { log, run } = stage({ settings, submission: Effect.die("must not be called") })
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(request), { compiled: compiledLaunch(), hostedAgents: [] })
      assert.deepStrictEqual(log, [])
    })
  })

  it.effect("lets the request decide over the setting", () =>
    Effect.gen(function* () {
      const answer = yield* stage({ settings: { autoBootstrapAgents: false } }).run({ bootstrapAgents: true })
      assert.lengthOf(answer.hostedAgents, 3)
    })
  )

  it.effect("adds tags once, replaces the requester and keeps the run label, with or without agents", () =>
    Effect.gen(function* () {
      const { compiled } = yield* stage({}).run({
        bootstrapAgents: false,
        tags: ["mine", "example", "mine"],
        requester: { actorId: "me" },
        runLabel: "nightly",
        telemetry: { sources: ["agents"] }
      })
      assert.deepStrictEqual(compiled.runDescriptor.telemetry, { sources: ["agents"] })
      assert.deepStrictEqual(compiled.runDescriptor.execution, {
        tags: ["example", "mine"],
        requester: { actorId: "me" }
      })
      assert.deepStrictEqual(compiled.runDescriptor.session.metadata, { source: "svc", runLabel: "nightly" })
      const plain = yield* stage({}).run({ bootstrapAgents: false, tags: [], runLabel: "" })
      assert.deepStrictEqual(plain.compiled, compiledLaunch())
      assert.notProperty(plain.compiled.runDescriptor, "telemetry")
    })
  )

  it.effect("gives agents the token of the session where the launch says what may join its run", () =>
    Effect.gen(function* () {
      const asked = stage({ joinHeader: "x-runplane-join=t" })
      yield* asked.run({ telemetry: { sources: [] } })
      assert.deepStrictEqual([...new Set(asked.joinHeaders)], ["x-runplane-join=t"])
      const plain = stage({ joinHeader: "x-runplane-join=t" })
      yield* plain.run({})
      assert.deepStrictEqual([...new Set(plain.joinHeaders)], [undefined])
    })
  )

  it.effect("submits the template and the inputs of the launch, unless the pack has that key", () =>
    Effect.gen(function* () {
      const { run, submitted } = stage({})
      yield* run({ inputs: { lag: 4 }, templateId: "fast" })
      assert.deepStrictEqual(submitted[0]?.session.metadata?.["launch"], { templateId: "fast", inputs: { lag: 4 } })
      const compiled = compiledLaunch()
      const display = { ...compiled.display, expectedDecisionKinds: ["go", "no_go"] }
      const withOutputs = stage({ compiled: { ...compiled, display } })
      yield* withOutputs.run({})
      assert.deepInclude(withOutputs.submitted[0]?.session.metadata?.["launch"], {
        expectedDecisionKinds: ["go", "no_go"]
      })
      const session = { ...compiled.runDescriptor.session, metadata: { launch: "own" } }
      const own = stage({ compiled: { ...compiled, runDescriptor: { ...compiled.runDescriptor, session } } })
      yield* own.run({ inputs: { lag: 4 } })
      assert.deepStrictEqual(own.submitted[0]?.session.metadata, { launch: "own" })
    })
  )

  it.effect("answers mock and deferred agents without starting anything", () => {
    const { log, run } = stage({
      profiles: ALL.map((ref, index) =>
        profile(ref, { bootstrapMode: index === 0 ? "mock" : "deferred", framework: "mock" })
      ),
      manifests: {}
    })
    return Effect.gen(function* () {
      const answer = yield* run()
      assert.deepStrictEqual(
        answer.hostedAgents.map((agent) => agent.participantMetadata),
        [{ processAttached: false }, { processAttached: false }, { processAttached: false }]
      )
      assert.deepStrictEqual(log, [])
    })
  })
})

describe("what makes an example run fail", () => {
  it.effect("an unknown agent, before anything is started", () => {
    const { log, run } = stage({ profiles: [profile("agent-a"), profile("agent-c")] })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.strictEqual(error.message, "example agent not found: agent-b")
      assert.deepStrictEqual(log, [])
    })
  })

  it.effect("an initiator that does not attach ends it at once", () => {
    const { log, run } = stage({ failing: ["lead", "one"] })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.deepStrictEqual(error.metadata?.["failedParticipants"], [
        { participantId: "lead", agentRef: "agent-c", reason: "gone" }
      ])
      assert.deepStrictEqual(log, ["mint lead as initiator", "attach lead", `stop ${SESSION_ID}`])
    })
  })

  it.effect("members that do not attach are all reported, and the others are stopped again", () => {
    const { log, run } = stage({ failing: ["one", "two"] })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.deepStrictEqual(error.metadata?.["failedParticipants"], [
        { participantId: "one", agentRef: "agent-a", reason: "gone" },
        { participantId: "two", agentRef: "agent-b", reason: "gone" }
      ])
      assert.strictEqual(log.at(-1), `stop ${SESSION_ID}`)
    })
  })

  it.effect("a manifest that is wrong counts as not attached", () =>
    Effect.gen(function* () {
      const manifests = { "agent-a": manifest({ id: "" }), "agent-b": manifest(), "agent-c": manifest() }
      const error = yield* Effect.flip(stage({ manifests }).run())
      assert.deepStrictEqual(error.metadata?.["failedParticipants"], [
        { participantId: "one", agentRef: "agent-a", reason: "manifest.id is required" }
      ])
    })
  )

  it.effect.each([
    ["a manifest that is missing", { manifests: { "agent-a": manifest() } }, "agent manifest missing for agent-b"],
    [
      "a framework without adapter",
      { profiles: ALL.map((ref) => profile(ref, ref === "agent-b" ? { framework: "mock" } : {})) },
      'no host adapter registered for framework "mock" (agentRef=agent-b)'
    ]
  ] as const)("%s, before anything is started or submitted", ([, scene, message]) => {
    const { log, run } = stage({ ...scene, submission: Effect.die("must not be called") })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.strictEqual(error.errorCode, "INVALID_CONFIG")
      assert.strictEqual(error.message, message)
      assert.deepStrictEqual(log, [])
    })
  })

  it.effect("a token that is not minted", () => {
    const { log, run } = stage({ mintFails: true })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(run())
      assert.strictEqual(error.errorCode, "AUTH_MINT_FAILED")
      assert.strictEqual(error.message, "auth-service returned 500")
      assert.deepStrictEqual(log, [`stop ${SESSION_ID}`])
    })
  })

  it.effect("a caller that goes away: the agents started so far are stopped", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const { log, run } = stage({ attachment: Effect.andThen(Deferred.succeed(started, undefined), Effect.never) })
      const running = yield* Effect.forkChild(run())
      yield* Deferred.await(started)
      yield* Fiber.interrupt(running)
      assert.strictEqual(log.at(-1), `stop ${SESSION_ID}`)
    })
  )

  describe("publishes the initiator's cancel callback", () => {
    const callback = { host: "127.0.0.1", port: 20_001, path: "/agent/cancel" }
    const callbackOf = (descriptor: CompileLaunchResult["runDescriptor"] | undefined) =>
      descriptor?.session.metadata?.["cancelCallback"]

    it.effect("to the control plane alone, with the bearer that the agent knows", () => {
      const { run, submitted, assigned } = stage({ callback })
      return Effect.gen(function* () {
        const { compiled } = yield* run()
        assert.deepStrictEqual(callbackOf(submitted[0]), {
          url: "http://127.0.0.1:20001/agent/cancel",
          bearer: "lead"
        })
        assert.isUndefined(callbackOf(compiled.runDescriptor))
        assert.deepStrictEqual(
          [...assigned].map(([participant, { bearer } = { bearer: undefined }]) => [participant, bearer]),
          [
            ["lead", "lead"],
            ["one", "one"],
            ["two", "two"]
          ]
        )
      })
    })

    it.effect.each([
      ["callbacks are off", {}],
      ["agents choose their ports", { callback: { ...callback, port: 0 } }],
      [
        "no process plays the initiator",
        {
          callback,
          profiles: ALL.map((ref) => profile(ref, ref === "agent-c" ? { bootstrapMode: "mock" } : {}))
        }
      ]
    ] as const)("but not when %s", ([, scene]) => {
      const { run, submitted } = stage(scene)
      return Effect.gen(function* () {
        yield* run()
        assert.lengthOf(submitted, 1)
        assert.isUndefined(callbackOf(submitted[0]))
      })
    })
  })
})
