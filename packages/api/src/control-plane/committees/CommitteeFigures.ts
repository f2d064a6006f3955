import { about, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

export const seat = Field.text("Participant id of the seat", "risk-analyst")

const interval = { low: Field.number("Lower end of its interval", 0.42), high: Field.number("Upper end", 0.91) }

/** A share with its interval of 95 %. */
export const share = (description: string) =>
  Schema.Struct({ rate: Field.number("The share", 0.75), ...interval }).annotate({ description })

/** A number of runs out of others. */
export const countedShare = (description: string) =>
  Schema.Struct({
    count: Field.integer("So many runs", 3),
    n: Field.integer("Of so many", 120),
    rate: Field.number("Their share", 0.025),
    ...interval
  }).annotate({ description: `${description}; the interval is of 95 %` })

const figure = (description: string) =>
  Schema.Struct({ value: Field.number("The figure", 0.43), ...interval }).annotate({ description })

/** The runs, participants and models of one committee. */
export const committeeFields = {
  committee: Field.text("Equal for runs with the same participants", "5d41402abc4b2a76b9719d911017c592"),
  participants: Field.texts("The participants of these runs, also those that never vote", ["lead", "risk-analyst"])
}

export const SharedModel = Schema.Struct({
  model: Field.text("The models that they called up to the decision", "vendor1-4o-mini"),
  seats: Field.texts("Seats that called these, and no others, in each run with a call", [
    "cost-analyst",
    "risk-analyst"
  ])
}).annotate({ identifier: "SharedModel", description: "Seats behind which is the same model" })

const outcomes = (description: string) =>
  Schema.Struct({
    positive: Field.integer("Decisions that say yes", 80),
    negative: Field.integer("Decisions that say no", 12),
    none: Field.integer("Runs without a decision, or without a stated outcome", 1)
  }).annotate({ description })

const TruthShare = Schema.Struct({
  runs: Field.integer("Runs of the committee", 120),
  withTruth: Field.integer("Of these, runs whose decision has a mark `correct`, not of a judge", 93),
  share: optional(share("Their share; absent without runs")),
  outcomes: Schema.Struct({
    withTruth: outcomes("Of the runs with a truth"),
    withoutTruth: outcomes("Of the others")
  }).annotate({ description: "How the runs of both groups ended" }),
  positiveDifference: optional(
    figure("Share of yes among the decisions with a truth, less that among the others; absent without both")
  )
}).annotate({
  identifier: "CommitteeTruth",
  description: "How many runs have a truth, and whether they differ from the others"
})

const SeatErrors = Schema.Struct({
  seat,
  runs: Field.integer("Runs with a truth in which it voted for or against", 93),
  cases: Field.integer("Different cases of these", 71),
  errors: Field.integer("Votes for a wrong or against a right decision", 14),
  accuracy: optional(share("Share of right votes; absent without runs")),
  leftOut: optional(
    Schema.Literals(["no value", "always right", "always wrong", "too few shared runs"]).annotate(
      about("Why the seat has no correlation; absent for a seat that counts", "always right")
    )
  )
}).annotate({ identifier: "CommitteeSeatErrors", description: "How often a seat erred" })

const SeatPair = Schema.Struct({
  left: seat,
  right: seat,
  errors: Schema.Struct({
    sharedRuns: Field.integer("Runs in which both have a value", 90),
    both: Field.integer("Both erred", 9),
    leftOnly: Field.integer("Only the left one erred", 5),
    rightOnly: Field.integer("Only the right one erred", 4),
    neither: Field.integer("Neither erred", 72),
    phi: optional(figure("Correlation of their errors; absent where one of them never or always errs in these runs")),
    largestPhi: optional(Field.number("The largest correlation that their accuracies allow", 0.88)),
    isTooFew: Field.flag("Whether the pair has too few shared runs to count")
  }).annotate({ description: "How their errors go together" }),
  agreement: Schema.Struct({
    runs: Field.integer("Runs in which both voted", 118),
    agreed: Field.integer("Of these, runs with the same vote", 104),
    share: optional(share("Their share; absent without runs")),
    kappa: optional(Field.number("Cohen's kappa; absent where it is not defined", 0.61))
  }).annotate({ description: "How often they cast the same vote: it needs no truth, and bounds nothing" })
}).annotate({ identifier: "CommitteeSeatPair", description: "Two seats" })

const Missing = Schema.Struct({
  cases: Field.integer("Further cases with a truth", 18),
  seats: Schema.Array(
    Schema.Struct({
      seat,
      cases: Field.integer("Further cases of this seat", 18),
      errors: Field.integer("Further errors of it", 8),
      right: Field.integer("Further right votes of it", 0)
    })
  ).annotate({ description: "The seats that have too few, and how many more each needs" })
}).annotate({ description: "What is missing before there is a number" })

const EffectiveVotes = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("known").annotate(about("There is a number", "known")),
    seats: Field.texts("The seats that count: those with a correlation"),
    meanCorrelation: figure("Mean correlation of the errors of two of these"),
    value: Field.number("Effective votes, at most the number of these seats", 2.1),
    isOrMore: Field.flag("Whether the mean correlation is below 0: read the value as `n or more`"),
    interval: Schema.Struct({
      ...interval,
      isHighOrMore: Field.flag("Whether the upper end is `n or more`")
    }).annotate({ description: "Interval of 95 % of the value" }),
    hasFewErrors: Field.flag("Whether a seat has few errors or right votes: the interval may be too narrow"),
    pairsLeftOut: Field.integer("Pairs of these seats that do not count", 0)
  }),
  Schema.Struct({
    kind: Schema.Literal("unknown").annotate(about("The figure is unknown", "unknown")),
    reason: Schema.Literals(["too few runs"]).annotate(about("Why", "too few runs")),
    missing: Missing
  }),
  Schema.Struct({
    kind: Schema.Literal("unknown").annotate(about("The figure is unknown", "unknown")),
    reason: Schema.Literals(["no correlation"]).annotate(
      about("Fewer than two seats have a correlation", "no correlation")
    )
  })
]).annotate({
  identifier: "EffectiveVotes",
  description: "How many independent votes the seats have: dependence, not accuracy"
})

