import * as Base64Url from "effect/encoding/Base64Url"
import { hmacSha256 } from "../values/HmacSha256.ts"
import type { Sha256 } from "../values/Sha256.ts"

/** Bytes of a seed and of a salt. */
export const SALT_BYTES = 16

const utf8 = new TextEncoder()

/**
 * The salt of a member, base64url: HMAC-SHA-256 of its JSON pointer under the seed of its event, cut to 16 bytes. So
 * one seed stands for the salts of all members. After an erasure only the salts of the remaining members are kept, from
 * which neither the seed nor the salt of the erased one can be computed.
 */
export const memberSalt = (sha256: Sha256, seed: Uint8Array, pointer: string): string =>
  Base64Url.encode(hmacSha256(sha256, seed, utf8.encode(pointer)).subarray(0, SALT_BYTES))

/**
 * The digest of a member, base64url, exactly as that of an SD-JWT disclosure (RFC 9901): SHA-256 over the ASCII bytes
 * of the base64url of `["<salt>","<JSON pointer>",<value's text>]` as UTF-8. The pointer is in the position of the
 * name, so a value cannot move to another member, not even to one of the same name elsewhere in the event.
 */
export const memberDigest = (sha256: Sha256, salt: string, pointer: string, value: Uint8Array): string => {
  const before = utf8.encode(`${JSON.stringify([salt, pointer]).slice(0, -1)},`)
  const disclosure = new Uint8Array(before.length + value.length + 1)
  disclosure.set(before)
  disclosure.set(value, before.length)
  disclosure[disclosure.length - 1] = CLOSE_LIST
  return Base64Url.encode(sha256(utf8.encode(Base64Url.encode(disclosure))))
}

const CLOSE_LIST = 0x5d
