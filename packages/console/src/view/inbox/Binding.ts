import { sha256 as digest } from "@noble/hashes/sha2.js"
import type { InboxItem } from "@runplane/api"
import { proposalHash, type Sha256, sha256Hex } from "@runplane/domain"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { type PayloadField, payloadFields } from "./PayloadText.ts"

/** SHA-256 in the browser: its own one is asynchronous, and absent on a page without TLS. */
export const sha256: Sha256 = (...parts) => {
  const hash = digest.create()
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Whether this browser found that the item is what its hash says. */
export type Binding =
  | { readonly isBound: true; readonly fields: ReadonlyArray<PayloadField> | undefined }
  /** Why no answer is sent. */
  | { readonly isBound: false; readonly why: string }

const unbound = (why: string): Binding => ({ isBound: false, why })

/**
 * Decodes the bytes of the payload and computes both hashes from them: what the page shows is what the answer is bound
 * to, whatever the service says beside it.
 */
export const bindingOf = ({
  hashed,
  payload,
  proposalHash: stated,
  sessionId
}: Pick<InboxItem, "hashed" | "payload" | "proposalHash" | "sessionId">): Binding => {
  const { subject } = hashed
  const { nonce } = subject
  if (nonce === undefined) return unbound("The hash cannot be computed: its nonce was erased.")
  const bytes = Result.getOrUndefined(Base64.decode(payload.base64))
  if (bytes === undefined) return unbound("The bytes of the proposal cannot be read.")
  if (sha256Hex(sha256, bytes) !== subject.payloadSha256) {
    return unbound("The bytes of the proposal are not those that its hash was made from.")
  }
  if (hashed.sessionId !== sessionId) return unbound("The hash is about another session.")
  const computed = proposalHash(sha256, { ...hashed, subject: { ...subject, nonce } })
  if (computed !== stated) {
    return unbound(`The hash of the item is ${stated.slice(0, 8)}, and this browser computes ${computed.slice(0, 8)}.`)
  }
  return { isBound: true, fields: payloadFields(payload.type, bytes) }
}
