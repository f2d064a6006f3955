import {
  type ActivePolicy,
  activePolicy,
  type CanonicalEvent,
  type Deliberation,
  decisionRecord,
  type EventDraft,
  type JsonObject,
  type StandardMode
} from "@runplane/domain"
import { derived, draft, number } from "./events.ts"

/** How a session was opened; three participants beside the initiator by default. */
export interface Opening {
  readonly mode?: StandardMode
  readonly participants?: ReadonlyArray<string>
  readonly rules?: JsonObject
  readonly schemaVersion?: number
  readonly runtimeVersion?: string
}

export const modeName = (mode: StandardMode): string => `macp.mode.${mode}.v1`

/** The events of a session from its creation on, up to its policy when rules are given. */
export const opened = ({
  mode = "decision",
  participants = ["a", "b", "c"],
  rules,
  runtimeVersion,
  schemaVersion = 3
}: Opening = {}): ReadonlyArray<EventDraft> => {
  const policyId = rules === undefined ? "policy.default" : "policy.test.rules"
  const descriptor = { policyId, mode: modeName(mode), schemaVersion, rules: JSON.stringify(rules) }
  return [
    draft("run.created", { status: "queued", modeName: modeName(mode), ...(runtimeVersion && { runtimeVersion }) }),
    draft("session.bound", {
      sessionId: "session-1",
      initiator: "lead",
      state: "OPEN",
      modeName: modeName(mode),
      policyVersion: policyId,
      participants: [...participants]
    }),
    ...(rules === undefined ? [] : [draft("policy.resolved", { policyVersion: policyId, descriptor })])
  ]
}

const OPENINGS = new Set(["Proposal", "CounterProposal", "TaskRequest", "HandoffOffer", "ApprovalRequest"])

/** What a participant says, about `p1` by default. */
export const says = (by: string, messageType: string, payload: JsonObject = {}, about = "p1"): EventDraft =>
  derived(OPENINGS.has(messageType) ? "proposal.created" : "proposal.updated", messageType, by, payload, about)

export const proposes = (by = "a", about = "p1") => says(by, "Proposal", { option: `option of ${about}` }, about)
export const votes = (by: string, vote: string, about = "p1") => says(by, "Vote", { vote }, about)
export const commits = (positive: boolean, by = "lead"): EventDraft =>
  derived("decision.finalized", "Commitment", by, {
    commitmentId: "c1",
    action: positive ? "decision.selected" : "decision.rejected",
    outcome_positive: positive,
    reason: "counted"
  })

/** A call of a language model. */
export const draftLlmCall = (by: string, model: string): EventDraft =>
  draft("llm.call.completed", {
    sender: by,
    decodedPayload: { model, promptTokens: 1, completionTokens: 1, totalTokens: 2 }
  })

export type Drafts = ReadonlyArray<EventDraft | ReadonlyArray<EventDraft>>

export const eventsOf = (...drafts: Drafts): ReadonlyArray<CanonicalEvent> => number(drafts.flat())

export const recordOf = (...drafts: Drafts): Deliberation => decisionRecord(eventsOf(...drafts))

/** A run's record with what governs it. */

export const governed = (...drafts: Drafts): { readonly run: Deliberation; readonly by: ActivePolicy } => {
  const run = recordOf(...drafts)
  return { run, by: activePolicy(run) }
}
