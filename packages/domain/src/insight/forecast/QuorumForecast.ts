import { policyThreshold, refusesUnwinnableQuorum } from "../../policies/Evaluation.ts"
import type { QuorumRecord, SessionTerms } from "../../policies/SessionRecord.ts"
import type { Statement } from "../Act.ts"
import { isAllowed } from "../ActivePolicy.ts"
import { type ModeForecast, type Step, statement } from "./ModeForecast.ts"

const BALLOTS = ["Approve", "Reject", "Abstain"]
const NEW_REQUEST = "a new request"

/** A quorum: one request of the initiator, then one ballot for each participant; only approvals count. */
export const quorumForecast = (
  terms: SessionTerms,
  acts: ReadonlyArray<Statement>,
  record: QuorumRecord
): ModeForecast => {
  if (record.requiredApprovals === undefined) return unrequested(terms, record)
  const about = acts.find(({ type }) => type === "ApprovalRequest")?.proposalId ?? NEW_REQUEST
  const voted = new Set(acts.flatMap(({ by, type }) => (BALLOTS.includes(type) ? [by] : [])))
  const open = terms.participants.filter((participant) => !voted.has(participant))
  return {
    record,
    ends: endsOf(record, open.length),
    outstanding: open.map((participantId) => ({ participantId, acts: BALLOTS })),
    moves: open.flatMap((by) => BALLOTS.map((type) => ({ statement: statement(by, type, about), kind: type }))),
    needs: (positive) => ballotsNeeded(terms, record, open, positive),
    isExact: true
  }
}

const endsOf = (record: QuorumRecord, open: number): ReadonlyArray<QuorumRecord> => [
  cast(record, open, "Approve"),
  cast(record, open, "Reject")
]

const cast = (record: QuorumRecord, ballots: number, act: string): QuorumRecord => ({
  ...record,
  ballots: record.ballots + ballots,
  approvals: record.approvals + (act === "Approve" ? ballots : 0)
})

/** Before the request nothing is certain: the request sets the threshold where the policy sets none. */
const unrequested = (terms: SessionTerms, record: QuorumRecord): ModeForecast => {
  const { initiator, participants } = terms
  const isRefused = refusesUnwinnableQuorum(terms) && !isReachable(policyThreshold(terms) ?? 1, participants.length)
  const begun = { ...record, requiredApprovals: 1 }
  const canBegin = !isRefused && initiator !== "" && participants.length > 0
  const request: Step = { count: 1, of: [initiator], act: "ApprovalRequest" }
  return {
    record,
    ends: canBegin ? [record, ...endsOf(begun, participants.length)] : [record],
    outstanding: canBegin ? [{ participantId: initiator, acts: ["ApprovalRequest"] }] : [],
    moves: [],
    needs: (positive) =>
      canBegin ? ballotsNeeded(terms, begun, participants, positive).map((steps) => [request, ...steps]) : [],
    isExact: true
  }
}

const isReachable = (approvals: number, participants: number) => approvals >= 1 && approvals <= participants

const ballotsNeeded = (
  terms: SessionTerms,
  record: QuorumRecord,
  open: ReadonlyArray<string>,
  positive: boolean
): ReadonlyArray<ReadonlyArray<Step>> => {
  for (let count = 0; count <= open.length; count += 1) {
    const found = ["Approve", "Reject"].filter((act) => isAllowed(terms, cast(record, count, act), positive))
    if (found.length > 0) return count === 0 ? [[]] : found.map((act) => [{ count, of: open, act }])
  }
  return []
}
