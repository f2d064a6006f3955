import {
  emptyPriceList,
  MAX_CATALOGUE_FILE,
  MAX_PRICE_FILE,
  type ModelPrices,
  makeModelPrices,
  readPriceFile
} from "@runplane/domain"
import { bundledCatalogue, catalogueOf } from "@runplane/prices"
import { ControlPlaneSettings, fileProblem, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/** A file of prices that the service cannot use: every fault, behind its path. */
export class PricesUnusable extends Data.TaggedError("PricesUnusable")<{
  readonly path: string
  readonly why: string
}> {
  override get message(): string {
    return `${this.path}: ${this.why}`
  }
}

/** The text of a file, and its last change. */
const readFile = Effect.fnUntraced(function* (path: string, most: number) {
  const files = yield* FileSystem.FileSystem
  const unusable = (why: string) => new PricesUnusable({ path, why })
  const { mtime, size, type } = yield* Effect.mapError(files.stat(path), (error) => unusable(fileProblem(error)))
  if (type !== "File") return yield* unusable("it is not a file")
  if (Number(size) > most) return yield* unusable(`it must have at most ${most} bytes`)
  const text = yield* Effect.mapError(files.readFileString(path), (error) => unusable(fileProblem(error)))
  return { text, mtime }
})

/** Reads a price file (docs/reference/prices.md#price-file). Fails with all its faults. */
export const readPrices = Effect.fnUntraced(function* (path: string) {
  const { text } = yield* readFile(path, MAX_PRICE_FILE)
  return yield* Effect.mapError(
    Effect.fromResult(readPriceFile(text)),
    ({ message }) => new PricesUnusable({ path, why: message })
  )
})

/**
 * Reads a file that replaces the bundled catalogue (docs/reference/prices.md#catalogue). Its version is the day of its
 * last change.
 */
export const readCatalogue = Effect.fnUntraced(function* (path: string) {
  const { mtime, text } = yield* readFile(path, MAX_CATALOGUE_FILE)
  const version = Option.match(mtime, { onNone: () => "file", onSome: (at) => at.toISOString().slice(0, 10) })
  return yield* Effect.mapError(
    Effect.fromResult(catalogueOf(text, version)),
    ({ message }) => new PricesUnusable({ path, why: message })
  )
})

/** What models cost in this deployment (docs/reference/prices.md). */
export class Prices extends Context.Service<Prices, ModelPrices>()("runplane/control-plane/Prices") {
  /** From `PROTO_TOKEN_PRICING_FILE` and the bundled catalogue. Fails with `PricesUnusable`. */
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
