import { ControlPlaneApi, type NotFound, type RunComparison } from "@runplane/api"
import { RunState } from "@runplane/domain"
import type { TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { StoredRun } from "../../event-log/runs/RunRow.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { DecisionReader } from "../decisions/DecisionReader.ts"
import { Decisions } from "../decisions/Decisions.ts"
import { makeRunWithState } from "../RunWithState.ts"

/** The fields of a projection that are compared. */
export const ComparedState = Schema.Struct({
  participants: Schema.Array(Schema.Struct({ participantId: Schema.String })),
  signals: Schema.Struct({ signals: Schema.Array(Schema.Struct({ name: Schema.String })) }),
  decision: Schema.Struct({
    current: Schema.optionalKey(Schema.Struct({ confidence: Schema.optionalKey(Schema.Number) }))
  }),
  llm: Schema.Struct({ totals: RunState.fields.llm.fields.totals })
})

/** A run with the compared fields of its projection. */
export interface ComparedRun {
  readonly run: StoredRun
  readonly state: typeof ComparedState.Type
}

/** Two runs side by side: added, removed and changed in the right one (docs/reference/runs.md#compare). */
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
  const usage = usageOf(side)
  return {
    runId: record.runId,
    status: record.status,
    ...(modeName !== "" && { modeName }),
    ...(durationMs !== undefined && { durationMs }),
    ...(usage !== undefined && { usage })
  }
}

/** Tokens and cost of the run; undefined without a call of a language model. */
const usageOf = ({ state }: ComparedRun): RunComparison["left"]["usage"] => {
  const { callCount, callsWithoutUsage, estimatedCostUsd, guessedCostUsd, totalTokens } = state.llm.totals
  if (callCount === 0) return undefined
  return {
    totalTokens,
    estimatedCostUsd,
    ...(guessedCostUsd !== undefined && { guessedCostUsd }),
    ...(callsWithoutUsage !== undefined && { callsWithoutUsage })
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

/** Comparisons of runs (docs/reference/runs.md#compare). */
export class RunComparisons extends Context.Service<
  RunComparisons,
  {
    readonly compare: (
      leftRunId: string,
      rightRunId: string
    ) => Effect.Effect<RunComparison, NotFound | SqlError | TurnRefused>
  }
>()("runplane/control-plane/RunComparisons") {
  static readonly layer = Layer.effect(
    RunComparisons,
    Effect.gen(function* () {
      const load = yield* makeRunWithState
      const decisions = yield* Decisions
      const { turns } = yield* DecisionReader

      const compare = Effect.fn("RunComparisons.compare")(function* (leftRunId: string, rightRunId: string) {
        const both = Effect.all([load(leftRunId, ComparedState), load(rightRunId, ComparedState)])
        const sides = compareRuns(...(yield* turns.run(both)))
        const { divergence } = yield* decisions.divergence(leftRunId, rightRunId)
        return { ...sides, divergence }
      })
      return RunComparisons.of({ compare })
    })
  )
}

/** The `compare` group. */
export const CompareHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "compare",
  Effect.fnUntraced(function* (handlers) {
    const comparisons = yield* RunComparisons
    return handlers.handleAll({
      compare: ({ payload }) => orUnavailable(comparisons.compare(payload.leftRunId, payload.rightRunId))
    })
  })
)
