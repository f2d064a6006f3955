import * as Schema from "effect/Schema"
import { type AnswerFact, AnswerProof, SHOWN_HASH_SIGNS } from "../events/PeopleFacts.ts"
import { AnswerAct } from "./AnswerAct.ts"
import { boundedText, nonceText, sha256Text, timeText } from "./ArtifactTexts.ts"
import { Basis } from "./Basis.ts"
import { PasskeyRecord } from "./passkeys/PasskeyProof.ts"

const optional = Schema.optionalKey

/** Messages after a basis that an answer names, the first ones. */
export const MAX_UNSEEN = 1_000

const MAX_ESCALATIONS = 50

/**
 * An answer as the log of the control plane keeps it, once for each item. It is the only proof of who answered: a line
 * in a reason can be written by any agent.
 */
export const PeopleAnswer = Schema.Struct({
  v: Schema.Literal(1),
  item: boundedText,
  seat: boundedText,
  /** An act of the deadline is not the vote of a person. */
  origin: Schema.Literals(["person", "deadline"]),
  person: optional(boundedText),
  onBehalfOf: optional(boundedText),
  proof: optional(AnswerProof),
  act: AnswerAct,
  recommendation: optional(boundedText),
  confidence: optional(Schema.Finite),
  severity: optional(boundedText),
  /** The accepted message: its id, its ordinal in the session, and the SHA-256 of its payload's bytes. */
  messageId: boundedText,
  ordinal: Schema.Int,
  payloadSha256: sha256Text,
  proposalHash: sha256Text,
  basis: Basis,
  /** Messages after the basis and before the own one. */
  unseen: Schema.Array(Schema.Struct({ ordinal: Schema.Int, type: boundedText })).check(Schema.isMaxLength(MAX_UNSEEN)),
  askedAt: timeText,
  seenAt: optional(timeText),
  answeredAt: timeText,
  deadline: optional(timeText),
  /** The steps that were made before the answer. */
  escalations: optional(
    Schema.Array(
      Schema.Struct({ step: Schema.Int.check(Schema.isGreaterThan(0)), at: timeText, to: Schema.Array(boundedText) })
    ).check(Schema.isMaxLength(MAX_ESCALATIONS))
  ),
  channel: boundedText,
  /** What the person could see before the answer: votes of others, by the rules of the seat or by another right. */
  revealed: Schema.Literals(["after", "before"]),
  couldHaveSeen: Schema.Boolean,
  /** How its passkey has signed it. */
  passkey: optional(PasskeyRecord),
  nonce: nonceText
})
  .check(
    Schema.makeFilter(({ passkey, proof }) =>
      (proof === "passkey") === (passkey !== undefined)
        ? undefined
        : { path: ["passkey"], issue: "an answer with the proof passkey has it, and no other" }
    )
  )
  .check(
    Schema.makeFilter(({ onBehalfOf, origin, person }) =>
      (origin === "person") !== (person !== undefined)
        ? { path: ["person"], issue: "an answer of a person has one, an act of the deadline has none" }
        : onBehalfOf !== undefined && (person === undefined || onBehalfOf === person)
          ? { path: ["onBehalfOf"], issue: "a person answers for another one" }
          : undefined
    )
  )
  .annotate({ identifier: "PeopleAnswer", description: "Which person gave an answer, when, and what it is bound to" })
export type PeopleAnswer = typeof PeopleAnswer.Type

/** What the event of the artifact says: its content without free text. */
export const answerFactOf = (answer: PeopleAnswer): AnswerFact => {
  const { answeredAt, askedAt, deadline, item, messageId, onBehalfOf, person, proof, proposalHash, revealed, seat } =
    answer
  const unseen: Record<string, number> = {}
  for (const { type } of answer.unseen) unseen[type] = (unseen[type] ?? 0) + 1
  return {
    item,
    seat,
    messageId,
    hash: proposalHash.slice(0, SHOWN_HASH_SIGNS),
    unseen,
    askedAt,
    answeredAt,
    revealed,
    ...(person !== undefined && { person }),
    ...(onBehalfOf !== undefined && { onBehalfOf }),
    ...(proof !== undefined && { proof }),
    ...(deadline !== undefined && { deadline })
  }
}
