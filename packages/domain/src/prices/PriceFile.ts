import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { jsonLine } from "./JsonLines.ts"
import { MAX_MODEL_NAME, type ModelName, modelNames, providerName } from "./ModelNames.ts"
import type { Rates } from "./Rates.ts"
import { patternFault } from "./SafePattern.ts"

/** Bytes of a price file. */
export const MAX_PRICE_FILE = 1_048_576
/** Entries of `prices`. */
const MAX_ENTRIES = 10_000
const MAX_RATE = 1_000_000
const MAX_TIERS = 20
const MAX_LISTED_FAULTS = 50

const Rate = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: MAX_RATE }))
const OldEntry = Schema.Struct({ prompt: Rate, completion: Rate })
const Name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_MODEL_NAME))
const isoDate = (text: string) =>
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z)?$/.test(text) && !Number.isNaN(Date.parse(text))
const IsoDate = Schema.String.check(
  Schema.makeFilter((text: string) => isoDate(text) || "must be a date such as 2026-01-31")
)
const Pattern = Schema.String.check(
  Schema.isMinLength(1),
  Schema.makeFilter((text: string) => patternFault(text) ?? true)
)

const Match = Schema.Struct({
  equals: Schema.optionalKey(Name),
  startsWith: Schema.optionalKey(Name),
  endsWith: Schema.optionalKey(Name),
  contains: Schema.optionalKey(Name),
  regex: Schema.optionalKey(Pattern)
}).check(
  Schema.makeFilter(
    (match) => Object.keys(match).length === 1 || "must have one of equals, startsWith, endsWith, contains, regex"
  )
)
const Tier = Schema.Struct({
  above: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 })),
  input: Schema.optionalKey(Rate),
  output: Schema.optionalKey(Rate),
  cacheRead: Schema.optionalKey(Rate)
})
const Entry = Schema.Struct({
  match: Match,
  provider: Schema.optionalKey(Name),
  from: Schema.optionalKey(IsoDate),
  input: Rate,
  output: Rate,
  cacheRead: Schema.optionalKey(Rate),
  cacheWrite: Schema.optionalKey(Rate),
  reasoning: Schema.optionalKey(Rate),
  tiers: Schema.optionalKey(Schema.Array(Tier).check(Schema.isMaxLength(MAX_TIERS))),
  batchFactor: Schema.optionalKey(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 10 })))
})

/** The price file of a deployment, `PROTO_TOKEN_PRICING_FILE` (docs/reference/prices.md#price-file). */
const PriceFileJson = Schema.Struct({
  models: Schema.optionalKey(Schema.Record(Schema.String, OldEntry)),
  aliases: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  fallback: Schema.optionalKey(OldEntry),
  prices: Schema.optionalKey(Schema.Array(Entry).check(Schema.isMaxLength(MAX_ENTRIES)))
}).annotate({ identifier: "PriceFile" })
type Entry = typeof Entry.Type

/** The price file cannot be used; `faults` has a line for each fault, at most 50. */
export class PriceFileInvalid extends Data.TaggedError("PriceFileInvalid")<{ readonly faults: ReadonlyArray<string> }> {
  override get message(): string {
    return this.faults.join("; ")
  }
}

/** A price of a deployment's own list, and the name of its entry. */
export interface ListedPrice {
  readonly rates: Rates
  readonly entry: string
}

/** The prices of a deployment. */
export interface PriceList {
  /** The price of a model at a time (milliseconds of the epoch), by its names, the most exact one first. */
  readonly find: (names: ReadonlyArray<ModelName>, at: number) => ListedPrice | undefined
  /** The price of models that no list has. */
  readonly fallback: Rates
}

export const FALLBACK_RATES: Rates = { input: 1, output: 3 }

/** The models that the specification prices. */
export const BUILTIN_RATES: ReadonlyMap<string, Rates> = new Map([
  ["vendor1-4o", { input: 2.5, output: 10 }],
  ["vendor1-4o-mini", { input: 0.15, output: 0.6 }],
  ["vendor1-4-turbo", { input: 10, output: 30 }],
  ["vendor2-3-opus", { input: 15, output: 75 }],
  ["vendor2-3-sonnet", { input: 3, output: 15 }],
  ["vendor2-3-haiku", { input: 0.25, output: 1.25 }]
])

/** The list of a deployment without a price file. */
export const emptyPriceList: PriceList = { find: () => undefined, fallback: FALLBACK_RATES }

const decodeFile = Schema.decodeUnknownResult(PriceFileJson, { onExcessProperty: "error", errors: "all" })
const listIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads the text of a price file; fails with all faults at once, each with its line and field. */
export const readPriceFile = (text: string): Result.Result<PriceList, PriceFileInvalid> => {
  const json = parsed(text)
  if (Result.isFailure(json)) return Result.fail(new PriceFileInvalid({ faults: [json.failure] }))
  const file = decodeFile(json.success)
  const at = (path: ReadonlyArray<PropertyKey>, problem: string) =>
    `line ${jsonLine(text, path)}: ${path.length === 0 ? "the file" : fieldOf(path)} ${problem}`
  const faults = Result.isFailure(file)
    ? listIssues(file.failure.issue).issues.map(({ message, path = [] }) =>
        at(
          path.map((key) => (typeof key === "object" ? key.key : key)),
          problemOf(message)
        )
      )
    : aliasFaults(file.success).map(({ path, problem }) => at(path, problem))
  if (faults.length > 0) return Result.fail(new PriceFileInvalid({ faults: bounded(faults) }))
  return Result.map(file, listOf).pipe(Result.mapError(() => new PriceFileInvalid({ faults })))
}

