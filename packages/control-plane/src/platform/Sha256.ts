import { createHash, hash } from "node:crypto"
import type { Sha256 } from "@runplane/domain"

/** SHA-256 of Node.js, for the functions of the domain. */
export const sha256: Sha256 = (...parts) => {
  const hashing = createHash("sha256")
  for (const part of parts) hashing.update(part)
  return hashing.digest()
}

/** SHA-256 of a text, hexadecimal. */
export const sha256Hex = (text: string): string => hash("sha256", text, "hex")
