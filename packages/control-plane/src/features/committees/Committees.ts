import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type CommitteeIndependence,
  type CommitteeIndependences,
  type CommitteeSeatsQuery,
  type CommitteeWorths,
  type IndependenceQuery,
  MAX_COMMITTEE_RUNS
} from "@runplane/api"
import {
  addRun,
  addShadowVotes,
  type Committee,
  emptyCommittee,
  emptyShadowCommittees,
  independenceInSlices,
  independenceText,
  type ShadowCommittees,
  shadowErrorsInSlices
} from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { makeCommitteeReads, type Scope, WITH_VOTES } from "./CommitteeReads.ts"
import { makeWorth } from "./CommitteeWorth.ts"
import { committeesOf, makeModelsRead } from "./ComparedCommittees.ts"
import { shadowsOf, type VotesRow, votesAt } from "./FactsRow.ts"
import { sharedModels } from "./SharedModels.ts"

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

      const modelsOf = yield* makeModelsRead

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
          const sums = new Map<string, { readonly seats: Committee; readonly shadows: ShadowCommittees }>()
          for (const { committee, participants, seats } of compared.values()) {
            sums.set(committee, { seats: emptyCommittee(seats), shadows: emptyShadowCommittees(seats, participants) })
          }
          yield* reads.forEachRow<VotesRow>(
            { cursor: "voters_of_independence", scope, keys, most: MAX_COMMITTEE_RUNS, ...WITH_VOTES },
            sql`v.committee, v.case_key, v.outcome, v.is_right, v.votes, v.shadows`,
            ({ case_key, committee, is_right, outcome, shadows, votes }) => {
              const one = compared.get(committee)
              const sum = one === undefined ? undefined : sums.get(one.committee)
              if (one === undefined || sum === undefined) return
              const run = {
                ...{ caseId: case_key, outcome, votes: votesAt(votes, one.at) },
                ...(is_right !== null && { isRight: is_right })
              }
              addRun(sum.seats, run)
              addShadowVotes(sum.shadows, run, shadowsOf({ shadows }))
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
          const { effectiveVotes, pairs, runs, ...figures } = yield* inSlices(independenceInSlices(sum.seats))
          const { leftOut, shadows } = yield* inSlices(shadowErrorsInSlices(sum.shadows))
          const combinations = models.get(committee) ?? []
          data.push({
            ...{ committee, participants },
            summary: independenceText({ effectiveVotes, seats: figures.seats }),
            ...{ runs, ...figures, effectiveVotes, pairs },
            sharedModels: sharedModels(
              seats,
              combinations.map(({ models }) => models)
            ),
            sharedPrompts: sharedModels(
              seats,
              combinations.map(({ prompts }) => prompts)
            ).map(({ model, seats }) => ({ promptHash: model, seats })),
            ...{ shadows, shadowsLeftOut: leftOut }
          })
        }
        return { data, truncated: found.truncated, waiting: found.waiting }
      })

      return Committees.of({ independence, worth: yield* makeWorth })
    })
  )
}
