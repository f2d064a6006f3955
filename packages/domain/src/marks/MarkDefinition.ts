import * as Schema from "effect/Schema"
import { Field, isOneLine } from "../values/Field.ts"
import { MAX_MARK_CATEGORY, MarkName } from "./Mark.ts"

const optional = Schema.optionalKey

/** Categories of one definition. */
export const MAX_MARK_CATEGORIES = 50

/** The values that marks of one name have (docs/reference/marks.md#definitions). */
export const MarkDefinition = Schema.Struct({
  name: MarkName,
  kind: Schema.Literals(["number", "flag", "category"]).annotate({ description: "Kind of its values" }),
  min: optional(Field.number("Smallest number", 0)),
  max: optional(Field.number("Largest number", 1)),
  categories: optional(
    Schema.Array(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_MARK_CATEGORY), isOneLine))
      .annotate({ description: "The categories, the best first where `better` is `first`" })
      .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_MARK_CATEGORIES), Schema.isUnique())
  ),
  better: optional(
    Schema.Literals(["higher", "lower", "true", "false", "first"]).annotate({
      description: "Better values: the higher or lower numbers, true or false, the first categories; absent for none"
    })
  ),
  description: optional(Field.text("For readers", "Tone of the answer").check(Schema.isMaxLength(1_000))),
  reserved: Field.flag("True for the names with a meaning of their own, which cannot be changed")
}).annotate({ identifier: "MarkDefinition", description: "The values that marks of one name have" })
export type MarkDefinition = typeof MarkDefinition.Type
