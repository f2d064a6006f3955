import { fromBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { CommitmentPayloadSchema, SessionState } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentClient } from "../../src/client/AgentClient.ts"
import { Bootstrap } from "../../src/client/Bootstrap.ts"
import { EXAMPLE_AGENTS } from "../../src/examples/Agents.ts"
import { PaceFactor } from "../../src/examples/runner/Pace.ts"
import {
  BRIDGE,
  balanced,
  balancedHints,
  bootstrapFor,
  coldStandby,
  degraded,
  fastTrack,
  fastTrackHints,
  fastTrackIncident,
  type Launch
} from "../support/Bridge.ts"

/** A connection of its own for each participant. */
const clientOf = (participant: string, launch: Launch) =>
  Layer.fresh(AgentClient.layer).pipe(Layer.provideMerge(Bootstrap.layerMemory(bootstrapFor(participant, launch))))

/** Runs the four agents at once, as the launch service would, and gives the accepted messages. */
const runBridge = (launch: Omit<Launch, "runtimeUrl">) =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    yield* sandbox.registerPolicy(balanced)
    yield* sandbox.registerPolicy(fastTrack)
    yield* Effect.forEach(
      BRIDGE,
      ([participant, agentRef]) =>
        (EXAMPLE_AGENTS[agentRef] ?? Effect.die(agentRef)).pipe(
          Effect.provide(clientOf(participant, { ...launch, runtimeUrl: sandbox.address }))
        ),
      { concurrency: "unbounded", discard: true }
    )
    const asCommander = clientOf("incident-commander", { ...launch, runtimeUrl: sandbox.address })
    const ended = yield* Effect.flatMap(AgentClient, (client) => client.ended).pipe(Effect.provide(asCommander))
    return { history: yield* sandbox.acceptedHistory(launch.sessionId), ended }
  }).pipe(Effect.provideService(PaceFactor, 0), Effect.provide(Sandbox.layer({ port: 0 })))

const typesOf = (history: ReadonlyArray<{ readonly messageType: string }>, type: string) =>
  history.filter(({ messageType }) => messageType === type)

describe("the incident bridge", () => {
  it.live("fails over when all agree", () =>
    Effect.gen(function* () {
      const { ended, history } = yield* runBridge({
        sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a01",
        policyVersion: balanced.policyId,
        hints: balancedHints,
        incident: degraded
      })
      assert.strictEqual(ended, SessionState.RESOLVED)
      const commitment = fromBinary(CommitmentPayloadSchema, history.at(-1)?.payload ?? new Uint8Array())
      assert.deepStrictEqual([commitment.action, commitment.outcomePositive], ["decision.selected", true])
      assert.deepStrictEqual([typesOf(history, "Evaluation").length, typesOf(history, "Vote").length], [3, 4])
    })
  )

  it.live("stays when the standby is cold: the veto refuses the commitment and the session is cancelled", () =>
    Effect.gen(function* () {
      const { ended, history } = yield* runBridge({
        sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a02",
        policyVersion: balanced.policyId,
        hints: balancedHints,
        incident: coldStandby
      })
      assert.strictEqual(typesOf(history, "Objection").length, 1)
      assert.strictEqual(typesOf(history, "Commitment").length, 0)
      assert.strictEqual(ended, SessionState.CANCELLED)
    })
  )

  it.live("commits a no-go when the votes reject without a veto", () =>
    Effect.gen(function* () {
      const { history } = yield* runBridge({
        sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a03",
        policyVersion: fastTrack.policyId,
        hints: fastTrackHints,
        incident: coldStandby
      })
      const commitment = fromBinary(CommitmentPayloadSchema, history.at(-1)?.payload ?? new Uint8Array())
      assert.deepStrictEqual([commitment.action, commitment.outcomePositive], ["decision.rejected", false])
    })
  )

  it.live("carries the fast track", () =>
    Effect.gen(function* () {
      const { history } = yield* runBridge({
        sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a04",
        policyVersion: fastTrack.policyId,
        hints: fastTrackHints,
        incident: fastTrackIncident
      })
      const commitment = fromBinary(CommitmentPayloadSchema, history.at(-1)?.payload ?? new Uint8Array())
      assert.deepStrictEqual([commitment.action, commitment.policyVersion], ["decision.selected", fastTrack.policyId])
    })
  )
})
