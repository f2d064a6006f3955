import * as Hex from "effect/encoding/Hex"

/** A UUID of the first 128 bits of a hash, with a version and the variant of RFC 9562. `hex` is lower case. */
export const uuidOfHash = (hex: string, version: 4 | 5 | 8): string => {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Namespace of names: a constant UUID of this project. */
const NAMESPACE = Uint8Array.from([
  0x6e, 0x1d, 0x5a, 0x0c, 0x41, 0xb3, 0x4f, 0x0e, 0x9c, 0x27, 0x5b, 0x8f, 0x02, 0xd4, 0x7a, 0x91
])

/** UUID of version 5 (RFC 9562) of a name. `sha1` is SHA-1 of bytes. */
export const uuidV5 = (sha1: (bytes: Uint8Array) => Uint8Array, name: string): string => {
  const text = new TextEncoder().encode(name)
  const bytes = new Uint8Array(NAMESPACE.length + text.length)
  bytes.set(NAMESPACE)
  bytes.set(text, NAMESPACE.length)
  return uuidOfHash(Hex.encode(sha1(bytes)), 5)
}
