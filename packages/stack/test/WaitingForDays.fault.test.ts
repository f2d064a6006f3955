import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { freePorts, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createMigratedDatabase } from "./support/MigratedDatabase.ts"
import { startServing, untilGone } from "./support/StackRuns.ts"
import { packsWith } from "./support/TestPacks.ts"

const headers = { headers: { "content-type": "application/json" } }
const SCENARIO = "incident/night-failover@1.0.0"

/** The packs, in which the session of the example with a person is suspended while it waits for the person. */
const waitingPacks = Effect.gen(function* () {
  const packs = yield* packsWith({})
  const file = join(packs, "incident/scenarios/night-failover/1.0.0/scenario.yaml")
  const text = readFileSync(file, "utf8")
  const waiting = text
    .replace("    ttlMs: 3600000\n", "    ttlMs: 3600000\n    maxSuspendMs: 7200000\n")
    .replace("        deadline: 45m\n", "        deadline: 45m\n        wait: suspend\n")
  assert.lengthOf(waiting.split("\n"), text.split("\n").length + 2)
  writeFileSync(file, waiting)
  return packs
})

layer(Layer.empty, { excludeTestServices: true })("a scenario that waits for days", (it) => {
  // The commander neither evaluates nor votes: the session is suspended a minute after the last message.
  it.effect("suspends its session for the person while its agents wait, and is decided by the answer", () =>
    Effect.gen(function* () {
      const [controlPlane = 0] = yield* freePorts(1)
      const url = `http://127.0.0.1:${controlPlane}`
      const { ports } = yield* startServing({
        CONTROL_PLANE_PORT: String(controlPlane),
        OTLP_GRPC_PORT: "0",
        LAUNCHER_DATABASE_URL: yield* createMigratedDatabase,
        PACKS_DIR: yield* waitingPacks
      })
      const launcher = `http://127.0.0.1:${ports.launcher}`
      const launched = yield* request("POST", `${launcher}/examples/run`, {
        body: { scenarioRef: SCENARIO, inputs: {}, bootstrapAgents: true },
        ...headers
      })
      assert.strictEqual(launched.status, 201, launched.text)
      const run: string = launched.body.controlPlaneRun.runId
      const pids: ReadonlyArray<number> = launched.body.hostedAgents.flatMap(
        ({ participantMetadata }: { readonly participantMetadata?: { readonly pid?: number } }) =>
          participantMetadata?.pid ?? []
      )
      assert.isAbove(pids.length, 1)
      const readRun = request("GET", `${url}/runs/${run}`, headers)
      yield* until(readRun, ({ body }) => body.status === "suspended")

      const questions = yield* request("GET", `${launcher}/inbox?state=open`, headers)
      const [{ id }] = questions.body.data
      const item = yield* until(
        request("GET", `${launcher}/inbox/${id}`, headers),
        ({ body }) => body.suspension !== undefined && body.basis !== undefined
      )
      const { basis, proposalHash } = item.body
      const shown = { ordinal: basis.ordinal, sha256: basis.sha256 }
      const answered = yield* request("POST", `${launcher}/inbox/${id}/answers`, {
        body: { act: "approve", reason: "the standby is warm", proposalHash, basis: shown },
        ...headers
      })
      assert.strictEqual(answered.status, 200, answered.text)
      yield* until(readRun, ({ body }) => body.status === "completed")
      yield* until(request("GET", `${launcher}/inbox/${id}`, headers), ({ body }) => body.state === "accepted")

      const eventsOf = (type: string) =>
        Effect.map(request("GET", `${url}/runs/${run}/events?type=${type}&limit=200`, headers), ({ body }) => body.data)
      const [suspended] = yield* eventsOf("run.suspended")
      const [resumed] = yield* eventsOf("run.resumed")
      const [completed] = yield* eventsOf("run.completed")
      assert.isBelow(suspended.index, resumed.index)
      assert.isBelow(resumed.index, completed.index)
      const votes = (yield* eventsOf("message.received")).filter(
        ({ data }: { readonly data: { readonly messageType: string; readonly sender: string } }) =>
          data.messageType === "Vote" && data.sender === "duty-officer"
      )
      assert.lengthOf(votes, 1)
      const state = yield* request("GET", `${url}/runs/${run}/state`, headers)
      assert.deepInclude(state.body.decision.current, { finalized: true, outcomePositive: true })
      const why = yield* request("GET", `${url}/runs/${run}/decision/why`, headers)
      assert.include(why.text, "the standby is warm")
      yield* untilGone(pids)
    })
  )
})
