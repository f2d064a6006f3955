import { AnswerAct } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** What an answer consists of, as it is stored. */
export const StoredContent = Schema.Struct({
  act: AnswerAct,
  recommendation: Schema.optionalKey(Schema.Literals(["APPROVE", "REVIEW", "BLOCK", "REJECT"])),
  confidence: Schema.optionalKey(Schema.Finite),
  severity: Schema.optionalKey(Schema.Literals(["low", "medium", "high", "critical"])),
  reason: Schema.String
})
export type StoredContent = typeof StoredContent.Type
