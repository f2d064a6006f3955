import { type PasskeyRecord, PeopleAnswer, readSignedText, reasonWithLine } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Redactor } from "../platform/deployment/Redactor.ts"

const readAnswer = Schema.decodeUnknownOption(PeopleAnswer)

/**
 * The record of an answer without what a passkey has signed, where redaction changes the record or the reason in the
 * session: then the signature is about a text that the log does not have. Other records stay as they are.
 */
export const withoutUnprovable = (
  redactor: Redactor["Service"],
  given: Schema.JsonObject,
  redacted: Schema.JsonObject
): Schema.JsonObject => {
  const answer = Option.getOrUndefined(readAnswer(given))
  if (answer?.passkey === undefined) return redacted
  const { item, passkey, person, proposalHash } = answer
  const { reason } = readSignedText(passkey.signed) ?? { reason: "" }
  const message = reasonWithLine(reason, { person, item, proposalHash })
  const isSame = JSON.stringify(given) === JSON.stringify(redacted) && redactor.text(message) === message
  const erased: PasskeyRecord = { ...passkey, signed: "" }
  return isSame ? redacted : { ...redacted, passkey: { ...erased } }
}
