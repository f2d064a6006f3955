import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { consume } from "../../event-log/consume/LogConsumer.ts"
import { Placement } from "../../observe/placement/Placement.ts"
import { BacktestRuns } from "../../queries/decisions/BacktestRuns.ts"
import { DecisionTruths } from "../../queries/decisions/DecisionTruths.ts"
import { makeChangedCommittees } from "./ChangedCommittees.ts"
import { makeCommitteeRows } from "./CommitteeRows.ts"

/** A step pauses for so many times of what its rows took, so that they take a fifth of one core at most. */
const PAUSE_SHARE = 4
const LONGEST_PAUSE_MS = 10_000

const LIMIT_MS = 120_000

/** One process at a time follows the log for the voters of runs. */
const followForever = Effect.gen(function* () {
  const follow = yield* makeChangedCommittees
  const makeRows = yield* makeCommitteeRows
  const step = Effect.gen(function* () {
    const followed = yield* follow
    // The rows of new runs do not wait for the log of earlier releases.
    if (followed?.isEnd === false) return { isEnd: false, lag: undefined }
    const made = yield* makeRows
    if (made.tookMs > 0) yield* Effect.sleep(Math.min(made.tookMs * PAUSE_SHARE, LONGEST_PAUSE_MS))
    return { isEnd: followed !== undefined && made.isEnd, lag: undefined }
  })
  yield* consume({
    ...{ name: "committees", step, limitMs: LIMIT_MS },
    isWokenByCommits: true,
    report: () => undefined
  })
}).pipe(Effect.withTracerEnabled(false))

/** The voters of runs, for committees. */
export const layer = Layer.effectDiscard(
  Placement.use((placement) => placement.singleton("committees", followForever))
).pipe(Layer.provide([BacktestRuns.layer, DecisionTruths.layer]))
