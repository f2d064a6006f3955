import { about, Field, MAX_TRUTH_EXAMPLES, RunId } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, isoDate, withDefault } from "../../validation/Fields.ts"
import { OtherPolicy, policyName } from "./DecisionRequests.ts"

const optional = Schema.optionalKey

/** Most runs of one backtest, and so many unless said. */
export const MAX_BACKTEST_RUNS = 10_000
const MAX_TAGS = 100
const MAX_TEXT_LENGTH = 1_024

const text = (description: string, example: string) =>
  Field.text(description, example).check(Schema.isNonEmpty(), Schema.isMaxLength(MAX_TEXT_LENGTH))

/** The runs of a backtest: the latest ones that have all of this. Archived runs are among them. */
export const BacktestScope = Schema.Struct({
  scenarioRef: optional(text("Runs whose metadata.scenarioRef or sourceRef contains this, case ignored", "incident/")),
  modeName: optional(text("Runs of this session mode", "macp.mode.decision.v1")),
  createdAfter: optional(isoDate("Runs created after this time, exclusive", "2026-07-01")),
  createdBefore: optional(isoDate("Runs created before this time, exclusive", "2026-07-02T12:00:00.000Z")),
  tags: optional(
    Schema.Array(text("Tag", "nightly"))
      .annotate({ description: "Runs with all of these tags" })
      .check(Schema.isMaxLength(MAX_TAGS))
  ),
  limit: withDefault(
    integer({ min: 1, max: MAX_BACKTEST_RUNS }).annotate(about("Most runs, the latest ones", MAX_BACKTEST_RUNS)),
    MAX_BACKTEST_RUNS
  )
}).annotate({ identifier: "BacktestScope", description: "The runs of a backtest" })
export type BacktestScope = typeof BacktestScope.Type

/** The body of `POST /policies/backtest` (docs/reference/decisions.md#backtest). */
export const BacktestRequest = Schema.Struct({
  policyVersion: optional(policyName("A registered policy; either this or policy")),
  policy: optional(OtherPolicy),
  scope: withDefault(BacktestScope, { limit: MAX_BACKTEST_RUNS })
}).annotate({ identifier: "BacktestRequest", description: "A policy, and the runs that it is tried on" })

const count = (description: string) => Field.integer(description)

export const BacktestProgress = Schema.Struct({
  type: Schema.Literal("progress").annotate(about("What the line holds", "progress")),
  examined: count("Runs so far"),
  total: count("Runs in all"),
  flipped: count("Runs so far that would have ended otherwise")
}).annotate({ identifier: "BacktestProgress", description: "How far a backtest has come" })

export const BacktestFlip = Schema.Struct({
  type: Schema.Literal("flip").annotate(about("What the line holds", "flip")),
  runId: RunId,
  from: Schema.Literals(["positive", "negative"]).annotate(about("What was committed", "positive")),
  to: Schema.Literals(["positive", "negative", "none"]).annotate(
    about("The opposite when the policy would have allowed that, else none: no decision at that time", "none")
  ),
  reasons: Field.texts("Why the rules refuse the outcome")
}).annotate({ identifier: "BacktestFlip", description: "A run that would have ended otherwise" })

const counts = (description: string) => Schema.Record(Schema.String, Schema.Int).annotate({ description })

const examples = (description: string) =>
  Schema.Array(RunId).annotate({ description: `${description}; the first ${MAX_TRUTH_EXAMPLES}` })

export const BacktestTruth = Schema.Struct({
  judged: count("Runs with a mark `correct` that the policy says something about"),
  right: count("Of these, outcomes that were right"),
  rightUnderPolicy: count("Of these, outcomes that would have been right under the policy"),
  gained: examples("Runs that only the policy would have got right"),
  lost: examples("Runs that only the policy would have got wrong")
}).annotate({ identifier: "BacktestTruth", description: "Outcomes compared with the marks `correct`" })
export type BacktestTruth = typeof BacktestTruth.Type

export const BacktestSummary = Schema.Struct({
  type: Schema.Literal("summary").annotate(about("What the line holds", "summary")),
  policyVersion: Field.text("The policy that was tried", "policy.incident.strict"),
  examined: count("Runs that were looked at"),
  unchanged: count("Runs that would have ended as they did"),
  flipped: count("Runs that would have ended otherwise"),
  skipped: counts("Runs that the policy says nothing about, by reason"),
  byRule: counts("Flipped runs by the rule that stands against their outcome; a run may count under several"),
  isLimited: Field.flag("Whether there are more runs than the limit let in"),
  truth: optional(BacktestTruth)
}).annotate({ identifier: "BacktestSummary", description: "What a backtest has found: the last line" })

/** One line of the answer. Without a summary at its end it is not the whole answer. */
export const BacktestLine = Schema.Union([BacktestProgress, BacktestFlip, BacktestSummary])
export type BacktestLine = typeof BacktestLine.Type
