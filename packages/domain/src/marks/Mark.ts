import * as Schema from "effect/Schema"
import { about, Field, idempotencyKey, isOfForm, isOneLine } from "../values/Field.ts"

const optional = Schema.optionalKey

/** Characters of a mark's name. A query names it after a dot: `mark.quality`. */
export const MAX_MARK_NAME = 64
/** Characters of a category. */
export const MAX_MARK_CATEGORY = 200
/** Characters of the texts about a judge. */
export const MAX_JUDGE_TEXT = 200
/** Characters of a comment. */
export const MAX_MARK_COMMENT = 4_000

/** The reserved name of the truth about a decision (docs/reference/marks.md#truth). */
export const CORRECT = "correct"

/** The reserved name of a remark (docs/reference/marks.md#comments). */
export const COMMENT = "comment"

export const MarkTargetKind = Schema.Literals(["run", "decision", "participant", "event", "llmCall"]).annotate({
  identifier: "MarkTargetKind",
  description: "What a mark judges"
})
export type MarkTargetKind = typeof MarkTargetKind.Type

export const MarkSource = Schema.Literals(["human", "judge", "rule", "api"]).annotate({
  identifier: "MarkSource",
  description: "`human` for a person, `judge` for a model, `rule` for an alert rule, `api` for another system"
})
export type MarkSource = typeof MarkSource.Type

/** The sources that a caller may state. */
export const GivenMarkSource = Schema.Literals(["human", "judge", "api"]).annotate({
  identifier: "GivenMarkSource",
  description: "`human` for a person, `judge` for a model, `api` for another system; `rule` is reserved for alert rules"
})

export const MarkName = Field.text("Name of the mark", "quality").check(
  Schema.isMaxLength(MAX_MARK_NAME),
  isOfForm(/^[A-Za-z][A-Za-z0-9_-]*$/)
)

/** A category is one line. */
export const MarkValue = Schema.Union([
  Schema.Finite,
  Schema.Boolean,
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_MARK_CATEGORY), isOneLine)
]).annotate({ ...about("A number, a flag, or the text of a category", 0.8), identifier: "MarkValue" })
export type MarkValue = typeof MarkValue.Type

export const MarkTarget = Schema.Struct({
  kind: MarkTargetKind,
  id: optional(
    Field.text(
      "Participant id of a participant; event id of a decision, an event or a model call. Absent for a run, and for the last decision",
      "risk-analyst"
    ).check(Schema.isMinLength(1), Schema.isMaxLength(512))
  )
}).annotate({ identifier: "MarkTarget", description: "What a mark judges" })
export type MarkTarget = typeof MarkTarget.Type

const judgeText = (description: string, example: string) =>
  Field.text(description, example).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_JUDGE_TEXT), isOneLine)

export const MarkJudge = Schema.Struct({
  name: judgeText("Name of the judge", "politeness"),
  model: optional(judgeText("Its model", "gpt-5.1-mini")),
  promptHash: optional(judgeText("Hash of its prompt: versions of a prompt differ in it", "9f86d081884c7d65"))
}).annotate({ identifier: "MarkJudge", description: "The judge of a mark whose source is `judge`" })
export type MarkJudge = typeof MarkJudge.Type

/** A judgement beside the log of a run (docs/reference/marks.md). It never changes the log or the state. */
export const Mark = Schema.Struct({
  id: Field.text("Id of the mark: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"),
  runId: Field.text("Id of its run", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11"),
  target: MarkTarget,
  index: optional(Field.integer("Index of the event that it judges, for a decision, an event or a model call", 17)),
  name: MarkName,
  value: optional(MarkValue),
  comment: optional(Field.text("Reason, for readers", "ignored the refund rule")),
  source: MarkSource,
  judge: optional(MarkJudge),
  author: Field.text("Caller that added it", "key:5e884898"),
  authorName: optional(Field.text("`user:` and the name in the token of its author, for readers", "user:ann")),
  createdAt: Field.time("When it was added"),
  replacedBy: optional(Field.text("Id of the mark of the same author that replaces it")),
  deletedAt: optional(Field.time("When it was deleted; its value and comment are gone")),
  deletedBy: optional(Field.text("Caller that deleted it", "key:5e884898"))
}).annotate({ identifier: "Mark", description: "A judgement of a person, a model, a rule or another system" })
export type Mark = typeof Mark.Type

/** The body of `POST /runs/:id/marks`. */
export const NewMark = Schema.Struct({
  target: MarkTarget,
  name: MarkName,
  value: MarkValue,
  comment: optional(
    Field.text("Reason, for readers", "ignored the refund rule").check(Schema.isMaxLength(MAX_MARK_COMMENT))
  ),
  source: GivenMarkSource,
  judge: optional(MarkJudge),
  idempotencyKey: optional(idempotencyKey("A repeated key of one run returns the first mark", "crm-4711"))
}).annotate({ identifier: "MarkRequest", description: "A mark to be added" })
export type NewMark = typeof NewMark.Type
