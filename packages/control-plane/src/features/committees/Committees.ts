import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type CommitteeIndependence,
  type CommitteeIndependences,
  type CommitteeSeatsQuery,
  type CommitteeWorth,
  type CommitteeWorths,
  type IndependenceQuery,
  MAX_COMMITTEE_RUNS,
  MAX_SEARCHED_RUNS
} from "@runplane/api"
import {
  addRun,
  addWorth,
  type Committee,
  emptyCommittee,
  emptyWorth,
  independenceInSlices,
  independenceText,
  seatsInRun,
  seatWorthsInSlices,
  sumUsd,
  type Worth,
  worthText
} from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { type CommitteeSet, makeCommitteeReads, type Scope, WITH_FACTS, WITH_VOTES } from "./CommitteeReads.ts"
import { committeeKey } from "./CommitteeRows.ts"
import { caseFacts, type FactsRow, type VotesRow, votesAt } from "./FactsRow.ts"
import { modelText, sharedModels } from "./SharedModels.ts"

/** One committee of an answer: its participants, and the seats that are compared, by their index in the rows. */
interface Compared {
  readonly committee: string
  readonly participants: ReadonlyArray<string>
  readonly seats: ReadonlyArray<string>
  readonly at: ReadonlyArray<number>
}

const comparedOf = ({ committee, participants, voters }: CommitteeSet): Compared => ({
  ...{ committee, participants, at: voters },
  seats: voters.map((at) => participants[at] ?? "")
})

/** The independence and the worth of voters (docs/reference/committees.md), over the rows of `run_voters`. */
export class Committees extends Context.Service<
  Committees,
  {
    readonly independence: (query: IndependenceQuery) => Effect.Effect<CommitteeIndependences, SqlError | SearchFailure>
    readonly worth: (query: CommitteeSeatsQuery) => Effect.Effect<CommitteeWorths, SqlError | SearchFailure>
  }
>()("runplane/control-plane/Committees") {
  static readonly layer = Layer.effect(
    Committees,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const reads = yield* makeCommitteeReads

      /** The committees that a request compares: one for each set, or one of the named seats over all of their sets. */
      const committeesOf = (sets: ReadonlyArray<CommitteeSet>, seats: ReadonlyArray<string> | undefined) =>
        new Map(
          sets.map((set): [string, Compared] => {
            if (seats === undefined) return [set.committee, comparedOf(set)]
            const at = seats.map((seat) => set.participants.indexOf(seat))
            return [set.committee, { committee: committeeKey(seats), participants: seats, seats, at }]
          })
        )

      /** The combinations of the models of each committee, by the index of the seat. */
      const modelsOf = Effect.fnUntraced(function* (scope: Scope, compared: ReadonlyMap<string, Compared>) {
        const found = new Map<string, Array<ReadonlyArray<string>>>()
        for (const { committee, models } of yield* reads.models(scope, [...compared.keys()])) {
          const one = compared.get(committee)
          if (one === undefined) continue
          const known = found.get(one.committee) ?? []
          known.push(one.at.map((at) => models[at] ?? ""))
          found.set(one.committee, known)
        }
        return found
      })

      const independence = Effect.fn("Committees.independence")(function* ({
        q,
        seats: named,
        since
      }: IndependenceQuery) {
        const seats = named === undefined ? undefined : [...new Set(named)].toSorted()
        const scope: Scope = { q, since, seats }
        const read = Effect.gen(function* () {
          const found = yield* reads.sets(scope)
          const keys = found.sets.map(({ committee }) => committee)
          const compared = committeesOf(found.sets, seats)
          const sums = new Map<string, Committee>()
          for (const one of compared.values()) sums.set(one.committee, emptyCommittee(one.seats))
          yield* reads.forEachRow<VotesRow>(
            { scope, keys, most: MAX_COMMITTEE_RUNS, ...WITH_VOTES },
            sql`v.committee, v.case_key, v.outcome, v.is_right, v.votes`,
            ({ case_key, committee, is_right, outcome, votes }) => {
              const one = compared.get(committee)
              const sum = one === undefined ? undefined : sums.get(one.committee)
              if (one === undefined || sum === undefined) return
              addRun(sum, {
                ...{ caseId: case_key, outcome, votes: votesAt(votes, one.at) },
                ...(is_right !== null && { isRight: is_right })
              })
            }
          )
          return { found, compared, sums, models: yield* modelsOf(scope, compared) }
        })
        const { compared, found, models, sums } = yield* budget.inTurn(budget.limited(read))
        const data: Array<CommitteeIndependence> = []
        for (const one of new Map(Array.from(compared.values(), (one) => [one.committee, one])).values()) {
          const { committee, participants, seats } = one
          const sum = sums.get(committee)
          if (sum === undefined) continue
          const { effectiveVotes, pairs, runs, ...figures } = yield* inSlices(independenceInSlices(sum))
          data.push({
            ...{ committee, participants },
            summary: independenceText({ effectiveVotes, seats: figures.seats }),
            ...{ runs, ...figures, effectiveVotes, pairs },
            sharedModels: sharedModels(seats, models.get(committee) ?? [])
          })
        }
        return { data, truncated: found.truncated, waiting: found.waiting }
      })

      const worth = Effect.fn("Committees.worth")(function* (scope: CommitteeSeatsQuery) {
        const read = Effect.gen(function* () {
          const found = yield* reads.sets(scope)
          const keys = found.sets.map(({ committee }) => committee)
          const compared = committeesOf(found.sets, undefined)
          const sums = new Map<string, { readonly worth: Worth; runs: number; readonly guessed: Array<number> }>()
          for (const { committee, seats } of compared.values()) {
            sums.set(committee, { worth: emptyWorth(seats), runs: 0, guessed: seats.map(() => 0) })
          }
          yield* reads.forEachRow<FactsRow>(
            { scope, keys, most: MAX_SEARCHED_RUNS, ...WITH_FACTS },
            sql`v.committee, v.case_key, v.outcome, v.is_right, v.votes, v.facts`,
            (row) => {
              const one = compared.get(row.committee)
              const sum = sums.get(row.committee)
              if (one === undefined || sum === undefined) return
              const facts = caseFacts(row, one.at)
              addWorth(sum.worth, { ...facts, seats: seatsInRun(facts, one.seats) })
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
          const combinations = models.get(committee) ?? []
          const seats = worths.map((seat, index) => {
            const model = modelText(combinations, index)
            return { ...seat, guessedCostUsd: sum.guessed[index] ?? 0, ...(model !== undefined && { model }) }
          })
          data.push({
            ...{ committee, participants: one.participants, summary: worthText(worths), runs: sum.runs },
            costUsd: sumUsd(worths.map(({ costUsd }) => costUsd)),
            seats: seats.toSorted(
              (left, right) => right.changed.rate - left.changed.rate || left.costPerRunUsd - right.costPerRunUsd
            )
          })
        }
        const all = found.sets.reduce((sum, set) => sum + set.runs, 0)
        return { data, truncated: found.truncated || runs < all, waiting: found.waiting }
      })

      return Committees.of({ independence, worth })
    })
  )
}
