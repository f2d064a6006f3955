import { Field, MAX_TRIED_SHADOWS } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { countedShare, errorFields, SeatPair } from "./FigureFields.ts"

const optional = Schema.optionalKey

const shadowFields = {
  shadow: Field.text("Name of the shadow; it does not take part in the session", "risk-analyst~risk-agent-2"),
  as: Field.text("Participant beside which it was tried", "risk-analyst"),
  agent: Field.text("The agent of the catalog", "risk-agent-2"),
  tried: Field.integer("Ended runs with its acts, or with the reason why it did not act", 60)
}

export const shadowsLeftOut = Field.integer(
  `Shadows without figures: those that were tried last have some, at most ${MAX_TRIED_SHADOWS}`,
  0
)

export const CommitteeShadowErrors = Schema.Struct({
  ...shadowFields,
  ...errorFields,
  pairs: Schema.Array(SeatPair).annotate({ description: "It is `right` of each pair; `left` is a seat" })
}).annotate({ identifier: "CommitteeShadowErrors", description: "How often a shadow erred, and with which seats" })

export const CommitteeShadowWorth = Schema.Struct({
  ...shadowFields,
  summary: Field.text(
    "The figures in one line",
    "with risk-analyst~risk-agent-2 in place of risk-analyst 2 of 58 decisions would be refused"
  ),
  runs: Field.integer("Runs that were counted again with it", 58),
  cases: Field.integer("Different cases of these", 51),
  notCounted: Schema.Record(Schema.String, Schema.Int).annotate({
    description: "Runs that say nothing about it, by reason"
  }),
  changed: countedShare("Runs whose decision would be refused with it in place of its participant"),
  rightLost: countedShare("Of the runs with a truth, right decisions that would be refused"),
  wrongPrevented: countedShare("Of the runs with a truth, wrong decisions that would be refused"),
  oppositeAllowed: Field.integer("Of the changed runs, those where the opposite outcome would have been allowed", 1),
  idle: optional(
    Schema.Struct({
      atMost: Field.number("The true share of changed outcomes is at most this, at 95 %", 0.0098)
    }).annotate({ description: "Present for a shadow that changes nothing in enough cases" })
  ),
  cost: optional(
    Schema.Struct({
      runs: Field.integer("Runs with model calls of the shadow on record", 58),
      costUsd: Field.number("Cost of these calls, which no cost of a run has", 0.58),
      costPerRunUsd: Field.number("The same for each of these runs", 0.01),
      guessedCostUsd: Field.number("Part of `costUsd` that is a guess", 0)
    }).annotate({ description: "Absent where no model call of it is on record" })
  ),
  paired: Schema.Struct({
    runs: Field.integer("Runs with a truth in which both voted for or against", 55),
    cases: Field.integer("Different cases of these", 48),
    participantRight: Field.integer("Right votes of the participant", 41),
    shadowRight: Field.integer("Right votes of the shadow", 47),
    participantOnly: Field.integer("Runs in which only the participant is right", 3),
    shadowOnly: Field.integer("Runs in which only the shadow is right", 9),
    p: Field.number("McNemar's exact test, two-sided; a case counts once", 0.146),
    isTooFew: Field.flag("Whether the cases are too few to compare the two")
  }).annotate({ description: "Both over the same runs" })
}).annotate({
  identifier: "CommitteeShadowWorth",
  description: "What other decisions there had been with a shadow in place of its participant, by counting votes"
})
export type CommitteeShadowWorth = typeof CommitteeShadowWorth.Type
