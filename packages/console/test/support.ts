import { type CanonicalEvent, decodeEvent } from "@runplane/domain"
import * as Result from "effect/Result"

const START = Date.parse("2026-07-01T10:00:00.000Z")

export interface Given {
  readonly type: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly subject?: { readonly kind: string; readonly id: string }
  /** Milliseconds after the first. */
  readonly after?: number
}

/** Events of a run as an answer of the API holds them, in their order: index and seq are counted. */
export const eventsOf = (given: ReadonlyArray<Given>): ReadonlyArray<CanonicalEvent> =>
  given.map(({ after, data = {}, subject, type }, at) =>
    Result.getOrThrow(
      decodeEvent({
        id: `event-${at + 1}`,
        runId: "run-1",
        seq: (at + 1) * 3,
        index: at + 1,
        ts: new Date(START + (after ?? at * 100)).toISOString(),
        type,
        schemaVersion: 1,
        ...(subject !== undefined && { subject }),
        source: { kind: "runtime", name: "test" },
        data
      })
    )
  )

/** A message of a participant as an event derived from it. */
export const said = (
  type: string,
  messageType: string,
  sender: string,
  decodedPayload: Readonly<Record<string, unknown>>
): Given => ({ type, data: { messageType, sender, messageId: `${sender}-${messageType}`, decodedPayload } })

/** A decision of two: one changes its mind, the policy refuses once, and a call of a model is reported. */
export const DECISION: ReadonlyArray<Given> = [
  { type: "run.created", data: { status: "queued" } },
  {
    type: "message.received",
    data: { messageType: "SessionStart", sender: "lead", payload: { intent: "decide about X" } }
  },
  said("proposal.created", "Proposal", "lead", { proposalId: "p1", option: "go", rationale: "it is time" }),
  said("llm.call.completed", "Signal", "ana", {
    model: "m-1",
    promptTokens: 10,
    completionTokens: 5,
    estimatedCostUsd: 0.001
  }),
  said("proposal.updated", "Evaluation", "ana", {
    proposalId: "p1",
    recommendation: "APPROVE",
    confidence: 0.8,
    reason: "looks right"
  }),
  said("proposal.updated", "Vote", "ana", { proposalId: "p1", vote: "REJECT", reason: "too early" }),
  said("proposal.updated", "Objection", "bob", { proposalId: "p1", severity: "high", reason: "risky" }),
  said("proposal.updated", "Vote", "ana", { proposalId: "p1", vote: "APPROVE", reason: "now it is right" }),
  { type: "policy.denied", data: { errorCode: "POLICY_DENIED", errorMessage: "no quorum" } },
  said("proposal.updated", "Vote", "bob", { proposalId: "p1", vote: "APPROVE" }),
  said("decision.finalized", "Commitment", "lead", {
    commitmentId: "c1",
    action: "decision.selected",
    outcomePositive: true,
    reason: "2 of 2"
  }),
  { type: "run.completed", data: { status: "completed" } }
]
