import * as Schema from "effect/Schema"
import { AnswerAct } from "./AnswerAct.ts"
import { Basis } from "./Basis.ts"

/** The kind of the artifact that says which person gave an answer. */
export const PEOPLE_ANSWER = "people.answer"

const optional = Schema.optionalKey

/**
 * An answer as the log of the control plane keeps it, once for each item. It is the only proof of who answered: a line
 * in a reason can be written by any agent.
 */
export const PeopleAnswer = Schema.Struct({
  v: Schema.Literal(1),
  item: Schema.String,
  seat: Schema.String,
  /** An act of the deadline is not the vote of a person. */
  origin: Schema.Literals(["person", "deadline"]),
  person: optional(Schema.String),
  onBehalfOf: optional(Schema.String),
  proof: optional(Schema.Literals(["none", "session", "fresh", "passkey"])),
  act: AnswerAct,
  recommendation: optional(Schema.String),
  confidence: optional(Schema.Finite),
  severity: optional(Schema.String),
  messageId: Schema.String,
  proposalHash: Schema.String,
  basis: Basis,
  /** Ordinals after the basis and before the message. */
  unseen: Schema.Array(Schema.Int),
  askedAt: Schema.String,
  seenAt: optional(Schema.String),
  answeredAt: Schema.String,
  channel: Schema.String,
  /** What the person could see before the answer: votes of others, by the rules of the seat or by another right. */
  revealed: Schema.Literals(["after", "before"]),
  couldHaveSeen: Schema.Boolean,
  /** 32 random bytes, hexadecimal: the hash of this artifact must not let its content be guessed. */
  nonce: Schema.String
}).annotate({ identifier: "PeopleAnswer", description: "Which person gave an answer, when, and what it is bound to" })
export type PeopleAnswer = typeof PeopleAnswer.Type
