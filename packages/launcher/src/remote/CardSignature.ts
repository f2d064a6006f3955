import { canonicalJson, type RemoteCard } from "@runplane/domain"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decodeProtectedHeader, flattenedVerify, importJWK } from "jose"
import { isJsonObject, type Json, type JsonObject } from "../common/Json.ts"

/** A signature of a card that is not one of its key. */
export class CardForged extends Data.TaggedError("CardForged")<{ readonly reason: string }> {}

const KeySet = Schema.fromJsonString(Schema.Struct({ keys: Schema.Array(Schema.JsonObject) }))
const decodeKeys = Schema.decodeUnknownEffect(KeySet)

/** Signatures of a card that are looked at. */
const MAX_SIGNATURES = 5
const ALGORITHMS: ReadonlyArray<string> = [
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
]

/**
 * What the signatures of a card prove, in words. Keys come from a `jku` at the origin of the card alone, so a valid
 * signature proves that the card is as its origin has published it. A signature of such a key that does not fit the
 * card is refused.
 */
export const verifyCard = Effect.fnUntraced(function* <E>(
  card: JsonObject,
  { signatures = [] }: RemoteCard,
  origin: string,
  fetchKeys: (address: string) => Effect.Effect<string, E>
) {
  if (signatures.length === 0) return "not signed"
  const { signatures: _, ...signed } = card
  const payload = Buffer.from(canonicalJson(withoutEmpty(signed) ?? {})).toString("base64url")
  const doubts: Array<string> = []
  for (const { header: _unprotected, ...signature } of signatures.slice(0, MAX_SIGNATURES)) {
    const { alg, jku, kid } = yield* Effect.orElseSucceed(
      Effect.try(() => decodeProtectedHeader(signature)),
      () => ({ alg: undefined, jku: undefined, kid: undefined })
    )
    if (alg === undefined || kid === undefined) {
      doubts.push("a protected header has no alg or no kid")
      continue
    }
    if (jku === undefined || !URL.canParse(jku) || new URL(jku).origin !== origin) {
      doubts.push("no jku at the origin of the card names its keys")
      continue
    }
    const keys = yield* Effect.orElseSucceed(Effect.flatMap(fetchKeys(jku), decodeKeys), () => undefined)
    if (keys === undefined) {
      doubts.push("its keys cannot be read")
      continue
    }
    const key = keys.keys.find((one) => one["kid"] === kid)
    if (key === undefined) {
      doubts.push("its keys do not have the key of the signature")
      continue
    }
    return yield* Effect.tryPromise({
      try: async () =>
        flattenedVerify({ ...signature, payload }, await importJWK({ ...key, kty: String(key["kty"]) }, alg), {
          algorithms: [...ALGORITHMS]
        }),
      catch: () => new CardForged({ reason: "its signature does not fit it, or is of another kind of key" })
    }).pipe(Effect.as("signed and verified with a key of its origin"))
  }
  return `signed, not verified: ${doubts[0] ?? ""}`
})

/** The canonical form of a card has no empty members: in protobuf they are the same as absent ones. */
const withoutEmpty = (value: Json): Json | undefined => {
  if (value === null || value === "") return undefined
  if (Array.isArray(value)) {
    const items = value.flatMap((item: Json) => withoutEmpty(item) ?? [])
    return items.length === 0 ? undefined : items
  }
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([name, item]) => {
    const kept = withoutEmpty(item)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}
