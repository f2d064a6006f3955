import { about, DecisionCard, DenialReason, Field, guessedPart, ReceiptReport, RunId } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** What is answered about decisions (docs/reference/decisions.md). */

const optional = Schema.optionalKey

const OutcomeName = Schema.Literals(["positive", "negative"]).annotate(about("The outcome of a commitment", "positive"))
const seqs = (description: string) => Schema.Array(Schema.Int).annotate({ description })

const policySource = Schema.Literals(["recorded", "registry", "unknown"]).annotate(
  about("Where the rules come from: the run's own log, the registry as it is now, or nowhere", "recorded")
)
const policyVersion = Field.text("Governance policy; empty when unknown", "policy.default")
const modeName = Field.text("Session mode; empty when unknown", "macp.mode.decision.v1")

const RuleRefusal = Schema.Struct({
  rule: Field.text("Key of the rule; mode.* for a requirement of the mode itself", "voting.quorum"),
  have: Schema.Union([Schema.Finite, Schema.String]).annotate({ description: "The current value" }),
  need: Schema.Union([Schema.Finite, Schema.String]).annotate({ description: "The required value" }),
  text: Field.text("All of it in words"),
  code: optional(
    Field.text("Code of the denial that the runtime would send; absent for a rule of the mode", "no_votes")
  )
}).annotate({ identifier: "RuleRefusal", description: "A rule that stands against an outcome" })

const ForecastStep = Schema.Struct({
  count: Field.integer("So many of these participants"),
  of: Field.texts("Participants"),
  act: Field.text("Message type", "Vote"),
  value: optional(Field.text("What it has to say", "APPROVE")),
  proposalId: optional(Field.text("What it has to be about"))
}).annotate({ identifier: "ForecastStep", description: "Acts that are needed, by so many participants" })

const OutcomeForecast = Schema.Struct({
  outcome: OutcomeName,
  proposalId: optional(Field.text("The proposal, where the rules distinguish proposals")),
  status: Schema.Literals(["met", "certain", "possible", "impossible"]).annotate(
    about("met: a commitment would be accepted now; certain: it will be, whatever those outstanding say", "possible")
  ),
  settled: Field.flag("Whether nothing that can still be said changes this"),
  blockers: Schema.Array(RuleRefusal).annotate({ description: "Rules that are not met yet" }),
  needs: Schema.Array(
    Schema.Struct({
      steps: Schema.Array(ForecastStep).annotate({ description: "All of them are needed, in this order" }),
      text: Field.text("The same in words", "1 of a, b votes APPROVE")
    })
  ).annotate({ description: "The smallest sets of acts after which the outcome is allowed" })
}).annotate({ identifier: "OutcomeForecast", description: "What can still become of one outcome" })

/** The answer of `GET /runs/:id/decision/card` (docs/reference/decisions.md#card). */
export const RunCard = Schema.Struct({ ...DecisionCard.fields, runId: RunId }).annotate({
  identifier: "DecisionCard",
  description: "The picture of a decision: voters, verdict and reasons"
})

/** The answer of `GET /runs/:id/forecast` (docs/reference/decisions.md#forecast). */
export const DecisionForecast = Schema.Struct({
  runId: RunId,
  atSeq: Field.integer("seq of the last event that was read; 0 for none"),
  atIndex: Field.integer("Its index in the run"),
  modeName,
  policyVersion,
  policySource,
  basis: Schema.Literals(["exact", "bounds"]).annotate(
    about("bounds: too many votes are open to look at every set; statuses are exact, needs may name others", "exact")
  ),
  outcomes: Schema.Array(OutcomeForecast).annotate({ description: "Empty when the rules are unknown" }),
  outstanding: Schema.Array(
    Schema.Struct({ participantId: Field.text("Participant"), acts: Field.texts("Message types", ["Vote"]) })
  ).annotate({ description: "Who can still act, and how" }),
  pivotal: Schema.Array(
    Schema.Struct({
      participantId: Field.text("Participant"),
      act: Field.text("Message type", "Vote"),
      value: optional(Field.text("What it says", "APPROVE")),
      outcome: OutcomeName,
      becomes: Schema.Literals(["met", "certain", "possible", "impossible"]).annotate(about("The status after it"))
    })
  ).annotate({ description: "Single acts that decide" }),
  waitingFor: optional(
    Field.text("What the run waits for, in words; absent when it is over or not known", "1 of 3 has not voted: py-lead")
  ),
  note: optional(Field.text("What limits the answer, or has ended the decision"))
}).annotate({ identifier: "DecisionForecast", description: "What can still become of a run's decision" })

const Claim = Schema.Struct({
  kind: Field.text("What it is", "vote"),
  text: Field.text("In words"),
  participantId: optional(Field.text("Whose it is")),
  person: optional(Field.text("The person who gave the answer of a seat, by its record; absent without one", "ada")),
  unanswered: optional(
    Schema.Literal(true).annotate({ description: "Present for an act of the deadline: no person gave an answer" })
  ),
  seqs: seqs("Events that say so"),
  denials: optional(
    Schema.Array(DenialReason).annotate({ description: "Reasons of a denial with their codes; absent without any" })
  )
}).annotate({ identifier: "DecisionClaim", description: "Something that the record shows" })

