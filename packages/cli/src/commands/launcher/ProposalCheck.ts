import { createHash } from "node:crypto"
import type { InboxItem } from "@runplane/api"
import { proposalHash, type Sha256, sha256Hex } from "@runplane/domain"

const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Signs of the hash that a person types: enough to notice another proposal. */
export const TYPED_SIGNS = 8

/**
 * The hash of an item's proposal, computed from the bytes of its payload and not taken from the service; undefined for
 * an item whose texts are erased.
 */
export const computedHash = ({ hashed, payload }: Pick<InboxItem, "hashed" | "payload">): string | undefined => {
  const { nonce, ...subject } = hashed.subject
  if (nonce === undefined) return undefined
  const payloadSha256 = sha256Hex(sha256, Buffer.from(payload.base64, "base64"))
  return proposalHash(sha256, { ...hashed, subject: { ...subject, payloadSha256, nonce } })
}

/** Why an item cannot be answered from here; undefined for one whose hash is that of its bytes. */
export const hashFault = (item: Pick<InboxItem, "hashed" | "payload" | "proposalHash">): string | undefined => {
  const computed = computedHash(item)
  if (computed === undefined) return "the texts of this item are erased"
  return computed === item.proposalHash
    ? undefined
    : `the hash of the proposal is ${computed}, and the service says ${item.proposalHash}: nothing was sent`
}
