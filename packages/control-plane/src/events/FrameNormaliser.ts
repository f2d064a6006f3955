import {
  builtinTokenPricing,
  makeNormaliser,
  makeRedactor,
  type Normaliser,
  parseTokenPricing,
  type TokenPricing,
  TokenPricingInvalid
} from "@runplane/domain"
import { decodePayload } from "@runplane/runtime"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** The pure normaliser with this deployment's redaction patterns and token prices. */
export class FrameNormaliser extends Context.Service<FrameNormaliser, Normaliser>()(
  "runplane/control-plane/FrameNormaliser"
) {
  static readonly layerFrom = (options: { readonly redactPatterns: string; readonly pricing: TokenPricing }) =>
    Layer.effect(
      FrameNormaliser,
      Effect.gen(function* () {
        const { invalid, redactor } = makeRedactor(options.redactPatterns)
        for (const pattern of invalid) {
          yield* Effect.logWarning(`PROTO_REDACT_PATTERNS: skipped the invalid pattern ${pattern}`)
        }
        return makeNormaliser({ decode: decodePayload, redactor, pricing: options.pricing })
      })
    )

  /** From `PROTO_REDACT_PATTERNS` and `PROTO_TOKEN_PRICING_FILE`; a pricing file that cannot be used stops the start. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const redactPatterns = yield* Config.String("PROTO_REDACT_PATTERNS").pipe(Config.withDefault(""))
      const pricingFile = yield* Config.String("PROTO_TOKEN_PRICING_FILE").pipe(Config.withDefault(""))
      const pricing = pricingFile === "" ? builtinTokenPricing : yield* readPricing(pricingFile)
      return FrameNormaliser.layerFrom({ redactPatterns, pricing })
    })
  )
}

const parseJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** Reads a file of token prices (http-details section 15, "cost table"). */
export const readPricing = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const json = yield* files.readFileString(path).pipe(
    Effect.flatMap(parseJson),
    Effect.mapError((error) => new TokenPricingInvalid({ detail: `${path}: ${error.message}` }))
  )
  return yield* Effect.fromResult(parseTokenPricing(json))
})
