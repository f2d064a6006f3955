import {
  draftEvent,
  type EventDraft,
  policyResolved,
  type RunStatus,
  type SessionSnapshot,
  sessionBound
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { createRun } from "./Runs.ts"

/** Runs of a small committee that decides under a policy, for what is said about decisions. */

export const MODE = "macp.mode.decision.v1"
export const [LEAD, RISK, COST] = ["agent://lead", "agent://risk", "agent://cost"]
export const AT = "2026-07-01T10:00:00.000Z"

export const session = (policyVersion: string, mode = MODE): SessionSnapshot => ({
  sessionId: "s",
  mode,
  state: "OPEN",
  startedAtUnixMs: 0,
  expiresAtUnixMs: 0,
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  policyVersion,
  participants: [LEAD, RISK, COST],
  participantActivity: [],
  initiator: LEAD,
  contextId: "",
  extensionKeys: []
})

export const MAJORITY = {
  policyId: "p.majority",
  mode: MODE,
  schemaVersion: 3,
  description: "more than half",
  rules: JSON.stringify({ voting: { algorithm: "majority", threshold: 0.6 } })
}

let messages = 0
/** A message about the proposal that its payload names, `p1` without one. */
export const said = (
  type: "proposal.created" | "proposal.updated" | "decision.finalized",
  messageType: string,
  sender: string,
  payload: Readonly<Record<string, string | boolean>>
): EventDraft =>
  draftEvent(
    type,
    {
      ts: AT,
      subject: { kind: "proposal", id: String(payload["proposalId"] ?? "p1") },
      source: { kind: "runtime", name: "rust-runtime", rawType: messageType }
    },
    { messageType, sender, messageId: `m${messages++}`, decodedPayload: { proposalId: "p1", ...payload } }
  )
export const proposes = said("proposal.created", "Proposal", LEAD, { option: "go <b>now</b>" })
export const votes = (by: string, vote: string) => said("proposal.updated", "Vote", by, { vote, reason: "seen it" })
export const commits = said("decision.finalized", "Commitment", LEAD, {
  action: "decision.selected",
  outcome_positive: true,
  reason: "agreed"
})

/** A run with these events in its log. */
export const recorded = (...events: ReadonlyArray<EventDraft>) => recordedAs("queued", ...events)

/** The same, with a row that says another status. */
export const recordedAs = Effect.fnUntraced(function* (status: RunStatus, ...events: ReadonlyArray<EventDraft>) {
  const runId = yield* createRun({ status })
  yield* (yield* EventLog).record({ runId, events })
  return runId
})

export const opened = [
  sessionBound(AT, session("p.majority")),
  policyResolved(AT, session("p.majority"), MAJORITY),
  proposes
]
export const decided = recorded(
  ...opened,
  votes(RISK, "APPROVE"),
  votes(COST, "APPROVE"),
  votes(LEAD, "REJECT"),
  commits
)