const parsed = (text: string): Result.Result<unknown, string> => {
  if (text.length > MAX_PRICE_FILE) return Result.fail(`must have at most ${MAX_PRICE_FILE} bytes`)
  try {
    return Result.succeed(JSON.parse(text))
  } catch (error) {
    return Result.fail(`is not JSON: ${error instanceof Error ? error.message : "it cannot be read"}`)
  }
}

const problemOf = (message: string): string => {
  switch (message) {
    case "Expected no excess property":
      return "is not a field of a price file"
    case "Missing key":
      return "must be given"
    default:
      return message.replace(/^Expected (?:an? )?(?=(\S)\S*)/, (_, first: string) => `must be ${article(first)} `)
  }
}

const article = (first: string) => (/[aeiou]/.test(first) ? "an" : "a")

/** `prices[3].match.regex` */
const fieldOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (field, key) =>
      typeof key === "number" ? `${field}[${key}]` : field === "" ? String(key) : `${field}.${String(key)}`,
    ""
  )

const bounded = (faults: ReadonlyArray<string>): ReadonlyArray<string> =>
  faults.length <= MAX_LISTED_FAULTS
    ? faults
    : [...faults.slice(0, MAX_LISTED_FAULTS), `and ${faults.length - MAX_LISTED_FAULTS} more`]

type PriceFileJson = typeof PriceFileJson.Type

const aliasFaults = ({ aliases = {}, models = {} }: PriceFileJson) =>
  Object.entries(aliases)
    .filter(([, model]) => !Object.hasOwn(models, model) && !BUILTIN_RATES.has(model))
    .map(([alias, model]) => ({ path: ["aliases", alias], problem: `names the unknown model "${model}"` }))

const listOf = ({ aliases = {}, fallback, models = {}, prices = [] }: PriceFileJson): PriceList => {
  const exact = new Map<string, ListedPrice>()
  for (const [model, entry] of Object.entries(models)) exact.set(model, { rates: ratesOfOld(entry), entry: model })
  for (const [alias, model] of Object.entries(aliases)) {
    const rates = exact.get(model)?.rates ?? BUILTIN_RATES.get(model)
    if (rates !== undefined && !exact.has(alias)) exact.set(alias, { rates, entry: model })
  }
  const rules = rulesOf(prices)
  return {
    find: (names, at) => {
      for (const name of names) {
        const found =
          rules.find((rule) => rule.isOf(name) && rule.at(at) !== undefined)?.at(at) ?? exact.get(name.model)
        if (found !== undefined) return found
      }
      return undefined
    },
    fallback: fallback === undefined ? FALLBACK_RATES : ratesOfOld(fallback)
  }
}

const ratesOfOld = ({ completion, prompt }: typeof OldEntry.Type): Rates => ({ input: prompt, output: completion })

/** Entries with one condition, at the position of the first of them. */
interface Rule {
  readonly isOf: (name: ModelName) => boolean
  /** The entry that counts at a time: the one with the latest `from` that is not after it. */
  readonly at: (at: number) => ListedPrice | undefined
}

const rulesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Rule> =>
  [...Map.groupBy(entries, conditionOf)].flatMap(([condition, group]) => {
    const [first] = group
    if (first === undefined) return []
    const byTime = group
      .map(({ from, match: _, provider: __, ...rates }) => ({
        from: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
        price: { rates, entry: condition }
      }))
      .toSorted((left, right) => right.from - left.from)
    const { provider } = first
    const of = provider === undefined ? undefined : providerName(provider)
    const matches = matcherOf(first.match)
    return {
      isOf: (name) => (of === undefined || name.provider === of) && matches(name.model.toLowerCase()),
      at: (at) => byTime.find(({ from }) => from <= at)?.price
    }
  })

const conditionOf = ({ match, provider }: Entry): string => {
  const [kind, text] = Object.entries(match)[0] ?? []
  return `${provider === undefined ? "" : `${providerName(provider)}/`}${kind === "equals" ? text : `${kind}:${text}`}`
}

const matcherOf = ({ contains, endsWith, equals, regex, startsWith }: Entry["match"]): ((model: string) => boolean) => {
  if (regex !== undefined) {
    const pattern = new RegExp(regex, "i")
    return (model) => pattern.test(model)
  }
  const text = (equals ?? startsWith ?? endsWith ?? contains ?? "").toLowerCase()
  if (equals !== undefined) return (model) => model === text
  if (startsWith !== undefined) return (model) => model.startsWith(text)
  if (endsWith !== undefined) return (model) => model.endsWith(text)
  return (model) => model.includes(text)
}

/** The names of a model as price lists see them; without `isLenient` only the name as stated. */
export const namesOf = (model: string, provider: string | undefined, isLenient: boolean): ReadonlyArray<ModelName> =>
  isLenient
    ? modelNames(model, provider)
    : [{ model, ...(provider !== undefined && { provider: providerName(provider) }) }]
