import {
  emptyPriceList,
  MAX_CATALOGUE_FILE,
  MAX_PRICE_FILE,
  type ModelPrices,
  makeModelPrices,
  PriceFileInvalid,
  readPriceFile
} from "@runplane/domain"
import { bundledCatalogue, CatalogueInvalid, catalogueOf } from "@runplane/prices"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

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

/**
 * Reads a file that replaces the bundled catalogue (docs/reference/prices.md#catalogue). Its version is the day of its
 * last change.
 */
export const readCatalogue = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const refuse = (error: { readonly message: string }) => new CatalogueInvalid({ detail: `${path}: ${error.message}` })
  const { mtime, size } = yield* Effect.mapError(files.stat(path), refuse)
  if (size > MAX_CATALOGUE_FILE) return yield* refuse({ message: `must have at most ${MAX_CATALOGUE_FILE} bytes` })
  const text = yield* Effect.mapError(files.readFileString(path), refuse)
  const version = Option.match(mtime, { onNone: () => "file", onSome: (at) => at.toISOString().slice(0, 10) })
  return yield* Effect.mapError(Effect.fromResult(catalogueOf(text, version)), refuse)
})

/** What models cost in this deployment (docs/reference/prices.md). */
export class Prices extends Context.Service<Prices, ModelPrices>()("runplane/control-plane/Prices") {
  /** From `PROTO_TOKEN_PRICING_FILE` and the bundled catalogue. Fails with `PriceFileInvalid` or `CatalogueInvalid`. */
  static readonly layer = Layer.effect(
    Prices,
    Effect.gen(function* () {
      const { catalogueFile, file, isCatalogueOn } = yield* readSettings({
        catalogueFile: ControlPlaneSettings.MODEL_PRICES_FILE,
        file: ControlPlaneSettings.PROTO_TOKEN_PRICING_FILE,
        isCatalogueOn: ControlPlaneSettings.MODEL_PRICE_CATALOGUE
      })
      const list = file === undefined ? emptyPriceList : yield* readPrices(file)
      if (!isCatalogueOn) return makeModelPrices(list)
      return makeModelPrices(list, catalogueFile === undefined ? bundledCatalogue : yield* readCatalogue(catalogueFile))
    })
  )
}
