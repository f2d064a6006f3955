import { about, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { CommitteeShadowErrors, CommitteeShadowWorth, shadowsLeftOut } from "./CommitteeShadows.ts"
import { countedShare, errorFields, figure, interval, SeatPair, seat, share } from "./FigureFields.ts"

const optional = Schema.optionalKey

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

export const SharedPrompt = Schema.Struct({
  promptHash: Field.text("Hashes of their prompts", "9f86d081884c7d65"),
  seats: Field.texts("Seats with these prompts, and no others, in each run whose spans have them", [
    "cost-analyst",
    "risk-analyst"
  ])
}).annotate({ identifier: "SharedPrompt", description: "Seats behind which is the same prompt" })

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

const SeatErrors = Schema.Struct({ seat, ...errorFields }).annotate({
  identifier: "CommitteeSeatErrors",
  description: "How often a seat erred"
})

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
  }),
  sharedPrompts: Schema.Array(SharedPrompt).annotate({
    description: "Seats with the same prompts, as far as spans have them"
  }),
  shadows: Schema.Array(CommitteeShadowErrors).annotate({
    description: "Agents that were tried beside a participant; no other figure has them"
  }),
  shadowsLeftOut
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
  }),
  shadows: Schema.Array(CommitteeShadowWorth).annotate({
    description: "Agents that were tried beside a participant; no other figure has them"
  }),
  shadowsLeftOut
}).annotate({ identifier: "CommitteeWorth", description: "What each voter of a committee is worth" })
export type CommitteeWorth = typeof CommitteeWorth.Type
