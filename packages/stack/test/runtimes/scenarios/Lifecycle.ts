import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import type { RunStatus } from "@runplane/domain"
import { RuntimeClient, RuntimeCredentials } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { eventsOf } from "../Account.ts"
import { commitment, decision, handoff } from "../Messages.ts"
import { DELEGATED, MAJORITY, SILENCE_ACCEPTS } from "../Policies.ts"
import { RuntimeUnderTest } from "../RuntimeUnderTest.ts"
import { LEAD, OPS, openStage, RISK, type Script, type Stage } from "../Stage.ts"
import type { Scenario, Surroundings } from "./Scenario.ts"

const played = (
  name: string,
  script: Script,
  status: RunStatus,
  perform: (stage: Stage) => Effect.Effect<void, unknown, Surroundings>
): Scenario => ({
  name,
  play: Effect.gen(function* () {
    const stage = yield* openStage(script)
    yield* perform(stage)
    yield* stage.followed
    const { api } = yield* ControlPlaneClient
    assert.strictEqual((yield* api.runs.get({ params: { id: stage.runId }, query: {} })).status, status)
    return stage.runId
  })
})

/** Long enough to be bound on a busy machine, in milliseconds. */
const EXPIRES_AFTER_MS = 10_000

const p1 = { proposalId: "p1" }
const proposed = [LEAD, decision.proposal({ ...p1, option: "deploy v2" })] as const
const vote = (choice: string) => decision.vote({ ...p1, vote: choice })

const params = ({ runId }: Stage) => ({ params: { id: runId }, payload: { reason: "as the suite says" } })

/** The runtime as the initiator calls it; agents themselves have no suspend. */
const asInitiator = Effect.gen(function* () {
  const { address, credentialOf } = yield* RuntimeUnderTest
  const bearer = Redacted.make(yield* credentialOf(LEAD, "macp.mode.decision.v1"))
  const credentials = RuntimeCredentials.layerChain({ bearer })
  return Context.get(
    yield* Layer.build(
      RuntimeClient.layerGrpc({ address }).pipe(
        Layer.provide(Layer.fresh(credentials)),
        Layer.provide(NodeHttpClient.layerNodeHttp)
      )
    ),
    RuntimeClient
  )
})

/** How sessions pause and end other than by a commitment, and a commitment that the policy refuses. */
export const lifecycleScenarios: ReadonlyArray<Scenario> = [
  played("a session that its initiator suspends and resumes", { mode: "decision" }, "completed", (stage) =>
    Effect.gen(function* () {
      const { sessionId } = stage
      const runtime = yield* asInitiator
      yield* stage.say(proposed)
      assert.isTrue((yield* runtime.suspendSession({ sessionId, reason: "lunch" })).ok)
      yield* stage.seen(({ type }) => type === "run.suspended")
      assert.strictEqual(yield* stage.refusedOnce(RISK, vote("APPROVE")), "SESSION_NOT_OPEN")
      assert.isTrue((yield* runtime.resumeSession({ sessionId, reason: "back" })).ok)
      yield* stage.seen(({ type }) => type === "run.resumed")
      yield* stage.say([RISK, vote("APPROVE")])
      yield* stage.commit("decision.selected", true)
    })
  ),
  played(
    "a session that the control plane suspends and resumes",
    { mode: "decision", policyVersion: DELEGATED },
    "completed",
    (stage) =>
      Effect.gen(function* () {
        const { api } = yield* ControlPlaneClient
        yield* stage.say(proposed)
        yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "Proposal")
        assert.strictEqual((yield* api.runs.suspend(params(stage))).status, "suspended")
        assert.strictEqual(yield* stage.refusedOnce(RISK, vote("APPROVE")), "SESSION_NOT_OPEN")
        assert.strictEqual((yield* api.runs.resume(params(stage))).status, "running")
        yield* stage.say([RISK, vote("APPROVE")])
        yield* stage.commit("decision.selected", true)
      })
  ),
  played("a session that its initiator cancels", { mode: "decision" }, "cancelled", (stage) =>
    Effect.gen(function* () {
      yield* stage.say(proposed)
      yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "Proposal")
      yield* Effect.flatMap(stage.as(LEAD), (lead) => lead.cancelSession("not today"))
    })
  ),
  played(
    "a session that the control plane cancels by delegation",
    { mode: "decision", policyVersion: DELEGATED, metadata: { cancellationDelegated: true } },
    "cancelled",
    (stage) =>
      Effect.gen(function* () {
        const { api } = yield* ControlPlaneClient
        yield* stage.say(proposed)
        yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "Proposal")
        assert.strictEqual((yield* api.runs.cancel(params(stage))).status, "cancelled")
      })
  ),
  played("a session that expires", { mode: "task", ttlMs: EXPIRES_AFTER_MS }, "failed", (stage) =>
    Effect.gen(function* () {
      yield* stage.followed
      const { api } = yield* ControlPlaneClient
      const run = yield* api.runs.get({ params: { id: stage.runId }, query: {} })
      assert.strictEqual(run.errorCode, "SESSION_EXPIRED")
    })
  ),
  played(
    "a session whose commitment the policy denies",
    { mode: "decision", policyVersion: MAJORITY },
    "completed",
    (stage) =>
      Effect.gen(function* () {
        const attempt = commitment("decision.selected", true, MAJORITY)
        yield* stage.say(proposed, [RISK, vote("REJECT")])
        const lonely = yield* stage.refused(LEAD, attempt)
        assert.strictEqual(lonely.code, "POLICY_DENIED")
        assert.isNotEmpty(lonely.reasons)
        const denials = (count: number) => {
          let seen = 0
          return stage.seen(({ type }) => type === "policy.denied" && ++seen === count)
        }
        yield* denials(1)
        yield* stage.say([OPS, vote("REJECT")])
        assert.strictEqual((yield* stage.refused(LEAD, attempt)).code, "POLICY_DENIED")
        yield* denials(2)
        yield* stage.commit("decision.rejected", false)
      })
  ),
  played(
    "a handoff without an answer",
    { mode: "handoff", participants: [LEAD, OPS], policyVersion: SILENCE_ACCEPTS },
    "completed",
    (stage) =>
      Effect.gen(function* () {
        yield* stage.say([LEAD, handoff.offer({ handoffId: "h1", targetParticipant: OPS, scope: "on call" })])
        yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "HandoffAccept")
        yield* stage.commit("handoff.accepted", true)
        yield* stage.followed
        const events = yield* eventsOf(stage.runId)
        assert.isDefined(
          events.find(({ recorded: { data } }) => data["messageType"] === "Commitment"),
          "the commitment is in the log"
        )
      })
  )
]