const figure = (description: string) => Schema.Union([Schema.Finite, Schema.String]).annotate({ description })

const ballots = {
  approve: Field.integer("Ballots for it", 3),
  reject: Field.integer("Ballots against it", 1),
  abstain: Field.integer("Abstentions", 0)
}
const weights = optional(
  Schema.Struct({
    for: Field.number("Sum of the weights for it", 5),
    against: Field.number("Sum of the weights against it", 2)
  }).annotate({ description: "Absent under a policy that does not weigh votes" })
)

/** The answer of `GET /runs/:id/decision/why` (docs/reference/decisions.md#why). */
export const DecisionWhy = Schema.Struct({
  runId: RunId,
  modeName,
  policyVersion,
  policySource,
  participants: Field.texts("Those who were declared, or who spoke"),
  outcome: Schema.NullOr(
    Schema.Struct({
      action: Field.text("What was committed", "decision.selected"),
      positive: Schema.NullOr(Schema.Boolean).annotate({ description: "Null when it was not stated" }),
      by: Field.text("Who committed"),
      reason: optional(Field.text("In the committer's words")),
      seq: Field.integer("seq of the event"),
      commitments: optional(
        Field.integer("Commitments on record, of which this is the last; absent when it is the only one", 2)
      ),
      commitmentHash: optional(Field.text("Hash of the commitment; absent for runs without one")),
      proposalId: optional(Field.text("The proposal that it is about; absent where it does not name one of several")),
      againstVotes: optional(
        Schema.Literal(true).annotate(
          about("The votes on that proposal say the opposite (`warnings`); absent when they do not", true)
        )
      )
    })
  ).annotate({ description: "Null while nothing is decided" }),
  receipt: optional(ReceiptReport),
  claims: Schema.Array(Claim).annotate({ description: "Everything that was said, in order; the latest ones" }),
  rules: Schema.Array(
    Schema.Struct({
      rule: Field.text("Key of the rule", "voting.quorum"),
      satisfied: Field.flag("Whether the record satisfies it"),
      text: Field.text("In words, with its figures", "3 approve, 1 reject, majority 0.5"),
      have: optional(figure("The value on record; absent where the rule is not one of amounts")),
      need: optional(figure("The required value; absent where the rule is not one of amounts")),
      seqs: seqs("Events that decide it")
    })
  ).annotate({ description: "Every rule with a requirement" }),
  minimalSet: seqs("A smallest set of events without which the outcome would not have been allowed"),
  counterfactuals: Schema.Array(
    Schema.Struct({
      seq: Field.integer("seq of the vote"),
      participantId: Field.text("Whose vote"),
      text: Field.text("In words"),
      stillAllowed: Field.flag("Whether the outcome would be allowed without it"),
      reasons: Field.texts("Why not")
    })
  ).annotate({ description: "Each vote as if it had not been cast" }),
  decidedAt: optional(
    Schema.Struct({
      seq: Field.integer("seq of the event"),
      index: Field.integer("Its index in the run"),
      ts: Field.time("When it came"),
      msBeforeCommitment: Field.number("Milliseconds before the commitment")
    }).annotate({ description: "Since when the outcome was allowed without a break" })
  ),
  missing: Field.texts("What stood against each outcome; only without a decision"),
  cost: Schema.Struct({
    totalTokens: Field.number("Tokens up to the commitment"),
    costUsd: Field.number("US dollars"),
    guessedCostUsd: guessedPart,
    callsWithoutUsage: optional(Field.integer("Calls without counts, which the sums lack; absent when there are none")),
    byParticipant: Schema.Array(
      Schema.Struct({
        participantId: Field.text("Participant"),
        calls: Field.integer("Calls of models"),
        totalTokens: Field.number("Tokens"),
        costUsd: Field.number("US dollars"),
        guessedCostUsd: guessedPart,
        callsWithoutUsage: optional(Field.integer("Calls of these without counts; absent when there are none"))
      })
    ).annotate({ description: "In order of first spending" })
  }).annotate({ description: "What language models cost up to the commitment" }),
  voting: optional(
    Schema.Array(
      Schema.Struct({
        proposalId: Field.text("The proposal or request"),
        participants: Field.integer("Participants of the session"),
        notVoted: Field.texts("Those without a ballot; an abstention is one", ["py-lead"]),
        text: Field.text("In words", "1 of 3 has not voted: py-lead")
      })
    ).annotate({ description: "Who has voted, up to the commitment; absent where that is not known" })
  ),
  tallies: optional(
    Schema.Array(
      Schema.Struct({
        proposalId: Field.text("The proposal or request"),
        option: optional(Field.text("What is proposed, in its sender's words; absent when it is not stated", "go")),
        isCommitted: Field.flag("Whether the commitment is about it, as far as that is known"),
        ...ballots,
        weights,
        text: Field.text("In words", "on go: 0 approve, 3 reject")
      })
    ).annotate({
      description: "The ballots by proposal, up to the commitment; the latest 20, and the one of the commitment"
    })
  ),
  counted: optional(
    Schema.Struct({
      algorithm: Field.text("How the policy counts", "majority"),
      threshold: optional(
        Field.number("Share that approvals have to reach, 0 to 1; absent where no share decides", 0.5)
      ),
      proposals: Field.integer("Proposals whose votes are counted together", 1),
      ...ballots,
      weights,
      passes: Field.flag("Whether the count supports a positive outcome"),
      text: Field.text("In words", "3 approve, 1 reject, majority 0.5")
    }).annotate({
      description:
        "The votes as the policy counts them, on all proposals together; absent where it counts none, and for other modes"
    })
  ),
  warnings: optional(
    Field.texts("What the outcome hides: that the voters on its proposal said the opposite", [
      "the voters rejected go (0 approve, 3 reject), and it was committed"
    ])
  ),
  summary: Field.text("All of it in one line", "carried by 3 of 4; without c it would still stand"),
  summaryParts: optional(
    Schema.Array(
      Schema.Struct({
        text: Field.text("A part of the line", "carried by 3 of 4"),
        isQuoted: Field.flag("Whether a participant or another person chose this text")
      })
    ).annotate({ description: "The summary in parts, with the texts of others set apart" })
  ),
  notes: Field.texts("What limits the answer")
}).annotate({ identifier: "DecisionWhy", description: "Why a run was decided as it was, or what was missing" })

