import { createPublicKey, verify } from "node:crypto"
import {
  answersInExport,
  checkPasskey,
  checkSignedMessage,
  type ExportedAnswer,
  type PasskeyTools,
  type PasskeyVerdict,
  PeopleAnswer
} from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { sha256 } from "./SealKeys.ts"

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")

const tools: PasskeyTools = {
  sha256,
  verifyEs256: ({ x, y }, message, signature) => {
    try {
      const jwk = { kty: "EC", crv: "P-256", x: base64url(x), y: base64url(y) }
      return verify("sha256", message, createPublicKey({ key: jwk, format: "jwk" }), signature)
    } catch {
      // No point of the curve, so no key.
      return false
    }
  }
}

const readAnswer = Schema.decodeUnknownOption(PeopleAnswer)

const verdictOf = ({ content, message }: ExportedAnswer): PasskeyVerdict | undefined => {
  if (content === undefined) return { _tag: "erased" }
  const answer = Option.getOrUndefined(readAnswer(content))
  if (answer?.passkey === undefined) {
    const isSigned = content["passkey"] !== undefined || content["proof"] === "passkey"
    return isSigned ? { _tag: "invalid", why: "its record cannot be read" } : undefined
  }
  const verdict = checkPasskey(tools, answer, answer.passkey)
  if (verdict._tag !== "valid") return verdict
  return message === undefined
    ? { _tag: "invalid", why: "its message is not in the session" }
    : checkSignedMessage(answer, verdict.reason, message)
}

/** What is proved of the answers of an export, and why a passkey of one proves nothing. */
export interface SignedAnswers {
  readonly valid: number
  /** Answers whose text or record is erased, so that a signature says nothing about it. */
  readonly erased: number
  /** Answers by a personal link: the weakest proof. */
  readonly byLink: number
  readonly why: string | undefined
}

/** Checks the answers of people in an export that a passkey has signed (docs/reference/people.md#passkeys). */
export const signedAnswers = (bytes: Uint8Array): SignedAnswers => {
  const counts = { valid: 0, erased: 0, byLink: 0 }
  for (const [index, answer] of answersInExport(bytes).entries()) {
    const verdict = verdictOf(answer)
    if (answer.content?.["proof"] === "link") counts.byLink += 1
    if (verdict === undefined) continue
    if (verdict._tag === "invalid")
      return { ...counts, why: `the passkey of answer ${index + 1} proves nothing: ${verdict.why}` }
    counts[verdict._tag] += 1
  }
  return { ...counts, why: undefined }
}

/** In words; undefined without any. */
export const signedAnswersText = ({ byLink, erased, valid }: SignedAnswers): string | undefined => {
  const parts = [
    ...(valid > 0 ? [`${valid} signed by a passkey`] : []),
    ...(byLink > 0 ? [`${byLink} by a personal link, the weakest proof: without a sign-in`] : []),
    ...(erased > 0 ? [`${erased} erased, so what was signed is not known`] : [])
  ]
  return parts.length === 0 ? undefined : parts.join("; ")
}
