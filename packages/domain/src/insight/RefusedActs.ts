import type { PolicyRules } from "../policies/RuleSchemas.ts"
import type { SessionRecord } from "../policies/SessionRecord.ts"

/** The members of an act that matter here. */
interface Statement {
  readonly by: string
  readonly type: string
  readonly proposalId: string
}

/**
 * Decides for the acts of a session, in their order, whether a runtime under these rules refuses the message itself.
 * A session's own policy refuses none of its acts, but another policy can: counter-proposals above `max_rounds` with
 * the answers to them, and a task that its assignee gives back without `allow_reassignment_on_reject` with what
 * follows from that.
 */
export const refusalUnder = (mode: SessionRecord["mode"], rules: PolicyRules): ((act: Statement) => boolean) => {
  switch (mode) {
    case "proposal":
      return aboveRounds(rules)
    case "task":
      return givenBack(rules)
    default:
      return () => false
  }
}

const aboveRounds = ({ counter_proposal: { max_rounds } }: PolicyRules) => {
  let counters = 0
  const unknown = new Set<string>()
  return ({ proposalId, type }: Statement): boolean => {
    if (type !== "CounterProposal") return unknown.has(proposalId)
    if (max_rounds === 0 || counters < max_rounds) {
      counters += 1
      return false
    }
    unknown.add(proposalId)
    return true
  }
}

const givenBack = ({ assignment }: PolicyRules) => {
  let assignee: string | undefined
  return ({ by, type }: Statement): boolean => {
    if (assignment.allow_reassignment_on_reject) return false
    const isAssigned = assignee !== undefined
    if (type === "TaskAccept") assignee ??= by
    if (type === "TaskAccept" || type === "TaskReject") return isAssigned
    return isAssigned && assignee !== by
  }
}
