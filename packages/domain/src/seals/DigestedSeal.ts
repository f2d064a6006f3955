import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { Seal, type SealDraft, type Signer, signedMembers, unsignedSeal } from "./Seal.ts"

/**
 * A seal over version 2 of the chain of a run, whose texts can be erased. Its version is a part of what is signed, so a
 * history cannot be passed off as one of another version. A seal without it is of version 1, the only one that the
 * service writes.
 */
export const DigestedSeal = Schema.Struct({
  ...Seal.fields,
  chain: Schema.Literal(2).annotate({ description: "Version of the chains of events and raw frames" })
}).annotate({ identifier: "DigestedSeal", description: "A seal of a run whose texts can be erased" })
export type DigestedSeal = typeof DigestedSeal.Type

const utf8 = new TextEncoder()

/** The bytes that are signed: everything but the signature. */
export const signedDigestedSeal = (seal: Omit<DigestedSeal, "signature">): Uint8Array =>
  utf8.encode(canonicalJson({ ...signedMembers(seal), chain: seal.chain }))

/** Seals a run; without a signer the seal is marked as unsigned. */
export const makeDigestedSeal = (draft: SealDraft, signer?: Signer): DigestedSeal => {
  const sealed = { ...unsignedSeal(draft, signer), chain: 2 as const }
  const signature = signer === undefined ? null : Hex.encode(signer.sign(signedDigestedSeal(sealed)))
  return { ...sealed, signature }
}