const Verdict = Schema.Struct({
  outcome: OutcomeName,
  allowed: Field.flag("Whether a commitment with this outcome is accepted"),
  reasons: Field.texts("Why the rules refuse it")
}).annotate({ identifier: "DecisionVerdict", description: "Whether the rules allow an outcome" })

const VoteChange = Schema.Struct({
  participantId: Field.text("Whose vote"),
  proposalId: Field.text("What it is about"),
  from: Schema.NullOr(Schema.String).annotate({ description: "Null when there was none" }),
  to: Field.text("What it would be", "REJECT")
}).annotate({ identifier: "VoteChange", description: "One vote said otherwise" })

/** The answer of `POST /runs/:id/what-if` (docs/reference/decisions.md#what-if). */
export const WhatIfAnswer = Schema.Struct({
  before: Verdict,
  after: Verdict,
  changed: Field.flag("Whether the verdict is another one"),
  pivotal: Schema.Array(VoteChange).annotate({
    description: "Votes of which each by itself would turn the new verdict"
  }),
  smallestChange: Schema.Array(VoteChange).annotate({ description: "Fewest votes that would turn it; empty for none" }),
  basis: Schema.Literals(["exact", "bounds"]).annotate(about("bounds: fewer votes may do", "exact")),
  notes: Field.texts("What limits the answer")
}).annotate({ identifier: "WhatIfAnswer", description: "The verdict on a run, before and after the changes" })

const Spot = Schema.Struct({
  seq: Field.integer("seq of the event; 0 for the beginning"),
  index: Field.integer("Its index in the run")
})
const outcome = (side: string) =>
  Schema.Literals(["positive", "negative", "unstated", "failed", "cancelled", "none"]).annotate(
    about(`How the ${side} run ended`, "positive")
  )

/** Where two runs of one story first say different things (docs/reference/decisions.md#divergence). */
export const RunDivergence = Schema.Struct({
  left: Spot.annotate({ description: "Where in the left run" }),
  right: Spot.annotate({ description: "Where in the right run" }),
  kind: Schema.Literals(["different", "only-left", "only-right"]).annotate(about("Who has it", "different")),
  participantId: Field.text("Whose step it is; empty for none"),
  what: Field.text("The difference in one sentence"),
  details: Field.texts("Members that differ; empty when the whole step does", ["vote"]),
  leftText: Schema.NullOr(Schema.String).annotate({ description: "The step of the left run in words" }),
  rightText: Schema.NullOr(Schema.String).annotate({ description: "The step of the right run in words" }),
  consequence: Schema.Struct({
    outcomeLeft: outcome("left"),
    outcomeRight: outcome("right"),
    eventsAfterLeft: Field.integer("Events of the left run after it"),
    eventsAfterRight: Field.integer("Events of the right run after it"),
    costDeltaUsd: Field.number("US dollars that the right run spent after it, less those of the left"),
    guessedCostUsd: optional(
      Field.number("US dollars of what both runs spent after it that are a guess; absent when there are none", 0.0021)
    )
  }).annotate({ description: "What followed" })
}).annotate({ identifier: "RunDivergence", description: "The first difference between two runs" })

/** The answer of `GET /runs/:id/divergence`. */
export const DivergenceAnswer = Schema.Struct({
  leftRunId: RunId,
  rightRunId: RunId,
  divergence: Schema.NullOr(RunDivergence).annotate({ description: "Null for runs that say the same" })
}).annotate({ identifier: "DivergenceAnswer", description: "Where two runs part" })
