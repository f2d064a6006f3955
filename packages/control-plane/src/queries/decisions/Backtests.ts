import {
  type BacktestLine,
  type BacktestRequest,
  badRequest,
  controlPlaneError,
  type RuntimeFailure
} from "@runplane/api"
import {
  addBacktestTruth,
  addToBacktest,
  BACKTEST_TYPES,
  type Backtested,
  type BacktestSummary,
  type BacktestTruth,
  backtestOf,
  emptyBacktest,
  emptyBacktestTruth,
  type PolicyText,
  RunId,
  truthOf
} from "@runplane/domain"
import { RequestFacts, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { type BacktestRun, BacktestRuns, groupsOf } from "./BacktestRuns.ts"
import { DecisionReader } from "./DecisionReader.ts"
import { Decisions } from "./Decisions.ts"
import { DecisionTruths } from "./DecisionTruths.ts"
import { unreadable } from "./RequestedPolicy.ts"

/** The result for one run, and whether its outcome was right. */
interface Judged {
  readonly runId: string
  readonly one: Backtested
  readonly truth: boolean | undefined
}

const NOTHING_ON_RECORD: Judged = {
  runId: "",
  one: { kind: "skipped", reason: "nothing on record" },
  truth: undefined
}

/**
 * Evaluates the decisions of many runs with another policy (docs/reference/decisions.md#backtest). The list of runs is
 * read at the beginning, and their events as the client receives the lines, a few runs at a time. So the memory does
 * not depend on the number of runs, and the backtest ends with its client.
 */
export class Backtests extends Context.Service<
  Backtests,
  {
    /** Fails before the first line when the policy cannot be evaluated; a stream without a last summary was cut. */
    readonly open: (
      request: typeof BacktestRequest.Type
    ) => Effect.Effect<Stream.Stream<BacktestLine, SqlError>, RuntimeFailure | SqlError | TurnRefused>
  }
>()("runplane/control-plane/Backtests") {
  static readonly layer = Layer.effect(
    Backtests,
    Effect.gen(function* () {
      const decisions = yield* Decisions
      const reader = yield* DecisionReader
      const runs = yield* BacktestRuns
      const truths = yield* DecisionTruths

      const judged = Effect.fnUntraced(function* (group: ReadonlyArray<RunId>, judge: ReturnType<typeof backtestOf>) {
        const marks = yield* truths.ofRuns(group)
        const found = yield* runs.evaluate(group, BACKTEST_TYPES, (run): Judged => {
          const { runId } = run
          return { runId, one: judge(run), truth: truthOf(marks.get(runId) ?? [], run) }
        })
        const gone = group.length - found.length
        return [...found, ...Array.from({ length: gone }, () => NOTHING_ON_RECORD)]
      }, reader.turns.goOn)

      const lines = (
        policy: PolicyText,
        inScope: ReadonlyArray<BacktestRun>,
        isLimited: boolean,
        inTurnOfCaller: ReturnType<typeof readFor>
      ): Stream.Stream<BacktestLine, SqlError> => {
        const judge = backtestOf(policy)
        const groups = groupsOf(inScope)
        const total = inScope.length
        return Stream.paginate({ at: 0, so: emptyBacktest, truth: emptyBacktestTruth }, ({ at, so, truth }) => {
          const group = groups[at]
          if (group === undefined) {
            return Effect.succeed([[summaryOf(policy, so, truth, isLimited)], Option.none()] as const)
          }
          return Effect.map(inTurnOfCaller(judged(group, judge)), (found) => {
            const after = found.reduce((sum, { one }) => addToBacktest(sum, one), so)
            const known = found.reduce((sum, { one, runId, truth }) => addBacktestTruth(sum, runId, one, truth), truth)
            const progress: BacktestLine = {
              type: "progress",
              examined: after.examined,
              total,
              flipped: after.flipped
            }
            const flips = found.flatMap(({ one }) => flipOf(one))
            return [[...flips, progress], Option.some({ at: at + 1, so: after, truth: known })] as const
          })
        })
      }

      const open = Effect.fn("Backtests.open")(function* (request: typeof BacktestRequest.Type) {
        const policy = yield* decisions.policyOf(request)
        if (policy === undefined) return yield* badRequest("policy or policyVersion is required")
        const fault = unreadable(policy)
        if (fault !== undefined) {
          const text = `the rules of ${policy.policyId} cannot be read: ${fault}`
          return yield* controlPlaneError("INVALID_POLICY_DEFINITION", text, { faults: [text] })
        }
        const facts = yield* RequestFacts
        const found = yield* reader.turns.run(runs.inScope(request.scope))
        return lines(
          policy,
          found.slice(0, request.scope.limit),
          found.length > request.scope.limit,
          readFor({ facts })
        )
      })
      return Backtests.of({ open })
    })
  )
}

const flipOf = (one: Backtested): ReadonlyArray<BacktestLine> =>
  one.kind === "flipped"
    ? [{ type: "flip", runId: RunId.make(one.runId), from: one.from, to: one.to, reasons: one.reasons }]
    : []

const summaryOf = (
  { policyId }: PolicyText,
  { byRule, examined, flipped, skipped, unchanged }: BacktestSummary,
  { gained, lost, ...truth }: BacktestTruth,
  isLimited: boolean
): BacktestLine => ({
  type: "summary",
  policyVersion: policyId,
  examined,
  unchanged,
  flipped,
  skipped,
  byRule,
  isLimited,
  ...(truth.judged > 0 && {
    truth: { ...truth, gained: gained.map((id) => RunId.make(id)), lost: lost.map((id) => RunId.make(id)) }
  })
})
