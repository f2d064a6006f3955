import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The algorithms of signed tokens. HS256 has to be enabled. */
export const TokenAlgorithm = Schema.Literals(["RS256", "ES256", "HS256"])
export type TokenAlgorithm = typeof TokenAlgorithm.Type

/** A key set as it is published. Keys of other kinds may be in it; they are passed over. */
export const JsonWebKeySet = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })
export type JsonWebKeySet = typeof JsonWebKeySet.Type

const common = {
  kid: Schema.optionalKey(Schema.String),
  alg: Schema.optionalKey(Schema.String),
  use: Schema.optionalKey(Schema.String)
}

const SigningKey = Schema.Union([
  Schema.Struct({ kty: Schema.Literal("RSA"), n: Schema.String, e: Schema.String, ...common }),
  Schema.Struct({
    kty: Schema.Literal("EC"),
    crv: Schema.Literal("P-256"),
    x: Schema.String,
    y: Schema.String,
    ...common
  }),
  Schema.Struct({ kty: Schema.Literal("oct"), k: Schema.String, ...common })
])

/** A key that can check signatures. */
export type SigningKey = typeof SigningKey.Type

/** The usable keys of a set, in its order. */
export const signingKeys = ({ keys }: JsonWebKeySet): ReadonlyArray<SigningKey> =>
  keys.flatMap((key) => Option.toArray(decodeKey(key)))

const decodeKey = Schema.decodeUnknownOption(SigningKey)
