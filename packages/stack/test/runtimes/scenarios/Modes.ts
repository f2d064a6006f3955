import { assert } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import { decision, handoff, proposal, quorum, task } from "../Messages.ts"
import { LEAD, type Mode, OPS, openStage, RISK, type Stage } from "../Stage.ts"
import type { Scenario } from "./Scenario.ts"

/** A session of a mode from its first message to its commitment. */
const session = (
  name: string,
  mode: Mode,
  outcome: readonly [action: string, positive: boolean],
  perform: (stage: Stage) => Effect.Effect<void>
): Scenario => ({
  name,
  play: Effect.gen(function* () {
    const stage = yield* openStage({ mode })
    yield* perform(stage)
    yield* stage.commit(...outcome)
    yield* stage.followed
    const { api } = yield* ControlPlaneClient
    const state = yield* api.runs.state({ params: { id: stage.runId } })
    assert.strictEqual(state.run.status, "completed")
    assert.strictEqual(state.decision.current?.action, outcome[0])
    assert.strictEqual(state.decision.current?.outcomePositive, outcome[1])
    return stage.runId
  })
})

const p1 = { proposalId: "p1" }

/**
 * A happy and a rejected session of each standard mode (docs/internals/runtime.md#decision-mode to
 * docs/internals/runtime.md#quorum-mode).
 */
export const modeScenarios: ReadonlyArray<Scenario> = [
  session("a decision that is selected", "decision", ["decision.selected", true], ({ say }) =>
    say(
      [LEAD, decision.proposal({ ...p1, option: "deploy v2", rationale: "tests are green" })],
      [RISK, decision.evaluation({ ...p1, recommendation: "APPROVE", confidence: 0.9, reason: "small change" })],
      [OPS, decision.objection({ ...p1, severity: "low", reason: "it is Friday" })],
      [RISK, decision.vote({ ...p1, vote: "APPROVE", reason: "fine" })],
      [OPS, decision.vote({ ...p1, vote: "ABSTAIN" })],
      [LEAD, decision.vote({ ...p1, vote: "APPROVE" })]
    )
  ),
  session("a decision that is rejected", "decision", ["decision.rejected", false], ({ say }) =>
    say(
      [LEAD, decision.proposal({ ...p1, option: "deploy v2" })],
      [RISK, decision.evaluation({ ...p1, recommendation: "BLOCK", confidence: 0.8, reason: "no rollback" })],
      [OPS, decision.objection({ ...p1, severity: "critical", reason: "no rollback" })],
      [RISK, decision.vote({ ...p1, vote: "REJECT", reason: "no rollback" })],
      [OPS, decision.vote({ ...p1, vote: "REJECT" })]
    )
  ),
  session("a proposal that is accepted after a counter proposal", "proposal", ["proposal.accepted", true], ({ say }) =>
    say(
      [LEAD, proposal.proposal({ ...p1, title: "four weeks", summary: "all of it", tags: ["plan"] })],
      [RISK, proposal.counter({ proposalId: "p2", supersedesProposalId: "p1", title: "five weeks" })],
      [LEAD, proposal.withdraw({ ...p1, reason: "too short" })],
      [LEAD, proposal.accept({ proposalId: "p2", reason: "agreed" })],
      [RISK, proposal.accept({ proposalId: "p2" })],
      [OPS, proposal.accept({ proposalId: "p2" })]
    )
  ),
  session("a proposal that is rejected for good", "proposal", ["proposal.rejected", false], ({ say }) =>
    say(
      [LEAD, proposal.proposal({ ...p1, title: "four weeks" })],
      [RISK, proposal.reject({ ...p1, terminal: true, reason: "not before winter" })]
    )
  ),
  session("a task that is completed", "task", ["task.completed", true], ({ say }) =>
    say(
      [LEAD, task.request({ taskId: "t1", title: "measure", instructions: "twice", requestedAssignee: RISK })],
      [RISK, task.accept({ taskId: "t1", assignee: RISK })],
      [RISK, task.update({ taskId: "t1", status: "working", progress: 0.5, message: "half" })],
      [RISK, task.complete({ taskId: "t1", assignee: RISK, summary: "done", output: new TextEncoder().encode("42") })]
    )
  ),
  session("a task that fails", "task", ["task.failed", false], ({ say }) =>
    say(
      [LEAD, task.request({ taskId: "t1", title: "measure" })],
      [OPS, task.accept({ taskId: "t1" })],
      [OPS, task.fail({ taskId: "t1", errorCode: "NO_TOOLS", reason: "nothing to measure with", retryable: true })]
    )
  ),
  session("a handoff that is accepted", "handoff", ["handoff.accepted", true], ({ say }) =>
    say(
      [LEAD, handoff.offer({ handoffId: "h1", targetParticipant: OPS, scope: "on call", reason: "end of shift" })],
      [
        LEAD,
        handoff.context({ handoffId: "h1", contentType: "text/plain", context: new TextEncoder().encode("calm") })
      ],
      [OPS, handoff.accept({ handoffId: "h1", acceptedBy: OPS, reason: "have it" })]
    )
  ),
  session("a handoff that is declined", "handoff", ["handoff.declined", false], ({ say }) =>
    say(
      [LEAD, handoff.offer({ handoffId: "h1", targetParticipant: OPS, scope: "on call" })],
      [OPS, handoff.decline({ handoffId: "h1", declinedBy: OPS, reason: "on holiday" })]
    )
  ),
  session("a quorum that approves", "quorum", ["quorum.approved", true], ({ say }) =>
    say(
      [LEAD, quorum.request({ requestId: "q1", action: "restart", summary: "all of it", requiredApprovals: 2 })],
      [RISK, quorum.approve({ requestId: "q1", reason: "yes" })],
      [OPS, quorum.approve({ requestId: "q1" })]
    )
  ),
  session("a quorum that rejects", "quorum", ["quorum.rejected", false], ({ say }) =>
    say(
      [LEAD, quorum.request({ requestId: "q1", action: "restart", requiredApprovals: 3 })],
      [RISK, quorum.reject({ requestId: "q1", reason: "no" })],
      [OPS, quorum.abstain({ requestId: "q1", reason: "not mine" })]
    )
  )
]
