import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert } from "@effect/vitest"
import { ControlPlaneClient, LauncherClient } from "@runplane/api"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createMigratedDatabase } from "./MigratedDatabase.ts"
import { isRunning } from "./Processes.ts"
import { type StackProcess, startStack } from "./StackProcess.ts"

/** The example that is launched. */
const SCENARIO = "incident/region-failover@1.0.0"
/** How the launch wants its run to be known. */
export const LABELS = {
  runLabel: "rehearsal",
  tags: ["tested"],
  requester: { actorId: "tester", actorType: "user" }
} as const
export const MODE = "macp.mode.decision.v1"

/** A running stack; its services are there as their clients call them. */
export class Running extends Context.Service<Running, StackProcess>()("runplane/stack/test/Running") {}

/** Starts a stack on a database of the tests' own server; it is killed with the scope. */
export const startServing = (env: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const stack = yield* startStack({
      args: ["--no-demo"],
      env: { ...env, DATABASE_URL: yield* createMigratedDatabase }
    })
    assert.isDefined(yield* stack.line("Serving"))
    return stack
  })

const clients = Layer.unwrap(
  Effect.map(Running, ({ ports }) =>
    Layer.merge(
      ControlPlaneClient.layer({ baseUrl: `http://127.0.0.1:${ports.controlPlane}` }),
      LauncherClient.layer({ baseUrl: `http://127.0.0.1:${ports.launcher}` })
    )
  )
).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))

export const runningWith = <E>(stack: Effect.Effect<StackProcess, E, Scope.Scope>) =>
  Layer.provideMerge(clients, Layer.effect(Running, stack))

/** Starts the example; answers its run, and the process of each agent by agentRef, when all agents are up. */
export const launch = Effect.gen(function* () {
  const launcher = yield* LauncherClient
  const { controlPlaneRun, hostedAgents } = yield* launcher.launch.runExample({
    payload: { scenarioRef: SCENARIO, inputs: {}, bootstrapAgents: true, ...LABELS }
  })
  const pids = new Map(
    hostedAgents.map(({ agentRef, participantMetadata }) => [agentRef, participantMetadata?.pid ?? 0])
  )
  return { id: controlPlaneRun?.runId ?? assert.fail("no run"), pids }
})

/** Follows the run until an event of the type. */
export const reached = Effect.fnUntraced(function* (id: string, type: string) {
  const { streamRun } = yield* ControlPlaneClient
  yield* streamRun(id, { afterSeq: 0 }).pipe(
    Stream.takeUntil((frame) => frame.event === "canonical_event" && frame.data.type === type),
    Stream.runDrain
  )
})

export const cancel = Effect.fnUntraced(function* (id: string, reason: string) {
  const { api } = yield* ControlPlaneClient
  return yield* api.runs.cancel({ params: { id }, payload: { reason } })
})

export const runOf = Effect.fnUntraced(function* (id: string) {
  const { api } = yield* ControlPlaneClient
  return yield* api.runs.get({ params: { id }, query: {} })
})

/** A run of another client, whose initiator listens at an address of the test. */
export const createRun = Effect.fnUntraced(function* (url: string) {
  const { api } = yield* ControlPlaneClient
  const { runId } = yield* api.runs.create({
    payload: {
      mode: "sandbox",
      runtime: { kind: "rust" },
      session: {
        modeName: MODE,
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        ttlMs: 60_000,
        participants: [{ id: "lead" }],
        metadata: { cancelCallback: { url, bearer: "secret" } }
      }
    }
  })
  return runId
})

/** Waits until these processes, which end by themselves, are gone. */
export const untilGone = (pids: ReadonlyArray<number>) =>
  until(
    Effect.sync(() => pids.filter(isRunning)),
    (running) => running.length === 0
  )
