/**
 * Reads a second public list of prices and writes what of it the tests compare with the catalogue, and the factors of
 * service tiers, which the catalogue lacks.
 *
 *   node scripts/second-prices.mjs FILE VERSION
 *
 * FILE is `litellm/model_prices_and_context_window_backup.json` of the Python package `litellm` (MIT), VERSION its
 * version.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const [file, version] = process.argv.slice(2)
if (file === undefined || version === undefined) {
  console.error("usage: node scripts/second-prices.mjs FILE VERSION")
  process.exit(2)
}

/** The providers whose models are compared, as the list names them, and as the catalogue does. */
const PROVIDERS = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "google",
  mistral: "mistral",
  xai: "x-ai",
  deepseek: "deepseek",
  cohere_chat: "cohere",
  groq: "groq",
  perplexity: "perplexity"
}
const TIERS = { batch: "batches", flex: "flex", priority: "priority" }

const mtok = (cost) => (typeof cost === "number" ? Number((cost * 1e6).toPrecision(6)) : undefined)
const nearly = (one, other) => Math.abs(one - other) < 0.005

const prices = {}
const tiers = {}
for (const [name, entry] of Object.entries(JSON.parse(readFileSync(file, "utf8"))).toSorted()) {
  const provider = PROVIDERS[entry.litellm_provider]
  if (provider === undefined || entry.mode !== "chat" || name.startsWith("ft:")) continue
  const [input, output] = [mtok(entry.input_cost_per_token), mtok(entry.output_cost_per_token)]
  if (!(input > 0) || !(output > 0)) continue
  const id = `${provider}/${name.slice(name.lastIndexOf("/") + 1)}`
  prices[id] ??= {
    input,
    output,
    cacheRead: mtok(entry.cache_read_input_token_cost),
    cacheWrite: mtok(entry.cache_creation_input_token_cost),
    cacheWriteHour: mtok(entry.cache_creation_input_token_cost_above_1hr)
  }
  const factors = {}
  for (const [tier, suffix] of Object.entries(TIERS)) {
    const [of, to] = [entry[`input_cost_per_token_${suffix}`], entry[`output_cost_per_token_${suffix}`]]
    if (typeof of !== "number" || typeof to !== "number") continue
    const [one, other] = [(of * 1e6) / input, (to * 1e6) / output]
    // One factor for both sides, or none.
    if (one > 0 && nearly(one, other)) factors[tier] = Number(one.toFixed(3))
  }
  if (Object.keys(factors).length > 0) tiers[id] ??= factors
}

const source = { list: "litellm", version, licence: "MIT" }
const write = (path, value) =>
  writeFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), `${JSON.stringify(value, undefined, 2)}\n`)
write("packages/prices/test/second-list.json", { ...source, prices })
const lines = Object.entries(tiers).map(([id, factors]) => {
  const members = Object.entries(factors).map(([tier, factor]) => `${tier}: ${factor}`)
  return `  ${JSON.stringify(id)}: { ${members.join(", ")} }`
})
const text = `/**
 * What the service tiers of models cost, as factors of their prices. Made by scripts/second-prices.mjs from
 * ${source.list} ${version} (${source.licence}).
 */
export const SERVICE_TIERS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
${lines.join(",\n")}
}
`
writeFileSync(fileURLToPath(new URL("../packages/prices/src/ServiceTiers.ts", import.meta.url)), text)
console.log(`${Object.keys(prices).length} prices, ${Object.keys(tiers).length} models with service tiers`)
