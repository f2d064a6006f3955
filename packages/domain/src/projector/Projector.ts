import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { isTerminal } from "../run/RunStatus.ts"
import { foldDecision } from "./Decision.ts"
import { viewOf } from "./EventView.ts"
import { foldGraph } from "./Graph.ts"
import { foldParticipants, memberOf, recipientsOf, sweepParticipants } from "./Participants.ts"
import { foldPolicy, sweepPolicy } from "./PolicySection.ts"
import { foldRun } from "./Run.ts"
import type { RunState } from "./RunState.ts"
import {
  countUnknown,
  foldLlm,
  foldOutbound,
  foldProgress,
  foldSignals,
  foldTimeline,
  foldTrace
} from "./TelemetrySections.ts"
import { noUsage } from "./UsageSums.ts"

/** The state of a run without events: every section is there. */
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
    totals: { callCount: 0, ...noUsage }
  }
})

/**
 * Folds one event into the state (docs/reference/events.md#fold). Pure, immutable and total: the live path, the rebuild
 * and the replay call this one function and agree byte for byte, for which the events must be applied in the order of
 * `index`. Sections that an event does not touch stay the same objects. An event of an unknown type counts in the
 * timeline and changes nothing else.
 */
export const project = (state: RunState, event: CanonicalEvent): RunState => {
  if (event.type === "unknown") return { ...state, timeline: countUnknown(state.timeline, event) }
  const isMember = memberOf(event, state.participants)
  const seen = viewOf(event)
  const view = isMember(seen.sender) ? seen : { ...seen, sender: "" }
  const run = foldRun(state.run, event)
  const recipients = recipientsOf(event, state.participants).filter(isMember)
  const observed = foldParticipants(state.participants, view, recipients, run.status)
  const policy = foldPolicy(state.policy, event, observed)
  const hasEnded = isTerminal(run.status) && !isTerminal(state.run.status)
  const participants = hasEnded ? sweepParticipants(observed, run.status) : observed
  return {
    run,
    participants,
    graph: foldGraph(state.graph, view, recipients, participants, state.participants),
    decision: foldDecision(state.decision, event, run.initiator),
    signals: foldSignals(state.signals, event),
    progress: foldProgress(state.progress, event),
    timeline: foldTimeline(state.timeline, event),
    trace: foldTrace(state.trace, event),
    outboundMessages: foldOutbound(state.outboundMessages, event),
    policy: hasEnded ? sweepPolicy(policy, run.status) : policy,
    llm: foldLlm(state.llm, event)
  }
}

/** Folds all events of a run, or a prefix of them, from the empty state. */
export const projectAll = (runId: string, events: Iterable<CanonicalEvent>): RunState => {
  let state = emptyRunState(runId)
  for (const event of events) state = project(state, event)
  return state
}
