import type { RunComparison } from "@runplane/api"
import * as Schema from "effect/Schema"
import type { StoredRun } from "../../event-log/runs/RunRow.ts"

/** The fields of a projection that are compared. */
export const ComparedState = Schema.Struct({
  participants: Schema.Array(Schema.Struct({ participantId: Schema.String })),
  signals: Schema.Struct({ signals: Schema.Array(Schema.Struct({ name: Schema.String })) }),
  decision: Schema.Struct({
    current: Schema.optionalKey(Schema.Struct({ confidence: Schema.optionalKey(Schema.Number) }))
  })
})

/** A run with the compared fields of its projection. */
export interface ComparedRun {
  readonly run: StoredRun
  readonly state: typeof ComparedState.Type
}

/** Two runs side by side: added, removed and changed in the right one (docs/reference/http.md#compare). */
export const compareRuns = (left: ComparedRun, right: ComparedRun): Omit<RunComparison, "divergence"> => {
  const [leftMs, rightMs] = [durationOf(left), durationOf(right)]
  const [leftConfidence, rightConfidence] = [confidenceOf(left), confidenceOf(right)]
  const participants = difference(participantsOf(left), participantsOf(right))
  const { added, removed } = difference(signalsOf(left), signalsOf(right))
  return {
    left: summaryOf(left),
    right: summaryOf(right),
    statusMatch: left.run.record.status === right.run.record.status,
    ...(leftMs !== undefined && rightMs !== undefined && { durationDeltaMs: rightMs - leftMs }),
    ...(leftConfidence !== undefined &&
      rightConfidence !== undefined && { confidenceDelta: rightConfidence - leftConfidence }),
    participantsDiff: participants,
    signalsDiff: { added, removed }
  }
}

const summaryOf = (side: ComparedRun): RunComparison["left"] => {
  const { modeName, record } = side.run
  const durationMs = durationOf(side)
  return {
    runId: record.runId,
    status: record.status,
    ...(modeName !== "" && { modeName }),
    ...(durationMs !== undefined && { durationMs })
  }
}

/** Milliseconds from start to end; undefined while the run has not ended. */
const durationOf = ({ run: { record } }: ComparedRun): number | undefined =>
  record.startedAt === undefined || record.endedAt === undefined
    ? undefined
    : Math.max(0, Date.parse(record.endedAt) - Date.parse(record.startedAt))

const confidenceOf = ({ state }: ComparedRun): number | undefined => state.decision.current?.confidence

const participantsOf = ({ state }: ComparedRun): ReadonlySet<string> =>
  new Set(state.participants.map((participant) => participant.participantId))

const signalsOf = ({ state }: ComparedRun): ReadonlySet<string> =>
  new Set(state.signals.signals.map((signal) => signal.name))

const difference = (left: ReadonlySet<string>, right: ReadonlySet<string>) => ({
  added: [...right].filter((item) => !left.has(item)),
  removed: [...left].filter((item) => !right.has(item)),
  common: [...left].filter((item) => right.has(item))
})
