import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import type { CanonicalEventType } from "../events/CanonicalEventType.ts"
import { readAct } from "../insight/Act.ts"
import type { MarkValue } from "../marks/Mark.ts"
import type { RunStatus } from "../run/RunStatus.ts"
import { sumUsd } from "../values/Money.ts"

/** The outcome of a run: the action of its commitment, and whether it was a yes (null: not stated). */
export interface TrialOutcome {
  readonly action: string
  readonly positive: boolean | null
}

/** The reasons to leave out a run without a decision. */
export type Exclusion = "failed" | "cancelled" | "expired" | "unfinished"

/** A run as an independent trial of its decision. */
export interface Trial {
  readonly runId: string
  /** Of a run without a decision `none`, or the way it ended. */
  readonly outcome: TrialOutcome
  readonly excluded?: Exclusion
  /** US dollars of its model calls. */
  readonly costUsd: number
  /** Milliseconds; undefined when the run did not start or did not end. */
  readonly durationMs: number | undefined
  /** Votes that their participant changed later. */
  readonly mindChanges: number
  /** Models that its agents called, sorted. */
  readonly models: ReadonlyArray<string>
  /** The mean of its marks of each name that a case demands. */
  readonly marks?: Readonly<Record<string, number>>
}

/** The figures of a run that its record has beside the log. */
export interface TrialRun {
  readonly runId: string
  readonly status: RunStatus
  readonly durationMs: number | undefined
}

/** Types of the events that `trialReader` needs. */
export const TRIAL_TYPES: ReadonlyArray<CanonicalEventType> = [
  "proposal.updated",
  "decision.finalized",
  "llm.call.completed",
  "run.failed"
]

const NO_DECISION: TrialOutcome = { action: "none", positive: null }
/** Models of one run that are listed. */
const MAX_MODELS = 20

/** Reads a run's events one by one. */
export interface TrialReader {
  readonly take: (event: CanonicalEvent) => void
  /** The trial of all events; the reader takes no event after this call. */
  readonly read: (run: TrialRun) => Trial
}

export const trialReader = (): TrialReader => {
  const costs: Array<number> = []
  const models = new Set<string>()
  const votes = new Map<string, string | undefined>()
  let mindChanges = 0
  let decided: TrialOutcome | undefined
  let isExpired = false
  return {
    take: (event) => {
      switch (event.type) {
        case "proposal.updated": {
          const { by, proposalId, type, vote } = readAct(event)
          if (type !== "Vote") return
          // With the length in front no two pairs are written alike.
          const voter = `${by.length} ${by} ${proposalId}`
          if (votes.has(voter) && votes.get(voter) !== vote) mindChanges += 1
          votes.set(voter, vote)
          return
        }
        case "decision.finalized":
          decided = { action: event.data.action ?? "resolved", positive: event.data.outcomePositive }
          return
        case "llm.call.completed":
          costs.push(event.data.estimatedCostUsd ?? 0)
          if (event.data.model !== undefined && models.size < MAX_MODELS) models.add(event.data.model)
          return
        case "run.failed":
          isExpired = event.data.errorCode === "SESSION_EXPIRED"
      }
    },
    read: ({ durationMs, runId, status }) => {
      const excluded = decided === undefined ? exclusionOf(status, isExpired) : undefined
      return {
        runId,
        outcome: decided ?? (excluded === undefined ? NO_DECISION : { action: excluded, positive: null }),
        ...(excluded !== undefined && { excluded }),
        costUsd: sumUsd(costs),
        durationMs,
        mindChanges,
        models: [...models].sort()
      }
    }
  }
}

const exclusionOf = (status: RunStatus, isExpired: boolean): Exclusion | undefined => {
  switch (status) {
    case "completed":
      return undefined
    case "failed":
      return isExpired ? "expired" : "failed"
    case "cancelled":
      return "cancelled"
    default:
      return "unfinished"
  }
}

/** Counted trials: those that are not excluded, or all that have ended. */
export const countedTrials = (trials: ReadonlyArray<Trial>, countAll = false): ReadonlyArray<Trial> =>
  trials.filter(({ excluded }) => excluded === undefined || (countAll && excluded !== "unfinished"))

/** Equal for equal outcomes. */
export const outcomeKey = ({ action, positive }: TrialOutcome): string => JSON.stringify([action, positive])

/** `decision.selected (positive)`. */
export const outcomeText = ({ action, positive }: TrialOutcome): string =>
  positive === null ? action : `${action} (${positive ? "positive" : "negative"})`

/** The mean of marks of one name: numbers, true as 1 and false as 0; undefined without any. Categories do not count. */
export const markMean = (values: ReadonlyArray<MarkValue | undefined>): number | undefined => {
  const numbers = values.flatMap((value) =>
    typeof value === "number" ? value : typeof value === "boolean" ? Number(value) : []
  )
  return numbers.length === 0 ? undefined : numbers.reduce((sum, value) => sum + value / numbers.length, 0)
}
