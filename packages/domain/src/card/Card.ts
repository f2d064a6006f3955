import * as Schema from "effect/Schema"
import type { Forecast } from "../insight/Forecast.ts"
import type { Why } from "../insight/Why.ts"
import { Field } from "../values/Field.ts"
import { VerdictState } from "./CardVerdict.ts"
import { CardRule } from "./Ticks.ts"
import { CardVoter } from "./Voters.ts"

const optional = Schema.optionalKey

/** Participants by their ballots. */
export const HeadCount = Schema.Struct({
  for: Field.integer("Ballots for it", 5),
  against: Field.integer("Ballots against it", 1),
  abstained: Field.integer("Abstentions", 0),
  none: Field.integer("Participants without a ballot", 1)
}).annotate({ identifier: "HeadCount", description: "Participants by their ballots" })

/** The voters of one proposal or request. */
export const CardRing = Schema.Struct({
  proposalId: Field.text("The proposal; empty in a session without votes", "p1"),
  name: Field.text("How sentences name it", "go"),
  by: optional(Field.text("Who proposed it", "incident-commander")),
  committed: Field.flag("Whether the commitment is about it"),
  seats: Schema.Array(CardVoter).annotate({ description: "For, abstained, not voted, against" }),
  counts: HeadCount,
  rule: optional(CardRule)
}).annotate({ identifier: "CardRing", description: "The voters of one proposal" })
export type HeadCount = typeof HeadCount.Type
export type CardRing = typeof CardRing.Type

/** The votes on all proposals together, as the policy counts them. */
export const CardTally = Schema.Struct({
  for: Field.number("Votes or weights for", 5),
  against: Field.number("Votes or weights against", 2),
  of: Field.number("All that could be cast", 7),
  passes: Field.flag("Whether the count carries a positive outcome"),
  rule: CardRule
}).annotate({ identifier: "CardTally", description: "The votes as the policy counts them" })
export type CardTally = typeof CardTally.Type

/** A sentence of the card. */
export const CardSentence = Schema.Struct({
  text: Field.text("The sentence", "Without c it would still stand."),
  tone: Schema.Literals(["calm", "warn"]).annotate({ description: "warn: the outcome hides this" })
})
export type CardSentence = typeof CardSentence.Type

/** The picture of a decision (docs/reference/decisions.md#card). */
export const DecisionCard = Schema.Struct({
  runId: Field.text("The run"),
  modeName: Field.text("Mode of the session", "macp.mode.decision.v1"),
  question: optional(
    Field.text(
      "What the session is for, as its opener states it; without that the committed option",
      "Fail over to north-2 now?"
    )
  ),
  verdict: VerdictState,
  word: Field.text("The verdict in words", "Approved"),
  action: optional(Field.text("Action of the commitment", "decision.selected")),
  by: optional(Field.text("Who committed it", "incident-commander")),
  confidence: optional(Field.number("0 to 1, where the commitment states one")),
  outOfReach: Field.flag("Whether an open run can no longer approve anything"),
  hasVotes: Field.flag("Whether the session has votes; else the voters have roles"),
  weighted: Field.flag("Whether the policy weighs votes"),
  rings: Schema.Array(CardRing).annotate({ description: "A ring a proposal, the committed one first" }),
  ringsLeftOut: optional(Field.integer("Earlier proposals that are left out; absent for none")),
  tally: optional(CardTally),
  voted: Field.integer("Participants with a ballot", 6),
  participants: Field.integer("All participants", 7),
  quorum: optional(
    Schema.Struct({ need: Field.integer("Ballots that the policy requires", 4) }).annotate({
      description: "Absent for a policy that requires no quorum"
    })
  ),
  counts: Field.text("The figures in one line", "5 for, 1 against, 6 of 7 voted"),
  sentences: Schema.Array(CardSentence).annotate({ description: "Why, in sentences" })
}).annotate({ identifier: "DecisionCard", description: "The picture of a decision: voters, verdict and reasons" })
export type DecisionCard = typeof DecisionCard.Type

/** What the card shows beside the record: the answers of why, and for an open run of the forecast. */
export interface CardAnswers {
  readonly why: Pick<Why, "counterfactuals" | "missing" | "outcome" | "rules" | "summaryParts" | "voting" | "warnings">
  readonly forecast?: Pick<Forecast, "outcomes" | "pivotal" | "waitingFor"> | undefined
}
