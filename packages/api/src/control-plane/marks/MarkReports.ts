import {
  about,
  Field,
  LEAST_PAIRS,
  MAX_SEAT_PERSONS,
  MarkName,
  MarkSource,
  MarkValue,
  RECORD_GROUPS,
  RUBBER_STAMP_MS,
  UNRELIABLE_KAPPA
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { commaSeparated, integer, isoDate, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"
import { markQueryFields } from "./MarkFields.ts"
import { MAX_MARK_PAGE } from "./Marks.ts"

const optional = Schema.optionalKey

/** Marks that one answer about agreement compares, the latest ones. */
export const MAX_COMPARED_MARKS = 50_000
/** Pairs of raters of one answer about agreement, those with the most targets. */
export const MAX_MARK_PAIRS = 500
/** Most runs of the record of an agent. */
export const MAX_RECORD_RUNS = 10_000
const DEFAULT_RECORD_RUNS = 1_000
/** Agents of one answer, those with the most votes, and participants of one run that count, the first ones. */
export const MAX_RECORDED_AGENTS = 1_000
export const MAX_RECORDED_VOTERS = 50

/** Two raters who rated the same targets. */
export const MarkPair = Schema.Struct({
  left: Field.text("Source of the first raters; a judge with its name", "human"),
  right: Field.text("Source of the second raters; a judge with its name", "judge:politeness"),
  n: Field.integer("Targets that both rated", 40),
  agreed: Field.integer("Of these, targets with the same value", 34),
  categories: Schema.Array(MarkValue).annotate({
    description: "Values of both, in order of `confusion`; the 20 most frequent ones where there are more"
  }),
  confusion: Schema.Array(Schema.Array(Schema.Int)).annotate({
    description: "Targets by the value of the first (rows) and of the second (columns)"
  }),
  weights: optional(
    Schema.Literals(["none", "linear", "quadratic"]).annotate({
      description:
        "How kappa compares two values: `quadratic` for numbers, by the square of their distance; `linear` for the " +
        "categories of a definition whose `better` is `first`, by the distance of their positions; `none` for others"
    })
  ),
  kappa: optional(
    Schema.Struct({
      value: Field.number("Cohen's kappa, weighted as `weights` says", 0.61),
      low: Field.number("Lower end of its interval of 95 %", 0.41),
      high: Field.number("Upper end of its interval of 95 %", 0.81)
    }).annotate({ description: "Absent where it has no value: both always give the same one" })
  ),
  meanDifference: optional(Field.number("Mean distance of the two numbers of a target; absent for other values", 0.04)),
  verdict: optional(
    Schema.Literals(["reliable", "unreliable", "unknown"]).annotate({
      description:
        `\`reliable\` when the interval of kappa is over ${UNRELIABLE_KAPPA}, \`unreliable\` when it is under it; ` +
        `\`unknown\` while it contains ${UNRELIABLE_KAPPA}, with fewer than ${LEAST_PAIRS} targets, and without kappa`
    })
  ),
  unreliable: Field.flag("Whether the verdict is `unreliable`")
}).annotate({ identifier: "MarkPair", description: "Agreement of two raters about one name" })
export type MarkPair = typeof MarkPair.Type

export const MarkAgreement = Schema.Struct({
  name: MarkName,
  pairs: Schema.Array(MarkPair).annotate({ description: "Each pair of raters, the most targets first" }),
  alpha: optional(
    Schema.Struct({
      value: Field.number("Krippendorff's alpha", 0.68),
      low: Field.number("Lower end of its interval of 95 %", 0.55),
      high: Field.number("Upper end of its interval of 95 %", 0.81),
      raters: Field.integer("Raters of these targets", 3),
      targets: Field.integer("Targets that at least two of them rated", 60),
      metric: Schema.Literals(["nominal", "ordinal", "interval"]).annotate({
        description: "`interval` for numbers, `ordinal` for categories in an order, `nominal` for others"
      })
    }).annotate({ description: "Agreement of all raters together; only with more than two of them" })
  )
}).annotate({ identifier: "MarkAgreement", description: "Agreement of raters about one name" })
export type MarkAgreement = typeof MarkAgreement.Type

/** The pair of people and a judge; undefined without common targets. */
export const pairWithPeople = (agreement: MarkAgreement | undefined, judge: string): MarkPair | undefined => {
  const rater = `judge:${judge}`
  return agreement?.pairs.find(
    ({ left, n, right }) => n > 0 && ((left === "human" && right === rater) || (left === rater && right === "human"))
  )
}

/** The answer of `GET /marks/agreement` (docs/reference/marks.md#agreement). */
export const MarkAgreements = Schema.Struct({
  data: Schema.Array(MarkAgreement).annotate({ description: "The names that two raters have in common, sorted" }),
  truncated: Field.flag("Whether there are more marks or pairs than the answer compares")
}).annotate({ identifier: "MarkAgreements", description: "Agreement of raters by name" })
export type MarkAgreements = typeof MarkAgreements.Type

const runSearch = (description: string) =>
  optional(searchText(runQueryFields, description, "scenarioRef:incident/region-failover environment:production"))

/** The query of `GET /marks`. */
export const marksQuery = querySchema({
  limit: withDefault(integer({ min: 1, max: MAX_MARK_PAGE }).annotate(about("Most marks of the page", 100)), 100),
  offset: withDefault(integer({ min: 0, max: 1_000_000 }).annotate(about("Marks before the page", 0)), 0),
  q: optional(
    searchText(
      markQueryFields,
      "Marks that this search finds; GET /query/fields?resource=marks lists its fields",
      "name:correct value:false source:human"
    )
  )
})
export type MarksQuery = typeof marksQuery.Type

/** The query of `GET /marks/agreement`. */
export const markAgreementQuery = querySchema({
  name: optional(MarkName),
  sources: withDefault(
    commaSeparated(
      "The two sources of the raters; the same one twice compares its raters with each other",
      "human,judge"
    ).check(
      Schema.makeFilter((sources) =>
        sources.length === 2 && sources.every((one) => MarkSource.literals.some((source) => source === one))
          ? undefined
          : `two of ${MarkSource.literals.join(", ")}, separated by a comma`
      )
    ),
    ["human", "judge"]
  ),
  since: optional(isoDate("Marks added since this time", "2026-07-01")),
  q: runSearch("Marks on runs that this search finds")
})
export type MarkAgreementQuery = typeof markAgreementQuery.Type

const recordScope = {
  since: optional(isoDate("Runs created since this time", "2026-07-01")),
  q: runSearch("Runs that this search finds"),
  limit: withDefault(
    integer({ min: 1, max: MAX_RECORD_RUNS }).annotate(about("Most runs, the latest ones", DEFAULT_RECORD_RUNS)),
    DEFAULT_RECORD_RUNS
  )
}

/** The query of `GET /agents/records`. */
export const agentRecordsQuery = querySchema(recordScope)
export type AgentRecordsQuery = typeof agentRecordsQuery.Type

/** The query of `GET /agents/:id/record`. */
export const agentRecordQuery = querySchema({
  ...recordScope,
  by: optional(
    Schema.Literals(RECORD_GROUPS).annotate(
      about("Also the record of each prompt, model, policy version or week", "prompt")
    )
  )
})
export type AgentRecordQuery = typeof agentRecordQuery.Type

const share = (description: string) => optional(Field.number(`${description}; absent without any`, 0.8))

const recordFigures = {
  runs: Field.integer("Of these, runs in which it voted", 120),
  withOutcome: Field.integer("Of these, runs whose outcome its last vote supported", 100),
  judged: Field.integer("Runs in which it voted whose decision has a mark `correct`", 80),
  right: Field.integer("Of these, runs in which its last vote was right", 62),
  rightShare: share("`right` of `judged`"),
  rightInterval: optional(
    Schema.Struct({
      low: Field.number("Lower end", 0.67),
      high: Field.number("Upper end", 0.85)
    }).annotate({ description: "Wilson interval of 95 % of `rightShare`" })
  ),
  againstMajority: Field.integer("Judged runs in which it voted against the majority", 9),
  rightAgainstMajority: Field.integer("Of these, runs in which it was right", 4),
  pivotal: Field.integer("Runs whose outcome would have been another with the opposite of its vote", 11),
  brier: optional(
    Schema.Struct({
      score: Field.number("Mean squared error of the stated confidence: 0 is best, 1 is worst", 0.14),
      n: Field.integer("Judged votes with a stated confidence", 70)
    }).annotate({ description: "Brier score; absent without a stated confidence" })
  ),
  confidence: optional(
    Schema.Struct({
      n: Field.integer("Judged votes with a stated confidence", 70),
      mean: Field.number("Mean of the confidences", 0.91),
      right: Field.number("Share of right ones", 0.76),
      gap: Schema.Struct({
        value: Field.number("`mean` less `right`: above 0 is overconfident", 0.15),
        low: Field.number("Lower end of its interval of 95 %", 0.04),
        high: Field.number("Upper end", 0.26)
      }).annotate({ description: "How far the confidences are from the share of right ones" })
    }).annotate({ description: "Whether its confidence fits; absent without a stated confidence" })
  ),
  costUsd: Field.number("Cost of its model calls in the runs counted by `runs`", 1.25),
  guessedCostUsd: Field.number("Part of `costUsd` that is a guess", 0),
  costPerRightUsd: optional(Field.number("Cost in judged runs for each right vote; absent without one", 0.02))
}

/** What only a seat has: answers of people, and the persons beside it. */
const SeatAnswers = Schema.Struct({
  answers: Field.integer("Answers of people in the runs that were read", 40),
  unanswered: Field.integer("Acts of its deadline, which are the vote of no person", 2),
  revealedBefore: Field.integer("Answers that were given with the votes of the others shown", 0),
  rubberStamps: Field.integer(`Answers that came within ${RUBBER_STAMP_MS / 1_000} s of their question`, 3),
  persons: Schema.Array(
    Schema.Struct({
      person: Field.text("Id of the person", "ada"),
      runs: Field.integer("Runs in which the vote of the seat is of this person", 30),
      judged: Field.integer("Of these, runs whose decision has a mark `correct`", 20),
      right: Field.integer("Of these, runs in which the vote was right", 16),
      rightShare: recordFigures.rightShare,
      rightInterval: recordFigures.rightInterval
    })
  ).annotate({ description: `The persons, those with the most votes first, at most ${MAX_SEAT_PERSONS}` })
}).annotate({ identifier: "SeatAnswers", description: "How people answered for a seat" })

const seat = optional(SeatAnswers)

/** The answer of `GET /agents/:id/record` (docs/reference/marks.md#record). */
export const AgentVoteRecord = Schema.Struct({
  participantId: Field.text("The agent", "risk-analyst"),
  examined: Field.integer("Decided runs in which it took part that were read, the latest ones", 130),
  ...recordFigures,
  seat,
  reliability: Schema.Array(
    Schema.Struct({
      low: Field.number("Lower end of the bin of confidences", 0.8),
      high: Field.number("Upper end", 0.9),
      n: Field.integer("Votes in the bin", 12),
      confidence: Field.number("Their mean confidence", 0.86),
      right: Field.number("Share of right ones", 0.75)
    })
  ).annotate({ description: "Reliability curve: ten bins, the empty ones left out" }),
  truncated: Field.flag("Whether there are more runs than the answer counts"),
  summary: optional(
    Field.text(
      "The record in words, each number with its interval",
      "Right in 76 % of 54 judged decisions since 2026-11-23 (63 % to 86 %)."
    )
  ),
  by: optional(
    Schema.Array(
      Schema.Struct({
        name: optional(
          Field.text("The prompt, models, policy version or Monday of the week; absent where it is not known", "v2")
        ),
        ...recordFigures
      })
    ).annotate({ description: "Record of each group that `by` names, that of the latest run first, at most 100" })
  ),
  olderGroups: optional(Field.integer("Runs of older groups than `by` lists", 0))
}).annotate({ identifier: "AgentVoteRecord", description: "How often the votes of an agent were right" })
export type AgentVoteRecord = typeof AgentVoteRecord.Type

/** The answer of `GET /agents/records` (docs/reference/marks.md#records). */
export const AgentVoteRecords = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ participantId: Field.text("The agent or the seat", "risk-analyst"), ...recordFigures, seat })
  ).annotate({ description: `The agents that voted, the most votes first, at most ${MAX_RECORDED_AGENTS}` }),
  examined: Field.integer(
    `Decided runs that were read, the latest ones; of each the first ${MAX_RECORDED_VOTERS} participants count`,
    130
  ),
  truncated: Field.flag("Whether there are more runs or agents than the answer counts")
}).annotate({ identifier: "AgentVoteRecords", description: "How often the votes of all agents were right" })
export type AgentVoteRecords = typeof AgentVoteRecords.Type
