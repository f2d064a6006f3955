import type { Sha256 } from "./Sha256.ts"

/** Bytes of a block of SHA-256. */
const BLOCK = 64

/** HMAC-SHA-256 (RFC 2104) of a message; 32 bytes. */
export const hmacSha256 = (sha256: Sha256, key: Uint8Array, message: Uint8Array): Uint8Array => {
  const block = new Uint8Array(BLOCK)
  block.set(key.length > BLOCK ? sha256(key) : key)
  const inner = sha256(
    block.map((byte) => byte ^ 0x36),
    message
  )
  return sha256(
    block.map((byte) => byte ^ 0x5c),
    inner
  )
}
