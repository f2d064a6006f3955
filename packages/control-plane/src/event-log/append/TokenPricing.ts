import {
  builtinTokenPricing,
  type TokenPricing as Pricing,
  parseTokenPricing,
  TokenPricingInvalid
} from "@runplane/domain"
import { ControlPlaneSettings, readSetting } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const parseJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** Reads a file of token prices, in US dollars per 1,000,000 tokens. */
export const readPricing = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const json = yield* files.readFileString(path).pipe(
    Effect.flatMap(parseJson),
    Effect.mapError((error) => new TokenPricingInvalid({ detail: `${path}: ${error.message}` }))
  )
  return yield* Effect.fromResult(parseTokenPricing(json))
})

/** What models cost in this deployment. */
export class TokenPricing extends Context.Service<TokenPricing, Pricing>()("runplane/control-plane/TokenPricing") {
  /** From `PROTO_TOKEN_PRICING_FILE`, built in without it. Fails with `TokenPricingInvalid`. */
  static readonly layer = Layer.effect(
    TokenPricing,
    Effect.gen(function* () {
      const path = yield* readSetting(ControlPlaneSettings.PROTO_TOKEN_PRICING_FILE)
      return path === undefined ? builtinTokenPricing : yield* readPricing(path)
    })
  )
}