const summary = (example: string) => Field.text("The figures in one line", example)

/** The independence of one set of participants. */
export const CommitteeIndependence = Schema.Struct({
  ...committeeFields,
  summary: summary("5 seats, 2.1 independent votes (1.7 to 2.8)"),
  runs: Field.integer("Ended runs of these participants", 120),
  cases: Field.integer("Different cases of these", 95),
  truth: TruthShare,
  effectiveVotes: EffectiveVotes,
  seats: Schema.Array(SeatErrors).annotate({ description: "The participants that vote, by name" }),
  pairs: Schema.Array(SeatPair).annotate({ description: "Each two of them once" }),
  sharedModels: Schema.Array(SharedModel).annotate({
    description: "Seats with the same models, a likely reason of errors together"
  })
}).annotate({ identifier: "CommitteeIndependence", description: "How independent the voters of runs are" })
export type CommitteeIndependence = typeof CommitteeIndependence.Type

export const SeatWorth = Schema.Struct({
  seat,
  runs: Field.integer("Runs that were counted again without it", 118),
  cases: Field.integer("Different cases of these", 93),
  notCounted: Schema.Record(Schema.String, Schema.Int).annotate({
    description: "Runs that say nothing about its removal, by reason"
  }),
  changed: countedShare("Runs whose decision would be refused without it: no decision"),
  rightLost: countedShare("Of the runs with a truth, right decisions that would be refused"),
  wrongPrevented: countedShare("Of the runs with a truth, wrong decisions that would be refused"),
  oppositeAllowed: Field.integer("Of the changed runs, those where the opposite outcome would have been allowed", 1),
  pivotal: countedShare("Of its votes for or against, those whose opposite would have turned the outcome"),
  costUsd: Field.number("Cost of its model calls", 1.18),
  costPerRunUsd: Field.number("The same for each run", 0.01),
  guessedCostUsd: Field.number("Part of `costUsd` that is a guess", 0),
  meanTimeMs: optional(Field.number("Mean time from its first to its last act; absent without any", 1_450)),
  meanSavedMs: optional(Field.number("Mean time that a decision could come sooner without it, an estimate", 400)),
  costPerRightUsd: optional(
    Field.number("Its cost in runs with a truth for each right decision that needed it; absent without one", 0.39)
  ),
  idle: optional(
    Schema.Struct({
      atMost: Field.number("The true share of changed outcomes is at most this, at 95 %", 0.0098)
    }).annotate({ description: "Present for a seat whose removal changes nothing in enough cases" })
  ),
  model: optional(Field.text("The models that it called; absent without any", "vendor1-4o-mini"))
}).annotate({ identifier: "CommitteeSeatWorth", description: "What a seat is worth, by counting votes without it" })
export type CommitteeSeatWorth = typeof SeatWorth.Type

export const CommitteeWorth = Schema.Struct({
  ...committeeFields,
  summary: summary("5 seats, $0.041 a run; without cost-analyst 0 of 118 decisions would be refused"),
  runs: Field.integer("Ended runs of these participants", 120),
  costUsd: Field.number("Cost of all seats in these runs", 4.92),
  seats: Schema.Array(SeatWorth).annotate({
    description: "The participants that vote; those whose removal changes most first"
  })
}).annotate({ identifier: "CommitteeWorth", description: "What each voter of a committee is worth" })
export type CommitteeWorth = typeof CommitteeWorth.Type
