import { about, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { commaSeparated, integer, isoDate, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { OtherPolicy, policyName } from "../decisions/DecisionRequests.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"
import { CommitteeIndependence, CommitteeWorth, committeeFields } from "./CommitteeFigures.ts"
import { countedShare, seat } from "./FigureFields.ts"

const optional = Schema.optionalKey

/** Most runs of one answer, the latest ones. */
export const MAX_COMMITTEE_RUNS = 100_000
/** Most runs of one search for a cheaper committee, the latest ones. */
export const MAX_SEARCHED_RUNS = 10_000
/** Sets of participants that an answer has, those with the most runs. */
export const MAX_COMMITTEES = 10
const MAX_SEATS = 50

const runsOf = (description: string) =>
  optional(searchText(runQueryFields, description, "scenario:incident/region-failover@1.1.0"))

const since = optional(isoDate("Runs created since this time", "2026-07-01"))

/** The query of `GET /committees/independence`. */
export const independenceQuery = querySchema({
  q: runsOf("Ended runs that this search finds"),
  since,
  seats: optional(
    commaSeparated(
      "Participant ids: these as one committee, over the runs in which all of them take part",
      "a,b,c"
    ).check(Schema.isMinLength(2), Schema.isMaxLength(MAX_SEATS))
  )
})
export type IndependenceQuery = typeof independenceQuery.Type

/** The query of `GET /committees/seats`. */
export const committeeSeatsQuery = querySchema({ q: runsOf("Ended runs that this search finds"), since })
export type CommitteeSeatsQuery = typeof committeeSeatsQuery.Type

const level = (description: string, example: number) =>
  Schema.Finite.annotate(about(description, example)).check(Schema.isGreaterThan(0), Schema.isLessThan(1))

export const DEFAULT_AGREEMENT = 0.98
export const DEFAULT_ALPHA = 0.05

/** Most policies that one search tries beside the own one of each run. */
export const MAX_SEARCHED_POLICIES = 5

const searchedPolicy = Schema.Struct({
  policyVersion: optional(policyName("A registered policy; either this or policy")),
  policy: optional(OtherPolicy)
}).annotate({ identifier: "SearchedPolicy", description: "A policy under which a smaller committee is tried" })

/** The body of `POST /committees/search`. */
export const CommitteeSearchRequest = Schema.Struct({
  q: searchText(runQueryFields, "Ended runs that this search finds", "scenario:incident/region-failover@1.1.0"),
  maxSeats: optional(integer({ min: 1, max: MAX_SEATS }).annotate(about("Most seats of the cheaper committee", 3))),
  keepAgreement: withDefault(
    level("The share of cases whose outcome must stay the same", DEFAULT_AGREEMENT),
    DEFAULT_AGREEMENT
  ),
  alpha: withDefault(level("One less the confidence of the bound that confirms it", DEFAULT_ALPHA), DEFAULT_ALPHA),
  policies: optional(
    Schema.Array(searchedPolicy)
      .annotate({ description: "Policies that are tried, too; the own one of each run unless said" })
      .check(Schema.isMaxLength(MAX_SEARCHED_POLICIES))
  )
}).annotate({ identifier: "CommitteeSearchRequest", description: "What a cheaper committee must keep" })
export type CommitteeSearchRequest = typeof CommitteeSearchRequest.Type

const counted = (description: string) =>
  Schema.Struct({ runs: Field.integer("Runs", 310), cases: Field.integer("Different cases", 162) }).annotate({
    description
  })

const effort = Schema.Struct({
  method: Schema.Literals(["all", "greedy"]).annotate(
    about("all: every subset was tried; greedy: seats were left out one by one, so a cheaper one may exist", "all")
  ),
  candidates: Field.integer("Subsets that were tried, each under each policy", 30),
  policies: Field.integer("Policies that were tried beside the own one of each run", 0),
  excluded: Field.integer(
    "Subsets without a seat that a run cannot be counted without: its policy names it, or cannot be met",
    4
  ),
  choosing: counted("The half on which the subset was chosen"),
  confirming: counted("The half on which it was confirmed")
}).annotate({ description: "How the search went" })

const NamedCommittee = Schema.Struct({
  seats: Schema.Array(seat).annotate({ description: "The seats that remain" }),
  removed: Schema.Array(seat).annotate({ description: "Those that are left out" }),
  policy: optional(
    Schema.Struct({
      index: Field.integer("Its index in `policies` of the request, from 0 on", 0),
      name: Field.text("Its id; `policies.0` for one that the request has itself", "policy.incident.strict")
    }).annotate({ description: "The policy that governs the smaller committee; absent for the own one of each run" })
  ),
  agreement: Schema.Struct({
    rate: Field.number("Share of the confirming cases with the same outcome", 0.994),
    low: Field.number("Lower end of its interval of 95 %", 0.97),
    high: Field.number("Upper end", 0.999),
    lowerBound: Field.number("One-sided exact bound (Clopper and Pearson) at `alpha`, which confirms it", 0.981),
    undecided: Field.number(
      "Of the cases with the same outcome, those whose votes would have allowed the opposite one, too",
      0
    )
  }).annotate({ description: "Agreement with the full committee" }),
  accuracy: optional(
    Schema.Struct({
      all: countedShare("Right decisions with all seats"),
      named: countedShare("Right decisions with these seats; no decision is not right")
    }).annotate({ description: "Against the marks `correct` of the confirming half; absent without any" })
  ),
  saved: Schema.Struct({
    costUsd: Field.number("Cost of the removed seats in the confirming half", 1.4),
    costShare: optional(Field.number("Its share of the cost of all seats; absent without any cost", 0.4)),
    meanMs: optional(
      Field.number("Mean time that a decision could come sooner: an estimate; absent without times", 350)
    )
  }).annotate({ description: "What the smaller committee saves" })
}).annotate({
  identifier: "NamedCommittee",
  description: "A cheaper committee, confirmed on runs that did not choose it"
})

/** The answer of `POST /committees/search`. */
export const CommitteeSearchAnswer = Schema.Struct({
  ...committeeFields,
  summary: Field.text(
    "The answer in one line",
    "Without impact-analyst 40 % cheaper, same outcome in 99 of 100 cases (at least 98 of 100)"
  ),
  found: Schema.Union([
    Schema.Struct({
      kind: Schema.Literal("named").annotate(about("A cheaper committee is confirmed", "named")),
      committee: NamedCommittee,
      search: effort
    }),
    Schema.Struct({
      kind: Schema.Literal("none").annotate(about("No committee is named", "none")),
      reason: Schema.Literals(["none chosen", "not confirmed"]).annotate(
        about("No cheaper subset agrees on the first half, or the chosen one failed on the other", "not confirmed")
      ),
      search: effort
    })
  ]).annotate({ description: "What the search found" }),
  searches: Field.integer("Searches over runs of these participants on record, this one included", 1),
  otherCommittees: Field.integer("Runs of other participants that the search finds, which are left out", 0),
  truncated: Field.flag(`Whether the committee has more runs than a search counts, ${MAX_SEARCHED_RUNS}`)
}).annotate({ identifier: "CommitteeSearchAnswer", description: "The cheapest committee with the same outcomes" })
export type CommitteeSearchAnswer = typeof CommitteeSearchAnswer.Type

const page = {
  truncated: Field.flag(`Whether there are more runs or committees than the answer has`),
  waiting: Field.integer("Ended runs that are not counted yet, because their record is still being read", 0)
}

/** The answer of `GET /committees/independence`. */
export const CommitteeIndependences = Schema.Struct({
  data: Schema.Array(CommitteeIndependence).annotate({
    description: `One entry for each set of participants, the most runs first, at most ${MAX_COMMITTEES}`
  }),
  ...page
}).annotate({ identifier: "CommitteeIndependences", description: "The independence of committees" })
export type CommitteeIndependences = typeof CommitteeIndependences.Type

/** The answer of `GET /committees/seats`. */
export const CommitteeWorths = Schema.Struct({
  data: Schema.Array(CommitteeWorth).annotate({
    description: `One entry for each set of participants, the most runs first, at most ${MAX_COMMITTEES}`
  }),
  ...page
}).annotate({ identifier: "CommitteeWorths", description: "What the voters of committees are worth" })
export type CommitteeWorths = typeof CommitteeWorths.Type
