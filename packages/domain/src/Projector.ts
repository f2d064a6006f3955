import type { CanonicalEvent } from "./CanonicalEvent.ts"
import { foldDecision } from "./projector/Decision.ts"
import { viewOf } from "./projector/EventView.ts"
import { foldGraph } from "./projector/Graph.ts"
import { foldParticipants, recipientsOf, sweepParticipants } from "./projector/Participants.ts"
import { foldPolicy, sweepPolicy } from "./projector/Policy.ts"
import { foldRun } from "./projector/Run.ts"
import { foldLlm, foldOutbound, foldProgress, foldSignals, foldTimeline, foldTrace } from "./projector/Telemetry.ts"
import type { RunState } from "./RunState.ts"
import { isTerminal } from "./RunStatus.ts"

/** The state of a run without events: every section is there (http-details section 7). */
export const emptyRunState = (runId: string): RunState => ({
  run: { runId, status: "queued" },
  participants: [],
  graph: { nodes: [], edges: [] },
  decision: {},
  signals: { signals: [] },
  progress: { entries: [] },
  timeline: { latestSeq: 0, latestIndex: 0, totalEvents: 0, recent: [] },
  trace: { spanCount: 0, linkedArtifacts: [] },
  outboundMessages: { total: 0, queued: 0, accepted: 0, rejected: 0 },
  policy: { policyVersion: "", commitmentEvaluations: [] },
  llm: {
    calls: [],
    totals: { callCount: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0, estimatedCostUsd: 0 }
  }
})

/**
 * Folds one event into the state (run-control-plane "Projection rules", http-details section 7). Pure, immutable and total:
 * the live path, the rebuild and the replay call this one function and agree byte for byte, for which the events must be
 * applied in the order of `index`. Sections that an event does not touch stay the same objects.
 */
export const project = (state: RunState, event: CanonicalEvent): RunState => {
  const view = viewOf(event)
  const run = foldRun(state.run, view)
  const recipients = recipientsOf(view, state.participants)
  const heard = foldParticipants(state.participants, view, recipients, run.status)
  const policy = foldPolicy(state.policy, view, heard)
  const hasEnded = isTerminal(run.status) && !isTerminal(state.run.status)
  const participants = hasEnded ? sweepParticipants(heard, run.status) : heard
  return {
    run,
    participants,
    graph: foldGraph(state.graph, view, recipients, participants, state.participants),
    decision: foldDecision(state.decision, view, run.initiator),
    signals: foldSignals(state.signals, view),
    progress: foldProgress(state.progress, view),
    timeline: foldTimeline(state.timeline, view),
    trace: foldTrace(state.trace, view),
    outboundMessages: foldOutbound(state.outboundMessages, view),
    policy: hasEnded ? sweepPolicy(policy, run.status) : policy,
    llm: foldLlm(state.llm, view)
  }
}

/** Folds all events of a run, or a prefix of them, from the empty state. */
export const projectAll = (runId: string, events: Iterable<CanonicalEvent>): RunState => {
  let state = emptyRunState(runId)
  for (const event of events) state = project(state, event)
  return state
}
