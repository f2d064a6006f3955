import {
  type BacktestLine,
  type BacktestRequest,
  badRequest,
  controlPlaneError,
  type RuntimeFailure
} from "@runplane/api"
import {
  addToBacktest,
  type Backtested,
  type BacktestSummary,
  backtestOf,
  decodeEventText,
  deliberationReader,
  emptyBacktest,
  type PolicyText,
  RELEASES,
  RunId,
  readPolicy
} from "@runplane/domain"
import { RequestFacts, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { type BacktestPlace, type BacktestRun, BacktestRuns } from "./BacktestRuns.ts"
import { DecisionReader } from "./DecisionReader.ts"
import { Decisions } from "./Decisions.ts"

/** Runs are read together until they have so many events; one with more is read alone. */
const EVENTS_PER_GROUP = 2_000
const RUNS_PER_GROUP = 100

const NOTHING_ON_RECORD: Backtested = { kind: "skipped", reason: "nothing on record" }

/**
 * Holds the decisions of many runs against another policy (docs/reference/decisions.md#backtest). The runs are those of
 * the moment when it began; they are read as the lines are taken, a few at a time, so it takes as much memory for ten
 * thousand runs as for ten, and ends with whoever takes the lines.
 */
export class Backtests extends Context.Service<
  Backtests,
  {
    /** Fails before the first line when the policy cannot be tried; a stream without a summary at its end was cut. */
    readonly open: (
      asked: typeof BacktestRequest.Type
    ) => Effect.Effect<Stream.Stream<BacktestLine, SqlError>, RuntimeFailure | SqlError | TurnRefused>
  }
>()("runplane/control-plane/Backtests") {
  static readonly layer = Layer.effect(
    Backtests,
    Effect.gen(function* () {
      const decisions = yield* Decisions
      const reader = yield* DecisionReader
      const runs = yield* BacktestRuns

      /** Judges a group of runs; of each, only its own events are held. */
      const judged = Effect.fnUntraced(function* (group: ReadonlyArray<RunId>, judge: ReturnType<typeof backtestOf>) {
        const read: Array<{ readonly runId: string; readonly judged: Backtested }> = []
        let current = { runId: "", reader: deliberationReader() }
        const judgeCurrent = () => {
          const { reader, runId } = current
          if (runId !== "") read.push({ runId, judged: judge({ ...reader.read(), runId }) })
        }
        let after: BacktestPlace | undefined
        do {
          const { events, next } = yield* runs.slice(group, after)
          for (const { json, runId } of events) {
            if (runId !== current.runId) {
              judgeCurrent()
              current = { runId, reader: deliberationReader() }
            }
            current.reader.take(Result.getOrThrow(decodeEventText(json)))
          }
          after = next
        } while (after !== undefined)
        judgeCurrent()
        // Runs that were deleted meanwhile have nothing to be judged by: of some only a part was read.
        const existing = yield* runs.existing(group)
        const found = read.flatMap(({ judged, runId }) => (existing.has(runId) ? [judged] : []))
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
        return Stream.paginate({ at: 0, so: emptyBacktest }, ({ at, so }) => {
          const group = groups[at]
          if (group === undefined) {
            return Effect.succeed([[summaryOf(policy, so, isLimited)], Option.none()] as const)
          }
          return Effect.map(inTurnOfCaller(judged(group, judge)), (found) => {
            const after = found.reduce(addToBacktest, so)
            const progress: BacktestLine = {
              type: "progress",
              examined: after.examined,
              total,
              flipped: after.flipped
            }
            return [[...found.flatMap(flipOf), progress], Option.some({ at: at + 1, so: after })] as const
          })
        })
      }

      const open = Effect.fn("Backtests.open")(function* (asked: typeof BacktestRequest.Type) {
        const policy = yield* decisions.policyOf(asked)
        if (policy === undefined) return yield* badRequest("policy or policyVersion is required")
        const fault = unreadable(policy)
        if (fault !== undefined) {
          const text = `the rules of ${policy.policyId} cannot be read: ${fault}`
          return yield* controlPlaneError("INVALID_POLICY_DEFINITION", text, { faults: [text] })
        }
        const facts = yield* RequestFacts
        const found = yield* reader.turns.run(runs.inScope(asked.scope))
        return lines(policy, found.slice(0, asked.scope.limit), found.length > asked.scope.limit, readFor({ facts }))
      })
      return Backtests.of({ open })
    })
  )
}

/** Why no release can read a policy; undefined when one can. */
const unreadable = (policy: PolicyText): string | undefined => {
  const read = RELEASES.map((release) => readPolicy(policy, release))
  const failures = read.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
  return failures.length === read.length ? failures.at(-1) : undefined
}

const groupsOf = (inScope: ReadonlyArray<BacktestRun>): ReadonlyArray<ReadonlyArray<RunId>> => {
  const groups: Array<Array<RunId>> = []
  let events = Number.POSITIVE_INFINITY
  for (const run of inScope) {
    const group = groups.at(-1)
    if (group !== undefined && group.length < RUNS_PER_GROUP && events + run.events <= EVENTS_PER_GROUP) {
      group.push(run.runId)
      events += run.events
    } else {
      groups.push([run.runId])
      events = run.events
    }
  }
  return groups
}

const flipOf = (one: Backtested): ReadonlyArray<BacktestLine> =>
  one.kind === "flipped"
    ? [{ type: "flip", runId: RunId.make(one.runId), from: one.from, to: one.to, reasons: one.reasons }]
    : []

const summaryOf = (
  { policyId }: PolicyText,
  { byRule, examined, flipped, skipped, unchanged }: BacktestSummary,
  isLimited: boolean
): BacktestLine => ({
  type: "summary",
  policyVersion: policyId,
  examined,
  unchanged,
  flipped,
  skipped,
  byRule,
  isLimited
})
