import * as Schema from "effect/Schema"
import { boundedText, nonceText, timeText } from "./ArtifactTexts.ts"

/** Characters of a question. */
export const MAX_QUESTION = 4_000

/** A question of a person to the agents, as the log of the control plane keeps it. Nothing goes into the session. */
export const PeopleQuestion = Schema.Struct({
  v: Schema.Literal(1),
  item: boundedText,
  seat: boundedText,
  person: boundedText,
  text: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_QUESTION)),
  askedAt: timeText,
  nonce: nonceText
}).annotate({ identifier: "PeopleQuestion", description: "A question of a person to the agents of a session" })
export type PeopleQuestion = typeof PeopleQuestion.Type
