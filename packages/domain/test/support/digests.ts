import { createHash, createPublicKey, verify } from "node:crypto"

/** SHA-256 for the functions of the domain. */
export const sha256 = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** SHA-1 for the ids of the domain. */
export const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest()

/** The check of Ed25519 signatures for the functions of the domain. */
export const ed25519 = (x: string, message: Uint8Array, signature: Uint8Array): boolean =>
  verify(null, message, createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }), signature)
