import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type CommitteeSearchAnswer,
  type CommitteeSearchRequest,
  type Conflict,
  MAX_SEARCHED_RUNS,
  type RuntimeFailure,
  tooFewRuns
} from "@runplane/api"
import { type CommitteeSearch, type Recount, type SearchRun, searchInSlices, searchResultText } from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { sha256 } from "../../platform/Sha256.ts"
import { makeCommitteeReads, WITH_FACTS } from "./CommitteeReads.ts"
import { committeeKey } from "./CommitteeRows.ts"
import { caseFacts, type FactsRow } from "./FactsRow.ts"
import { makeSearchedPolicies, type SearchedPolicies } from "./SearchedPolicies.ts"

const ACTION = "committee.search"
const RESOURCE = "committee"

/** Keeps the rules of a policy once, however many runs have them. */
const makeTermsKeeper = () => {
  const kept = new Map<string, Recount["terms"]>()
  return (recount: Recount): Recount => {
    const key = JSON.stringify(recount.terms)
    const terms = kept.get(key) ?? recount.terms
    kept.set(key, terms)
    return { ...recount, terms }
  }
}

/** The result with the name of its policy. */
const withNames = (found: Exclude<CommitteeSearch, { readonly kind: "refused" }>, names: ReadonlyArray<string>) => {
  if (found.kind === "none") return found
  const { policy: index, ...committee } = found.committee
  const policy = index === undefined ? {} : { policy: { index, name: names[index] ?? "" } }
  return { ...found, committee: { ...committee, ...policy } }
}

/**
 * Searches for a cheaper committee with the same outcomes (docs/reference/committees.md#search). Each search that
 * reaches a result is an audit entry, because the best of many searches looks better than it is.
 */
export class CommitteeSearches extends Context.Service<
  CommitteeSearches,
  {
    readonly search: (
      request: CommitteeSearchRequest,
      caller: Caller
    ) => Effect.Effect<CommitteeSearchAnswer, Conflict | RuntimeFailure | SqlError | SearchFailure>
  }
>()("runplane/control-plane/CommitteeSearches") {
  static readonly layer = Layer.effect(
    CommitteeSearches,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const budget = yield* SearchBudget
      const reads = yield* makeCommitteeReads
      const policiesOf = yield* makeSearchedPolicies

      /** The set with the most runs, and its runs that can be counted again. */
      const read = (q: string, policies: SearchedPolicies) =>
        Effect.gen(function* () {
          const found = yield* reads.sets({ q }, 1)
          const [set] = found.sets
          const runs: Array<SearchRun> = []
          if (set === undefined) return { found, set, runs }
          const keepTerms = makeTermsKeeper()
          yield* reads.forEachRow<Omit<FactsRow, "shadows">>(
            { cursor: "voters_of_search", scope: { q }, keys: [set.committee], most: MAX_SEARCHED_RUNS, ...WITH_FACTS },
            sql`v.committee, v.case_key, v.outcome, v.is_right, v.votes, v.facts`,
            (row) => {
              const { atMs, caseId, costUsd, isRight, recount } = caseFacts(row, set.voters)
              if (recount === undefined) return
              const underPolicies = policies.under(recount).map((one) => one && keepTerms(one))
              runs.push({ caseId, isRight, recount: keepTerms(recount), underPolicies, costUsd, atMs })
            }
          )
          return { found, set, runs }
        })

      const earlier = (committee: string) =>
        Effect.map(
          sql<{ readonly searches: number }>`
            SELECT count(*)::int AS searches FROM audit_log
            WHERE resource = ${RESOURCE} AND resource_id = ${committee} AND action = ${ACTION}
              AND details ->> 'outcome' = 'succeeded'`,
          (rows) => rows[0]?.searches ?? 0
        )

      const search = Effect.fn("CommitteeSearches.search")(function* (request: CommitteeSearchRequest, caller: Caller) {
        const { alpha, keepAgreement, maxSeats, q } = request
        const policies = yield* policiesOf(request.policies ?? [])
        const { found, runs, set } = yield* budget.inTurn(budget.limited(read(q, policies)))
        yield* policies.requireFit
        const { committee = committeeKey([]), participants = [], voters = [] } = set ?? {}
        const result = yield* inSlices(
          searchInSlices({
            ...{ runs, sha256, keepAgreement, alpha, policies: policies.names.length },
            seats: voters.map((at) => participants[at] ?? ""),
            ...(maxSeats !== undefined && { maxSeats })
          })
        )
        const at = DateTime.formatIso(yield* DateTime.now)
        const asked = {
          ...{ q, keepAgreement, alpha, found: result.kind },
          ...(maxSeats !== undefined && { maxSeats }),
          ...(policies.names.length > 0 && { policies: [...policies.names] })
        }
        const entry = { caller, action: ACTION, resource: RESOURCE, resourceId: committee, at }
        if (result.kind === "refused") {
          yield* audit.record({ ...entry, outcome: "refused", details: asked })
          return yield* tooFewRuns(result)
        }
        const removed = result.kind === "named" ? { removed: [...result.committee.removed] } : {}
        yield* audit.record({ ...entry, details: { ...asked, ...removed } })
        return {
          ...{ committee, participants, summary: searchResultText(result, policies.names) },
          found: withNames(result, policies.names),
          searches: yield* earlier(committee),
          otherCommittees: found.others,
          truncated: (set?.runs ?? 0) > MAX_SEARCHED_RUNS
        }
      })
      return CommitteeSearches.of({ search })
    })
  )
}
