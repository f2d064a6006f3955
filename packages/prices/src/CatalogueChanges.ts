import { type Provider, REMOTE_DATA_JSON_URL } from "@pydantic/genai-prices"
import * as Result from "effect/Result"
import { bundledProviders, type CatalogueInvalid, providersOf } from "./Catalogue.ts"

/** Where the maintainers of the package publish the newest list, in the form that `catalogueOf` reads. */
export const CATALOGUE_URL: string = REMOTE_DATA_JSON_URL

/** What a list of prices has, and where it differs from another one. Models are named `openai/gpt-4o`. */
export interface CatalogueChanges {
  readonly providers: number
  readonly models: number
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

/**
 * Reads the text of a catalogue file and compares it with an earlier one. Without one, and where that is not a
 * catalogue, it compares with the bundled prices.
 */
export const compareCatalogues = (
  text: string,
  before: string | undefined
): Result.Result<CatalogueChanges, CatalogueInvalid> =>
  Result.map(providersOf(text), (providers) => {
    const earlier = before === undefined ? Result.succeed(bundledProviders) : providersOf(before)
    const [old, next] = [pricesOf(Result.getOrElse(earlier, () => bundledProviders)), pricesOf(providers)]
    return {
      providers: providers.length,
      models: next.size,
      added: [...next.keys()].filter((name) => !old.has(name)),
      changed: [...next].flatMap(([name, prices]) => (old.has(name) && old.get(name) !== prices ? [name] : [])),
      removed: [...old.keys()].filter((name) => !next.has(name))
    }
  })

/** The prices of each model as text that is equal for equal prices. */
const pricesOf = (providers: ReadonlyArray<Provider>): ReadonlyMap<string, string> =>
  new Map(providers.flatMap(({ id, models }) => models.map((model) => [`${id}/${model.id}`, sorted(model.prices)])))

/** JSON with the keys of objects in order. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part
  )
