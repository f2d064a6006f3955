import * as Base64Url from "effect/encoding/Base64Url"
import type * as Schema from "effect/Schema"
import { canonicalJson } from "../../values/CanonicalJson.ts"
import type { Sha256 } from "../../values/Sha256.ts"
import type { AnswerContent } from "../AnswerAct.ts"

/** Everything of an answer that a passkey signs. */
export interface SignedAnswer extends AnswerContent {
  readonly item: string
  readonly proposalHash: string
  readonly basis: { readonly ordinal: number; readonly sha256: string }
  /** 32 random bytes, hexadecimal: used once, and without it a short reason could be guessed from the challenge. */
  readonly nonce: string
}

const utf8 = new TextEncoder()

/** The text whose SHA-256 a passkey signs: canonical JSON. An act without a member has none in the text. */
export const signedText = (answer: SignedAnswer): string => {
  const { act, basis, confidence, item, nonce, proposalHash, reason, recommendation, severity } = answer
  const value: Schema.JsonObject = {
    v: 1,
    item,
    proposalHash,
    basis: { ordinal: basis.ordinal, sha256: basis.sha256 },
    act,
    ...(recommendation !== undefined && { recommendation }),
    ...(confidence !== undefined && { confidence }),
    ...(severity !== undefined && { severity }),
    reason,
    nonce
  }
  return canonicalJson(value)
}

/**
 * The challenge of a passkey, as the client data of its assertion has it. The page in the browser, the launch service
 * and the verification of an export compute it with this function.
 */
export const passkeyChallenge = (sha256: Sha256, text: string): string => Base64Url.encode(sha256(utf8.encode(text)))
