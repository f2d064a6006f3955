import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { CATALOGUE_VERSION } from "@runplane/prices"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { Prices } from "../../../src/platform/deployment/Prices.ts"

const AT = Date.parse("2026-06-01T00:00:00Z")

/** The basis, the entry and the input rate of models under these settings. */
const pricesOf = (env: Record<string, string>, models: ReadonlyArray<string>) =>
  Prices.useSync((prices) =>
    models.map((model) => {
      const { basis, key, rates } = prices.find({ model, at: AT })
      return [model, basis, key, rates.input] as const
    })
  ).pipe(
    Effect.provide(Prices.layer),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.provide(NodeFileSystem.layer)
  )

const fileWith = (content: unknown) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const file = yield* files.makeTempFileScoped({ suffix: ".json" })
    yield* files.writeFileString(file, JSON.stringify(content))
    yield* files.utimes(file, new Date("2026-02-03T00:00:00Z"), new Date("2026-02-03T00:00:00Z"))
    return file
  }).pipe(Effect.provide(NodeFileSystem.layer))

const NAMES = ["gpt-4o", "vendor1-4o", "Vendor1 4o", "vendor1/vendor1-4o-2024-08-06", "unknown"]

describe("the prices of a deployment", () => {
  it.effect("have the catalogue and the names of agents without a setting", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* pricesOf({}, NAMES), [
        ["gpt-4o", "catalogue", `openai/gpt-4o@${CATALOGUE_VERSION}`, 2.5],
        ["vendor1-4o", "builtin", "builtin/vendor1-4o", 2.5],
        ["Vendor1 4o", "builtin", "builtin/vendor1-4o", 2.5],
        ["vendor1/vendor1-4o-2024-08-06", "builtin", "builtin/vendor1-4o", 2.5],
        ["unknown", "fallback", undefined, 1]
      ])
    })
  )

  it.effect("are the six exact names and the fallback with MODEL_PRICE_CATALOGUE=off", () =>
    Effect.gen(function* () {
      const found = yield* pricesOf({ MODEL_PRICE_CATALOGUE: "off", MODEL_PRICES_FILE: "/nowhere" }, NAMES)
      assert.deepStrictEqual(
        found.map(([, basis, , input]) => [basis, input]),
        [
          ["fallback", 1],
          ["builtin", 2.5],
          ["fallback", 1],
          ["fallback", 1],
          ["fallback", 1]
        ]
      )
    })
  )

  it.effect("are those of MODEL_PRICES_FILE with its date, below those of PROTO_TOKEN_PRICING_FILE", () =>
    Effect.gen(function* () {
      const models = [{ id: "our-model", match: { starts_with: "our-" }, prices: { input_mtok: 4, output_mtok: 8 } }]
      const catalogue = yield* fileWith([
        { id: "ours", name: "Ours", api_pattern: "x", model_match: models[0]?.match, models }
      ])
      const file = yield* fileWith({ models: { "our-2": { prompt: 7, completion: 7 } } })
      const env = { MODEL_PRICES_FILE: catalogue, PROTO_TOKEN_PRICING_FILE: file }
      assert.deepStrictEqual(yield* pricesOf(env, ["our-1", "our-2", "gpt-4o"]), [
        ["our-1", "catalogue", "ours/our-model@2026-02-03", 4],
        ["our-2", "override", "file/our-2", 7],
        ["gpt-4o", "fallback", undefined, 1]
      ])
    }).pipe(Effect.scoped)
  )
})
