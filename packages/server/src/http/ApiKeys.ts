import type { Actor, Role } from "@runplane/api"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"

const ACTOR_HASH_BYTES = 4

/**
 * The actor of each key: its name, or `key:` and the first 8 hexadecimal digits of its SHA-256, so that no key shows up
 * in records. Names are for readers of the audit log: a key that is replaced keeps its name there, and keys of one name
 * share one rate budget. A key without a role is an administrator's.
 */
export const actorsOf = (
  keys: ReadonlyArray<string>,
  names: ReadonlyArray<string> = [],
  roles: ReadonlyArray<Role> = []
) =>
  Effect.gen(function* () {
    const digest = yield* Digest.Digest
    return yield* Effect.forEach(keys, (key, index) =>
      Effect.map(digest.digest(Digest.sha256, new TextEncoder().encode(key)), (hash): Actor => {
        const digits = Array.from(hash.slice(0, ACTOR_HASH_BYTES), (byte) => byte.toString(16).padStart(2, "0"))
        const actorId = names[index] || `key:${digits.join("")}`
        return { actorId, actorType: "api-key", role: roles[index] ?? "admin" }
      })
    )
  })

/**
 * The index of a token among the keys, or -1. Always compares with every key over the length of the longest, so the
 * time does not reveal how much of a key was right.
 */
export const indexOfKey = (keys: ReadonlyArray<string>, token: string): number => {
  const length = keys.reduce((longest, key) => Math.max(longest, key.length), 0)
  let found = -1
  keys.forEach((key, index) => {
    let difference = key.length ^ token.length
    // Past the end of a text charCodeAt gives NaN, which the bit operators read as 0.
    for (let at = 0; at < length; at++) difference |= key.charCodeAt(at) ^ token.charCodeAt(at)
    if (difference === 0) found = index
  })
  return found
}
