import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto"
import type { SealPublicKey } from "@runplane/api"
import type { Sha256, SignatureCheck } from "@runplane/domain"

export const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Looks up signatures by the public keys of a service. Throws for a key that is not valid. */
export const checkBy = (keys: ReadonlyArray<SealPublicKey>): SignatureCheck => {
  const known: ReadonlyMap<string, KeyObject> = new Map(
    keys.map(({ crv, kid, kty, x }) => [kid, createPublicKey({ key: { crv, kty, x }, format: "jwk" })] as const)
  )
  return (keyId, message, signature) => {
    const key = known.get(keyId)
    return key && verify(null, message, key, signature)
  }
}
