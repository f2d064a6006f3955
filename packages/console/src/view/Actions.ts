import type { Run } from "@runplane/api"
import { decideTransition, isTerminal, OTLP_RUNTIME_KIND, RunStatus } from "@runplane/domain"

export type RunAction = "cancel" | "suspend" | "resume" | "archive" | "delete"

/** The status after an action; the others do not change it. */
const targets = { cancel: "cancelled", suspend: "suspended", resume: "running" } as const

/**
 * Statuses in which an action is possible, by the table of transitions
 * (docs/reference/events.md#transitions).
 */
const possibleFrom = (action: keyof typeof targets): ReadonlyArray<RunStatus> =>
  RunStatus.literals.filter(
    (status) => decideTransition(status, targets[action]) === "apply" && (action !== "resume" || status === "suspended")
  )

/** Whether a runtime hosts the session of the run; the run of an application that sends OpenTelemetry has none. */
export const hasRuntime = ({ runtimeKind }: Pick<Run, "runtimeKind">): boolean => runtimeKind !== OTLP_RUNTIME_KIND

/** Why an action is not possible in a status; undefined when it is. */
export const refusalOf = (
  action: RunAction,
  status: RunStatus,
  run: Pick<Run, "archivedAt" | "runtimeKind">
): string | undefined => {
  if (action === "archive") return run.archivedAt === null ? undefined : "The run is archived already"
  if (action === "delete")
    return isTerminal(status) ? undefined : `The run is ${status}: only an ended run can be deleted`
  if (!hasRuntime(run)) return "The application of the run is not controlled from here"
  const from = possibleFrom(action)
  if (from.includes(status)) return undefined
  const ended = isTerminal(status) ? ", and an ended run does not change any more" : ""
  return `The run is ${status}${ended}. Possible while it is ${from.join(", ")}`
}
