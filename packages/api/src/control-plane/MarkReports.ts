import { Field, MarkName, MarkValue } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

/** Whether the raters of a name agree: below 0.4, a judge is unreliable. */
export const UNRELIABLE_KAPPA = 0.4

/** The answer of `GET /marks/agreement` (docs/reference/marks.md#agreement). */
export const MarkAgreement = Schema.Struct({
  name: MarkName,
  pairs: Schema.Array(
    Schema.Struct({
      left: Field.text("Source of the first raters; a judge with its name", "human"),
      right: Field.text("Source of the second raters; a judge with its name", "judge:politeness"),
      n: Field.integer("Targets that both rated", 40),
      agreed: Field.integer("Of these, targets with the same value", 34),
      categories: Schema.Array(MarkValue).annotate({ description: "Values of both, in order of `confusion`" }),
      confusion: Schema.Array(Schema.Array(Schema.Int)).annotate({
        description: "Targets by the value of the first (rows) and of the second (columns)"
      }),
      kappa: optional(
        Schema.Struct({
          value: Field.number("Cohen's kappa", 0.61),
          low: Field.number("Lower end of its interval of 95 %", 0.41),
          high: Field.number("Upper end of its interval of 95 %", 0.81)
        }).annotate({ description: "Absent where it has no value: both always give the same one" })
      ),
      unreliable: Field.flag("Whether kappa is under 0.4")
    })
  ).annotate({ description: "Each pair of raters" })
}).annotate({ identifier: "MarkAgreement", description: "Agreement of raters about one name" })
export type MarkAgreement = typeof MarkAgreement.Type

const share = (description: string) => optional(Field.number(`${description}; absent without any`, 0.8))

/** The answer of `GET /agents/:id/record` (docs/reference/marks.md#record). */
export const AgentVoteRecord = Schema.Struct({
  participantId: Field.text("The agent", "risk-analyst"),
  runs: Field.integer("Decided runs in which it voted", 120),
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
  reliability: Schema.Array(
    Schema.Struct({
      low: Field.number("Lower end of the bin of confidences", 0.8),
      high: Field.number("Upper end", 0.9),
      n: Field.integer("Votes in the bin", 12),
      confidence: Field.number("Their mean confidence", 0.86),
      right: Field.number("Share of right ones", 0.75)
    })
  ).annotate({ description: "Reliability curve: ten bins, the empty ones left out" }),
  costUsd: Field.number("Cost of its model calls in the runs counted by `runs`", 1.25),
  guessedCostUsd: Field.number("Part of `costUsd` that is a guess", 0),
  costPerRightUsd: optional(Field.number("Cost in judged runs for each right vote; absent without one", 0.02)),
  truncated: Field.flag("Whether there are more runs than the answer counts")
}).annotate({ identifier: "AgentVoteRecord", description: "How often the votes of an agent were right" })
export type AgentVoteRecord = typeof AgentVoteRecord.Type
