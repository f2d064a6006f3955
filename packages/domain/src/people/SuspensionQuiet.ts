import { actionLog } from "../insight/ActionLog.ts"
import { isAllowed, type SessionRules } from "../insight/ActivePolicy.ts"
import { takesEvaluations } from "./Barrier.ts"
import { isClosed } from "./ItemLife.ts"
import type { SeatView, SeenMessage } from "./SeatView.ts"
import { isBallot } from "./SeatView.ts"
import type { SuspendableSeat, SuspendableSession } from "./Suspension.ts"

/**
 * When nothing more is due from the agents of a session, if no message comes before: soon after the last message once
 * each has acted, and a minute after it otherwise. Agents hold their votes while a person may still evaluate or object,
 * and then their evaluations are what is due. A session that could be committed now leaves its committer the minute.
 */
export const quietAt = ({ pauses, seats, sessionRules, view }: Omit<SuspendableSession, "now" | "acts">): number => {
  const lastAt = view.messages.reduce((latest, { receivedAtUnixMs }) => Math.max(latest, receivedAtUnixMs), 0)
  const isQuiet = view.mode !== "handoff" && haveActed(view, seats) && !canBeCommitted(view, sessionRules)
  return lastAt + (isQuiet ? pauses.reactionMs : pauses.agentsMs)
}

const EARLY: ReadonlySet<string> = new Set(["Evaluation", "Objection"])

/** Whether each agent has acted on each subject of an open item. */
const haveActed = (view: SeatView, seats: ReadonlyArray<SuspendableSeat>): boolean => {
  const people = new Set(seats.map(({ id }) => id))
  const agents = (view.opening?.participants ?? []).filter((one) => !people.has(one))
  const open = seats.flatMap(({ items, rules }) =>
    items.filter(({ state }) => !isClosed(state)).map(({ subject }) => ({ subject, acts: rules.acts }))
  )
  const holdsVotes =
    takesEvaluations(view) && open.some(({ acts }) => acts.includes("evaluate") || acts.includes("object"))
  const subjects = new Set(open.map(({ subject }) => subject))
  return [...subjects].every((ordinal) => {
    const subject = view.messages[ordinal - 1]
    return subject !== undefined && agents.every((agent) => hasActed(view, subject, agent, holdsVotes))
  })
}

const hasActed = (view: SeatView, subject: SeenMessage, agent: string, isEarlyEnough: boolean): boolean =>
  (isEarlyEnough && subject.statement.by === agent) ||
  view.messages.some(
    (message) =>
      message.statement.by === agent &&
      message.statement.proposalId === subject.statement.proposalId &&
      (isBallot(message) || (isEarlyEnough && EARLY.has(message.statement.type)))
  )

/** Whether the policy would let the session be committed now, with either outcome. */
const canBeCommitted = ({ messages, mode }: SeatView, sessionRules: SessionRules | undefined): boolean => {
  if (sessionRules === undefined) return false
  const { terms } = sessionRules
  const acts = messages.map(({ statement }) => statement)
  const log = actionLog(mode, acts, terms.policy.rules)
  return isAllowed(terms, log, true) || isAllowed(terms, log, false)
}
