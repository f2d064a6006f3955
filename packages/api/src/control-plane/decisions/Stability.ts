import { about, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { isoDate, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"

const optional = Schema.optionalKey

/** Most runs of one answer, the latest ones. */
export const MAX_STABILITY_RUNS = 1_000

/** The properties of runs by which their stability is listed. */
export const StabilityGroup = Schema.Literals([
  "model",
  "promptHash",
  "template",
  "source",
  "policyVersion",
  "variant",
  "day",
  "week",
  "scenario"
])
export type StabilityGroup = typeof StabilityGroup.Type

/** The query of `GET /stability` (docs/reference/gate.md#stability). */
export const stabilityQuery = querySchema({
  q: optional(
    searchText(runQueryFields, "Runs that this search finds; GET /query/fields lists its fields", "tags:nightly")
  ),
  since: optional(isoDate("Runs created since this time", "2026-07-01")),
  by: optional(StabilityGroup.annotate(about("Also list the stability by this property of the runs", "model"))),
  count: withDefault(
    Schema.Literals(["decided", "all"]).annotate(
      about("Whether runs that failed, expired or were cancelled without a decision count: all", "decided")
    ),
    "decided"
  )
})
export type StabilityQuery = typeof stabilityQuery.Type

const count = (description: string) => Field.integer(description)
const number = (description: string) => Schema.Finite.annotate({ description })
const spread = (description: string) =>
  Schema.Struct({ p50: number("The median"), p95: number("The 95th percentile") }).annotate({ description })

const figures = {
  n: count("Counted runs"),
  excluded: Schema.Struct({
    byReason: Schema.Record(Schema.String, Schema.Int).annotate({
      description: "Runs without decision that are not counted: failed, cancelled, expired, unfinished"
    })
  }).annotate({ description: "Runs that are not counted" }),
  outcomes: Schema.Array(
    Schema.Struct({
      action: Field.text("Action of the commitment; none, or the way it ended, of a run without decision", "none"),
      positive: Schema.NullOr(Schema.Boolean).annotate({ description: "Whether it was a yes; null when not stated" }),
      count: count("Runs with this outcome"),
      share: number("Their share of the counted runs")
    })
  ).annotate({ description: "The outcomes, the most frequent first" }),
  agreement: Schema.Struct({
    rate: number("Share of the most frequent outcome"),
    low: number("Lower bound of the interval"),
    high: number("Upper bound of the interval"),
    method: Schema.Literal("wilson").annotate({ description: "The kind of interval" }),
    confidence: number("Its confidence")
  }).annotate({ description: "How many runs agree with the most frequent outcome" }),
  mindChanges: count("Votes that participants changed later, in all counted runs"),
  cost: spread("US dollars of a run"),
  durationMs: spread("Milliseconds of a run")
}

export const StabilityAnswer = Schema.Struct({
  ...figures,
  flips: Schema.Array(
    Schema.Struct({
      key: Field.text("Equal for the same participant, message type and action"),
      count: count("Runs that parted here"),
      text: Field.text("The first difference in words", "risk-analyst voted REJECT after the second evaluation"),
      exampleLeft: Field.text(
        "Id of the run of the majority that was compared",
        "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"
      ),
      exampleRight: Field.text("Id of a run that parted here", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11")
    })
  ).annotate({ description: "Causes of other outcomes than the most frequent one, the largest first" }),
  isLimited: Field.flag("Whether more runs match than an answer includes, 1,000; the latest ones count"),
  by: optional(
    Schema.Array(
      Schema.Struct({
        model: optional(Field.text("The models of the runs, separated by commas")),
        promptHash: optional(Field.text("The hashes of their prompts")),
        template: optional(Field.text("Their template")),
        source: optional(Field.text("Their source")),
        policyVersion: optional(Field.text("Their policy")),
        variant: optional(Field.text("The variant of their gate")),
        day: optional(Field.text("The day of their creation, in UTC", "2026-07-08")),
        week: optional(Field.text("The Monday of the week of their creation, in UTC", "2026-07-06")),
        scenario: optional(Field.text("Their scenario", "incident/region-failover@1.1.0")),
        ...figures
      })
    ).annotate({
      description:
        "The same by the property, the largest group first, days and weeks in their order; runs without it have an " +
        "empty text"
    })
  )
}).annotate({ identifier: "StabilityAnswer", description: "How stable the decisions of runs are" })
export type StabilityAnswer = typeof StabilityAnswer.Type
