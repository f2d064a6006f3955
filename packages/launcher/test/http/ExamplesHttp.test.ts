import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentAttachFailed, authMintFailed, invalidConfig, launchesFull } from "../../src/common/LaunchErrors.ts"
import { compiledLaunch } from "../fixtures/Compiled.ts"
import { serve, shownProcess } from "../fixtures/ServedRoutes.ts"

describe("GET /examples/queue", () => {
  it.effect("shows the launches that wait", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      assert.deepStrictEqual(yield* call("GET", "/examples/queue"), {
        status: 200,
        body: {
          agents: { running: 4, limit: 4 },
          limit: 2,
          waiting: [{ position: 1, sessionId: "s", scenarioRef: "a/b@1", agents: 2, waitingMs: 5 }]
        }
      })
    })
  )
})

describe("POST /examples/run", () => {
  const failed = [{ participantId: "one", agentRef: "agent-a", reason: "gone" }]
  it.effect.each([
    [authMintFailed("auth-service returned 503", 503), 502, "AUTH_MINT_FAILED", { status: 503 }],
    [authMintFailed("auth-service response missing token"), 502, "AUTH_MINT_FAILED", undefined],
    [agentAttachFailed("s", failed), 502, "AGENT_ATTACH_FAILED", { sessionId: "s", failedParticipants: failed }],
    [invalidConfig("agent manifest missing for x"), 500, "INVALID_CONFIG", undefined],
    [launchesFull("2 launches wait", 2), 503, "LAUNCHES_FULL", { position: 2 }]
  ] as const)("answers the failures of the flow (%#)", ([failure, status, errorCode, metadata]) =>
    Effect.gen(function* () {
      const call = yield* serve({ run: () => Effect.fail(failure) })
      assert.deepStrictEqual(yield* call("POST", "/examples/run", { scenarioRef: "demo/one@1.0.0", inputs: {} }), {
        status,
        body: { statusCode: status, errorCode, message: failure.message, ...(metadata ? { metadata } : {}) }
      })
    })
  )

  it.effect("answers 201 with the answer of the flow, without keys that have no value", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      const answer = yield* call("POST", "/examples/run", { scenarioRef: "demo/one@1.0.0", inputs: {} })
      assert.deepStrictEqual(answer, { status: 201, body: { compiled: compiledLaunch(), hostedAgents: [] } })
    })
  )
})

describe("the agent processes", () => {
  it.effect("are listed, and stopped by their id", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      assert.deepStrictEqual(yield* call("GET", "/processes"), { status: 200, body: [shownProcess] })
      assert.deepStrictEqual(yield* call("DELETE", `/processes/${shownProcess.id}`), { status: 204, body: "" })
      assert.deepStrictEqual(yield* call("DELETE", "/processes/x"), {
        status: 404,
        body: { statusCode: 404, errorCode: "PROCESS_NOT_FOUND", message: "no agent process has the id x" }
      })
    })
  )

  it.effect("are metrics, with the launches that wait", () =>
    Effect.gen(function* () {
      const { body } = yield* (yield* serve())("GET", "/metrics")
      for (const line of [
        "runplane_agent_processes 4",
        "runplane_agent_processes_limit 4",
        "runplane_launches_waiting 1",
        'runplane_agents_stopped_total{why="run_ended"} 3',
        'runplane_agents_stopped_total{why="request"} 1',
        "runplane_agents_killed_total 2"
      ]) {
        assert.include(body, `${line}\n`)
      }
    })
  )
})
