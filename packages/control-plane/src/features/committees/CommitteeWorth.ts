import * as PgClient from "@effect/sql-pg/PgClient"
import { type CommitteeSeatsQuery, type CommitteeWorth, MAX_SEARCHED_RUNS } from "@runplane/api"
import {
  addShadowWorths,
  addWorth,
  emptyShadowWorths,
  emptyWorth,
  type ShadowWorths,
  seatsInRun,
  seatWorthsInSlices,
  shadowWorthsInSlices,
  shadowWorthText,
  sumUsd,
  type Worth,
  worthText
} from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Effect from "effect/Effect"
import { SearchBudget } from "../../platform/postgres/search/SearchBudget.ts"
import { makeCommitteeReads, WITH_FACTS } from "./CommitteeReads.ts"
import { committeesOf, makeModelsRead } from "./ComparedCommittees.ts"
import { caseFacts, type FactsRow, shadowsOf } from "./FactsRow.ts"
import { modelText } from "./SharedModels.ts"

interface Sums {
  readonly worth: Worth
  readonly shadows: ShadowWorths
  runs: number
  readonly guessed: Array<number>
}

/** What each seat is worth, by counting each run again without it (docs/reference/committees.md#worth). */
export const makeWorth = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const budget = yield* SearchBudget
  const reads = yield* makeCommitteeReads
  const modelsOf = yield* makeModelsRead

  return Effect.fn("Committees.worth")(function* (scope: CommitteeSeatsQuery) {
    const read = Effect.gen(function* () {
      const found = yield* reads.sets(scope)
      const keys = found.sets.map(({ committee }) => committee)
      const compared = committeesOf(found.sets, undefined)
      const sums = new Map<string, Sums>()
      for (const { committee, participants, seats } of compared.values()) {
        const shadows = emptyShadowWorths(seats, participants)
        sums.set(committee, { worth: emptyWorth(seats), shadows, runs: 0, guessed: seats.map(() => 0) })
      }
      yield* reads.forEachRow<FactsRow>(
        { cursor: "voters_of_worth", scope, keys, most: MAX_SEARCHED_RUNS, ...WITH_FACTS },
        sql`v.committee, v.case_key, v.outcome, v.is_right, v.votes, v.facts, v.shadows`,
        (row) => {
          const one = compared.get(row.committee)
          const sum = sums.get(row.committee)
          if (one === undefined || sum === undefined) return
          const facts = caseFacts(row, one.at)
          addWorth(sum.worth, { ...facts, seats: seatsInRun(facts, one.seats) })
          addShadowWorths(sum.shadows, facts, shadowsOf(row))
          sum.runs += 1
          for (const [index, at] of one.at.entries()) {
            sum.guessed[index] = sumUsd([sum.guessed[index] ?? 0, row.facts.guessedUsd[at] ?? 0])
          }
        }
      )
      return { found, compared, sums, models: yield* modelsOf(scope, compared) }
    })
    const { compared, found, models, sums } = yield* budget.inTurn(budget.limited(read))
    const data: Array<CommitteeWorth> = []
    let runs = 0
    for (const [committee, sum] of sums) {
      const one = compared.get(committee)
      if (one === undefined) continue
      runs += sum.runs
      const worths = yield* inSlices(seatWorthsInSlices(sum.worth))
      const { leftOut, shadows } = yield* inSlices(shadowWorthsInSlices(sum.shadows))
      const combinations = (models.get(committee) ?? []).map(({ models }) => models)
      const seats = worths.map((seat, index) => {
        const model = modelText(combinations, index)
        return { ...seat, guessedCostUsd: sum.guessed[index] ?? 0, ...(model !== undefined && { model }) }
      })
      data.push({
        ...{ committee, participants: one.participants, summary: worthText(worths), runs: sum.runs },
        costUsd: sumUsd(worths.map(({ costUsd }) => costUsd)),
        seats: seats.toSorted(
          (left, right) => right.changed.rate - left.changed.rate || left.costPerRunUsd - right.costPerRunUsd
        ),
        shadows: shadows.map((one) => ({ ...one, summary: shadowWorthText(one) })),
        shadowsLeftOut: leftOut
      })
    }
    const all = found.sets.reduce((sum, set) => sum + set.runs, 0)
    return { data, truncated: found.truncated || runs < all, waiting: found.waiting }
  })
})
