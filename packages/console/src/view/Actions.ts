import type { Run } from "@runplane/api"
import { decideTransition, isTerminal, RunStatus } from "@runplane/domain"

export type RunAction = "cancel" | "suspend" | "resume" | "archive" | "delete"

/** What an action makes of a run's status; the others leave it as it is. */
const targets = { cancel: "cancelled", suspend: "suspended", resume: "running" } as const

/**
 * Statuses from which an action can be asked for, as the table of transitions has it
 * (docs/reference/events.md#transitions).
 */
const possibleFrom = (action: keyof typeof targets): ReadonlyArray<RunStatus> =>
  RunStatus.literals.filter(
    (status) => decideTransition(status, targets[action]) === "apply" && (action !== "resume" || status === "suspended")
  )

/** Why an action cannot be asked for in a status; undefined when it can. */
export const refusalOf = (action: RunAction, status: RunStatus, run: Pick<Run, "archivedAt">): string | undefined => {
  if (action === "archive") return run.archivedAt === null ? undefined : "The run is archived already"
  if (action === "delete")
    return isTerminal(status) ? undefined : `The run is ${status}: only an ended run can be deleted`
  const from = possibleFrom(action)
  if (from.includes(status)) return undefined
  const ended = isTerminal(status) ? ", and an ended run does not change any more" : ""
  return `The run is ${status}${ended}. Possible while it is ${from.join(", ")}`
}
