import type { Statement } from "../insight/Act.ts"
import type { SessionRules } from "../insight/ActivePolicy.ts"
import { type OutcomeStatus, outcomeStatuses } from "../insight/Forecast.ts"
import type { AnswerAct } from "./AnswerAct.ts"
import type { SeatView } from "./SeatView.ts"

/** What the session could decide after one act of a seat. */
export interface Consequence {
  readonly act: AnswerAct
  readonly positive: OutcomeStatus
  readonly negative: OutcomeStatus
}

const STATEMENTS: Readonly<Record<AnswerAct, Omit<Statement, "by" | "proposalId">>> = {
  approve: { type: "Vote", vote: "APPROVE" },
  reject: { type: "Vote", vote: "REJECT" },
  abstain: { type: "Vote", vote: "ABSTAIN" },
  evaluate: { type: "Evaluation", recommendation: "APPROVE", confidence: 1 },
  object: { type: "Objection", severity: "critical" },
  accept: { type: "HandoffAccept" },
  decline: { type: "HandoffDecline" }
}
const QUORUM_TYPES: Readonly<Partial<Record<AnswerAct, string>>> = {
  approve: "Approve",
  reject: "Reject",
  abstain: "Abstain"
}

/**
 * What each of these acts would lead to, were it the next message. It counts the votes of all others: where these are
 * withheld, so is this. An objection counts as a critical one.
 */
export const consequencesOf = (
  sessionRules: SessionRules,
  { messages, mode }: SeatView,
  seat: string,
  proposalId: string,
  acts: ReadonlyArray<AnswerAct>
): ReadonlyArray<Consequence> => {
  const before = messages.map(({ statement }) => statement)
  return acts.map((act) => {
    const type = mode === "quorum" ? QUORUM_TYPES[act] : undefined
    const statement = { ...STATEMENTS[act], ...(type !== undefined && { type }), by: seat, proposalId }
    return { act, ...outcomeStatuses(sessionRules, [...before, statement]) }
  })
}
