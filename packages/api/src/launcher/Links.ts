import { about, Field, isOfForm } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { AnswerRequest, InboxItem } from "./Inbox.ts"

const token = Schema.String.annotate(
  about("What the link has behind `#`: 32 random bytes, base64url", "Zm9yIG9uZSBxdWVzdGlvbiBvZiBvbmUgcGVyc29uLi4")
).check(isOfForm(/^[\w-]{43}$/))

/** The body of `POST /inbox/link/read` and `POST /inbox/link/code`. */
export const LinkRequest = Schema.Struct({ token }).annotate({
  identifier: "LinkRequest",
  description: "A personal link. It is in the body: addresses are logged"
})
export type LinkRequest = typeof LinkRequest.Type

/** The question of a personal link. */
export const LinkedItem = Schema.Struct({
  person: Field.text("Whose link it is", "dora"),
  codeTo: Field.text("Where codes are sent, in part", "d…@example.net"),
  expiresAt: Field.time("Until when the link takes an answer"),
  codesLeft: Field.integer("How many codes it can still send"),
  item: InboxItem
}).annotate({ identifier: "LinkedItem", description: "The question of a personal link" })
export type LinkedItem = typeof LinkedItem.Type

export const SentCode = Schema.Struct({
  codeTo: Field.text("Where the code was sent, in part", "d…@example.net"),
  codesLeft: Field.integer("How many codes the link can still send")
}).annotate({ identifier: "SentCode", description: "A code that was sent; it replaces the one before" })
export type SentCode = typeof SentCode.Type

const { passkey: _, ...answerFields } = AnswerRequest.fields

/** The body of `POST /inbox/link/answer`. */
export const LinkAnswerRequest = Schema.Struct({
  ...answerFields,
  token,
  code: Schema.String.annotate(about("The last code that was sent: six digits", "012345")).check(isOfForm(/^[0-9]{6}$/))
}).annotate({ identifier: "LinkAnswerRequest", description: "The answer of a person, by its link and a code" })
export type LinkAnswerRequest = typeof LinkAnswerRequest.Type
