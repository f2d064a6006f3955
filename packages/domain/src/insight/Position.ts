import type { RuleRefusal, SessionRecord } from "../policies/SessionRecord.ts"
import { type Act, counting, evaluateActs } from "./Act.ts"
import { actionLog } from "./ActionLog.ts"
import { isAllowed, objectionsTo, type SessionRules } from "./ActivePolicy.ts"
import type { Deliberation } from "./Deliberation.ts"

/** Whether an outcome would be accepted after the given acts, and the objections to it. */
export interface Position {
  readonly isAllowed: (acts: ReadonlyArray<Act>, positive: boolean) => boolean
  readonly objections: (acts: ReadonlyArray<Act>, positive: boolean) => ReadonlyArray<RuleRefusal>
  /** The acts that count, and the record that the rules evaluate. */
  readonly counted: (acts: ReadonlyArray<Act>) => ReadonlyArray<Act>
  readonly recordOf: (acts: ReadonlyArray<Act>) => SessionRecord
}

/** Judges the acts of each call anew: without a vote, the one that it replaced counts again. */
export const positionUnder = ({ initiator, participants }: Deliberation, { mode, terms }: SessionRules): Position => {
  const { rules } = terms.policy
  const counted = (acts: ReadonlyArray<Act>) => counting(evaluateActs({ mode, initiator, participants, rules }, acts))
  const recordOf = (acts: ReadonlyArray<Act>) => actionLog(mode, counted(acts), rules)
  return {
    counted,
    recordOf,
    isAllowed: (acts, positive) => isAllowed(terms, recordOf(acts), positive),
    objections: (acts, positive) => objectionsTo(terms, recordOf(acts), positive)
  }
}

/** Most acts that are evaluated for one part of an answer; beyond it the part is left out. */
const MAX_EVALUATED = 60_000

/** How many times these acts may be evaluated for one part of an answer. */
export const trialsOf = (acts: ReadonlyArray<Act>): number =>
  Math.max(1, Math.floor(MAX_EVALUATED / (acts.length || 1)))

/** Which side of an outcome an act is on. */
export type Side = "for" | "against" | "neither"

const FOR: ReadonlySet<string> = new Set([
  "APPROVE",
  "Accept",
  "Approve",
  "TaskAccept",
  "TaskComplete",
  "HandoffAccept"
])
const AGAINST: ReadonlySet<string> = new Set([
  "REJECT",
  "Reject",
  "Withdraw",
  "TaskReject",
  "TaskFail",
  "HandoffDecline"
])

export const sideOf = ({ severity, type, vote }: Act, positive: boolean): Side => {
  const word = vote ?? type
  const isAgainst = AGAINST.has(word) || (type === "Objection" && severity === "critical")
  if (!isAgainst && !FOR.has(word)) return "neither"
  return isAgainst === positive ? "against" : "for"
}
