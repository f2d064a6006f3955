import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  MAX_STABILITY_RUNS,
  runQueryFields,
  type StabilityAnswer,
  type StabilityGroup,
  type StabilityQuery
} from "@runplane/api"
import {
  type Course,
  countedTrials,
  flipCounter,
  medoidCandidates,
  medoidInSlices,
  outcomeKey,
  parseQuery,
  RunId,
  type RunStatus,
  stabilityBy,
  stabilityOf,
  TRIAL_TYPES,
  type Trial,
  trialReader
} from "@runplane/domain"
import { inSlices, makeLongTurns, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { DURATION, SCENARIO } from "../../event-log/runs/RunColumns.ts"
import { conditionOf } from "../../platform/postgres/search/QueryConditions.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { RunMeaning } from "../runs/RunSearch.ts"
import { type BacktestRun, BacktestRuns, groupsOf } from "./BacktestRuns.ts"
import { DecisionReader } from "./DecisionReader.ts"

/** Comparisons of the steps of runs at a time for one caller: each has up to 11 runs in memory. */
const COMPARED_AT_ONCE = 2

interface MatchingRun extends BacktestRun {
  readonly status: RunStatus
  /** Milliseconds; -1 without. */
  readonly duration: number
  /** The property by which the stability is listed. */
  readonly property: string | null
}

/** The property of a run `r` as SQL; `model` comes from its events. */
const PROPERTIES: Readonly<Record<Exclude<StabilityGroup, "model">, string>> = {
  promptHash: "r.metadata ->> 'promptHash'",
  template: "r.metadata ->> 'templateId'",
  source: "coalesce(r.metadata ->> 'source', r.source_kind)",
  policyVersion: "r.policy_version",
  variant: "r.metadata -> 'gate' ->> 'variant'",
  scenario: SCENARIO,
  day: "to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
  week: "to_char(date_trunc('week', r.created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD')"
}

/**
 * The stability of the decisions of many runs (docs/reference/gate.md#stability). The outcomes are read a group of runs
 * at a time, and the steps of one run at a time beside those of 11 candidates, so the memory does not grow with the
 * runs. Each read is a turn of the caller.
 */
export class Stabilities extends Context.Service<
  Stabilities,
  {
    readonly stability: (
      query: StabilityQuery
    ) => Effect.Effect<StabilityAnswer, BadRequest | SqlError | SearchFailure | TurnRefused>
  }
>()("runplane/control-plane/Stabilities") {
  static readonly layer = Layer.effect(
    Stabilities,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const reader = yield* DecisionReader
      const runs = yield* BacktestRuns
      const meaning = yield* RunMeaning
      const courses = makeLongTurns("stability", COMPARED_AT_ONCE)

      const matching = Effect.fnUntraced(function* ({ by, q, since }: StabilityQuery) {
        // The request was validated, so the query parses.
        const search =
          q === undefined ? undefined : yield* Effect.orDie(Effect.fromResult(parseQuery(q, runQueryFields)))
        const where = sql.and([
          ...(since === undefined ? [] : [sql`r.created_at >= ${since}::timestamptz`]),
          ...(search === undefined ? [] : [conditionOf(sql, search, meaning)])
        ])
        const property = by === undefined || by === "model" ? "NULL" : PROPERTIES[by]
        const read = sql<Omit<MatchingRun, "runId"> & { readonly id: string }>`
          SELECT r.id::text AS id, r.status, h.last_index AS events, (${sql.literal(DURATION)})::float8 AS duration,
                 ${sql.literal(property)} AS property
          FROM runs r JOIN run_heads h ON h.run_id = r.id
          WHERE ${where} ORDER BY r.created_at DESC, r.id DESC LIMIT ${BigInt(MAX_STABILITY_RUNS + 1)}`
        const rows = yield* search === undefined ? reader.turns.run(read) : budget.inTurn(budget.limited(read))
        return rows.map(({ id, ...run }): MatchingRun => ({ ...run, runId: RunId.make(id) }))
      })

      const trialsOf = Effect.fnUntraced(function* (group: ReadonlyArray<MatchingRun>) {
        const readers = new Map(
          group.map(({ runId }): [string, ReturnType<typeof trialReader>] => [runId, trialReader()])
        )
        const runIds = group.map(({ runId }) => runId)
        yield* runs.forEachEvent(runIds, TRIAL_TYPES, (event, runId) => readers.get(runId)?.take(event))
        return group.flatMap(({ duration, runId, status }) => {
          const durationMs = duration < 0 ? undefined : duration
          return readers.get(runId)?.read({ runId, status, durationMs }) ?? []
        })
      }, reader.turns.run)

      const courseOf = ({ runId }: Trial): Effect.Effect<Course, SqlError | TurnRefused> =>
        reader.turns.run(Effect.map(reader.course(RunId.make(runId)), (outline) => ({ runId, outline })))

      const flipsOf = Effect.fnUntraced(function* (counted: ReadonlyArray<Trial>, most: string) {
        const isMost = ({ outcome }: Trial) => outcomeKey(outcome) === most
        const minority = counted.filter((trial) => !isMost(trial))
        if (minority.length === 0) return []
        const candidates = yield* Effect.forEach(medoidCandidates(counted.filter(isMost)), courseOf)
        const medoid = yield* inSlices(medoidInSlices(candidates))
        if (medoid === undefined) return []
        const counter = flipCounter(medoid)
        for (const trial of minority) yield* inSlices(counter.take(yield* courseOf(trial)))
        return counter.read()
      }, courses.goOn)

      const stability = Effect.fn("Stabilities.stability")(function* (query: StabilityQuery) {
        const { by } = query
        const found = yield* matching(query)
        const inScope = found.slice(0, MAX_STABILITY_RUNS)
        const byId = new Map(inScope.map((run) => [run.runId, run]))
        const trials: Array<Trial> = []
        for (const group of groupsOf(inScope)) {
          trials.push(...(yield* trialsOf(group.flatMap((runId) => byId.get(runId) ?? []))))
        }
        const countAll = query.count === "all"
        const { outcomes, ...figures } = stabilityOf(trials, countAll)
        const [most] = outcomes
        const flips = most === undefined ? [] : yield* flipsOf(countedTrials(trials, countAll), outcomeKey(most))
        const propertyOf = ({ models, runId }: Trial) =>
          by === "model" ? models.join(", ") : (byId.get(RunId.make(runId))?.property ?? "")
        return {
          ...figures,
          outcomes,
          flips: flips.map((flip) => ({
            ...flip,
            exampleLeft: RunId.make(flip.exampleLeft),
            exampleRight: RunId.make(flip.exampleRight)
          })),
          isLimited: found.length > MAX_STABILITY_RUNS,
          ...(by !== undefined && {
            by: stabilityBy(trials, propertyOf, { countAll, isTime: by === "day" || by === "week" }).map(
              ({ property, ...group }) => ({ [by]: property, ...group })
            )
          })
        }
      })
      return Stabilities.of({ stability })
    })
  )
}
