import {
  emptyPriceList,
  MAX_PRICE_FILE,
  type ModelPrices,
  makeModelPrices,
  PriceFileInvalid,
  readPriceFile
} from "@runplane/domain"
import { bundledCatalogue } from "@runplane/domain/catalogue"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"

/** Reads a price file (docs/reference/prices.md#price-file). Fails with all its faults. */
export const readPrices = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const refuse = (error: { readonly message: string }) =>
    new PriceFileInvalid({ faults: [`${path}: ${error.message}`] })
  const { size } = yield* Effect.mapError(files.stat(path), refuse)
  if (size > MAX_PRICE_FILE) return yield* refuse({ message: `must have at most ${MAX_PRICE_FILE} bytes` })
  const text = yield* Effect.mapError(files.readFileString(path), refuse)
  return yield* Effect.mapError(Effect.fromResult(readPriceFile(text)), refuse)
})

/** What models cost in this deployment (docs/reference/prices.md). */
export class Prices extends Context.Service<Prices, ModelPrices>()("runplane/control-plane/Prices") {
  /** From `PROTO_TOKEN_PRICING_FILE` and the bundled catalogue. Fails with `PriceFileInvalid`. */
  static readonly layer = Layer.effect(
    Prices,
    Effect.gen(function* () {
      const { file, isCatalogueOn } = yield* readSettings({
        file: ControlPlaneSettings.PROTO_TOKEN_PRICING_FILE,
        isCatalogueOn: ControlPlaneSettings.MODEL_PRICE_CATALOGUE
      })
      const list = file === undefined ? emptyPriceList : yield* readPrices(file)
      return makeModelPrices(list, isCatalogueOn ? bundledCatalogue : undefined)
    })
  )
}
