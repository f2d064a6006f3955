import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { consume } from "../../event-log/consume/LogConsumer.ts"
import { Placement } from "../../observe/placement/Placement.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { BacktestRuns } from "../../queries/decisions/BacktestRuns.ts"
import { decisionLag, makeChangedDecisions } from "./ChangedDecisions.ts"
import { makeDecisionRows } from "./DecisionRows.ts"

/**
 * A step pauses for so many times of what the rows of its short runs took, so that they take a fifth of one core at
 * most. Those of long runs are rare by themselves, and the others do not wait for them twice.
 */
const PAUSE_SHARE = 4
const LONGEST_PAUSE_MS = 10_000

const LIMIT_MS = 120_000

/** One process at a time follows the log for the decisions of runs. */
const followForever = Effect.gen(function* () {
  const follow = yield* makeChangedDecisions
  const makeRows = yield* makeDecisionRows
  const metrics = yield* Metrics
  const step = Effect.gen(function* () {
    const followed = yield* follow
    // The rows of new runs do not wait for the log of earlier releases.
    if (followed?.isEnd === false) return { isEnd: false, lag: yield* decisionLag }
    const made = yield* makeRows
    if (made.tookMs > 0) yield* Effect.sleep(Math.min(made.tookMs * PAUSE_SHARE, LONGEST_PAUSE_MS))
    return { isEnd: followed !== undefined && made.isEnd, lag: yield* decisionLag }
  })
  yield* consume({
    ...{ name: "decisions", step, limitMs: LIMIT_MS },
    isWokenByCommits: true,
    report: (lag = 0) => metrics.decisionLag(lag)
  })
}).pipe(Effect.withTracerEnabled(false))

/** The decisions of runs, for lists and searches. */
export const layer = Layer.effectDiscard(
  Placement.use((placement) => placement.singleton("decisions", followForever))
).pipe(Layer.provide(BacktestRuns.layer))
