import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { parseExactJson } from "../values/ExactJson.ts"
import { arrayAt, isJsonObject, textAt } from "../values/JsonReader.ts"

/** Public Ed25519 keys: of each key id the `x` of its JSON Web Key, base64url. */
export type ReceiptKeys = ReadonlyMap<string, string>

export const NO_RECEIPT_KEYS: ReceiptKeys = new Map()

/** Characters of a key set that is read. */
export const MAX_KEY_SET_CHARS = 256 * 1024
/** Keys of one set. */
const MAX_KEYS = 1_000
/** 32 bytes as base64url without padding. */
const COORDINATE = /^[A-Za-z0-9_-]{43}$/

/**
 * Reads a JSON Web Key Set, or a single key. Keys of other kinds are left out. Fails with the reason for a text that is
 * not a set, for an Ed25519 key without id or coordinate, and for an id that names two keys.
 */
export const readReceiptKeys = (text: string): Result.Result<ReceiptKeys, string> => {
  if (text.length > MAX_KEY_SET_CHARS) return Result.fail(`the key set is longer than ${MAX_KEY_SET_CHARS} characters`)
  return receiptKeysOf(parseExactJson(text)?.value)
}

/** The same for a key set that is parsed already. */
export const receiptKeysOf = (value: unknown): Result.Result<ReceiptKeys, string> => {
  if (!isObject(value)) return Result.fail("the key set is not a JSON object")
  const listed = "keys" in value ? arrayAt(value, "keys") : [value]
  if (listed === undefined) return Result.fail("the keys of the key set are not a list")
  if (listed.length > MAX_KEYS) return Result.fail(`the key set has more than ${MAX_KEYS} keys`)
  const keys = new Map<string, string>()
  for (const key of listed) {
    if (!isJsonObject(key) || key["kty"] !== "OKP" || key["crv"] !== "Ed25519") continue
    const kid = textAt(key, "kid")
    const x = textAt(key, "x")
    if (kid === undefined) return Result.fail("a key of the key set has no id (kid)")
    if (x === undefined || !COORDINATE.test(x)) return Result.fail("a key of the key set has no valid coordinate (x)")
    if ((keys.get(kid) ?? x) !== x) return Result.fail("the key set has one id for two keys")
    keys.set(kid, x)
  }
  return Result.succeed(keys)
}

const isObject = (value: unknown): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
