import type { Run } from "@runplane/api"
import { decideTransition, isTerminal, RunStatus } from "@runplane/domain"
import { hasRuntime } from "./RunFacts.ts"

export type RunAction = "cancel" | "suspend" | "resume" | "archive" | "unarchive" | "delete"

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

/** Statuses of a run that waits for its session. */
const WAITS: ReadonlySet<RunStatus> = new Set(["queued", "starting", "binding_session"])

/** Without an event for this long the runtime may have lost the session, and a lost session can always be cancelled. */
const SILENT_MS = 5 * 60_000

const NO_CANCEL =
  "The run has neither a cancel callback nor a delegation: only the initiator of its session can cancel it"

/** Why the run cannot be cancelled by its metadata (docs/reference/runs.md#cancel). */
const cancelRefusalOf = (
  { metadata, metadataOmitted = [] }: Pick<Run, "metadata" | "metadataOmitted">,
  { authority, isWaiting, silentMs }: Control & { readonly isWaiting: boolean }
): string | undefined => {
  // The delegation wins over the callback.
  if (metadata["cancellationDelegated"]) return isWaiting ? undefined : authority
  if (metadata["cancelCallback"] !== undefined || metadataOmitted.includes("cancelCallback")) return undefined
  return !isWaiting && silentMs >= SILENT_MS ? undefined : NO_CANCEL
}

/** The past form of each action, for sentences about its result. */
export const pastOf: Readonly<Record<RunAction, string>> = {
  cancel: "cancelled",
  suspend: "suspended",
  resume: "resumed",
  archive: "archived",
  unarchive: "unarchived",
  delete: "deleted"
}

/** What is known of the session beside the record of its run. */
export interface Control {
  /** Why the session does not let this service control it; undefined when it does, or when that is unknown. */
  readonly authority?: string | undefined
  /** Time since the last event, milliseconds. */
  readonly silentMs: number
}

/** Why an action is not possible in a status; undefined when it is. */
export const refusalOf = (
  action: RunAction,
  status: RunStatus,
  run: Pick<Run, "archivedAt" | "metadata" | "metadataOmitted" | "runtimeKind">,
  control: Control = { silentMs: 0 }
): string | undefined => {
  if (action === "archive") return run.archivedAt === null ? undefined : "The run is archived already"
  if (action === "unarchive") return run.archivedAt === null ? "The run is not archived" : undefined
  if (action === "delete")
    return isTerminal(status) ? undefined : `The run is ${status}: only an ended run can be deleted`
  if (!hasRuntime(run)) return "The application of the run is not controlled from here"
  const from = possibleFrom(action)
  if (from.includes(status)) {
    return action === "cancel" ? cancelRefusalOf(run, { ...control, isWaiting: WAITS.has(status) }) : control.authority
  }
  const ended = isTerminal(status) ? ", and an ended run does not change any more" : ""
  return `The run is ${status}${ended}. Possible while it is ${from.join(", ")}`
}
