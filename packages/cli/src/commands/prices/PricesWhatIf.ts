import { MAX_CALLS_PER_PAGE } from "@runplane/api"
import {
  emptyPriceList,
  MAX_CATALOGUE_FILE,
  MAX_PRICE_FILE,
  makeModelPrices,
  makeRepricing,
  percentText,
  type RepricedSums,
  readPriceFile,
  usdText
} from "@runplane/domain"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { jsonText } from "../../JsonText.ts"
import { row } from "../../narrative/Narrative.ts"
import { output, printRows } from "../../Output.ts"
import { bytesOf } from "../common/Download.ts"
import { sinceFlag, timeOf } from "../common/Since.ts"
import { catalogueModule } from "./CatalogueModule.ts"

/** Calls of one answer, the newest ones. */
const MAX_CALLS = 1_000_000

const textOf = (file: string, most: number) =>
  Effect.map(bytesOf(file, most), (bytes) => Buffer.from(bytes).toString("utf8"))

const readList = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return emptyPriceList
  const text = yield* textOf(file.value, MAX_PRICE_FILE)
  return yield* Effect.mapError(Effect.fromResult(readPriceFile(text)), ({ message }) =>
    usageProblem(`${file.value}: ${message}`)
  )
})

/** The catalogue of `--catalogue`: of a file, none for `off`, the bundled one without the flag. */
const readCatalogue = Effect.fnUntraced(function* (source: Option.Option<string>) {
  if (Option.isSome(source) && source.value === "off") return undefined
  const { bundledCatalogue, catalogueOf } = yield* catalogueModule
  if (Option.isNone(source)) return bundledCatalogue
  const text = yield* textOf(source.value, MAX_CATALOGUE_FILE)
  return yield* Effect.mapError(Effect.fromResult(catalogueOf(text, "file")), ({ message }) =>
    usageProblem(`${source.value} ${message}`)
  )
})

const money = (usd: number, guess: number, beside: number) => `${guess > 0 ? "≈ " : ""}${usdText(usd, 4, [beside])}`
const difference = (usd: number) => `${usd < 0 ? "-" : usd > 0 ? "+" : ""}${usdText(Math.abs(usd), 4)}`
const share = (part: number, whole: number) => percentText(whole === 0 ? 0 : part / whole, 1)

const summaryLines = (sums: RepricedSums & { readonly callsWithoutUsage: number }) => [
  row("Calls", sums.calls.toLocaleString("en-US")),
  ...(sums.callsWithoutUsage === 0
    ? []
    : [row("Left out", `${sums.callsWithoutUsage.toLocaleString("en-US")} calls without token counts`)]),
  row("Recorded", `${usdText(sums.recordedUsd, 4)}, ${share(sums.recordedGuessUsd, sums.recordedUsd)} of it guessed`),
  row("What if", `${usdText(sums.costUsd, 4)}, ${share(sums.guessedCostUsd, sums.costUsd)} of it guessed`),
  row("Difference", difference(sums.differenceUsd))
]

/** `runplane prices whatif` (docs/reference/prices.md#what-if). */
export const whatIf = Command.make(
  "whatif",
  {
    file: Flag.String("file").pipe(
      Flag.withDescription("Price file in the form of PROTO_TOKEN_PRICING_FILE"),
      Flag.optional
    ),
    catalogue: Flag.String("catalogue").pipe(
      Flag.withDescription("Catalogue in the form of MODEL_PRICES_FILE, or `off`; without it the bundled one"),
      Flag.optional
    ),
    since: sinceFlag
  },
  ({ catalogue, file, since }) =>
    Effect.gen(function* () {
      if (Option.isNone(file) && Option.isNone(catalogue)) {
        return yield* usageProblem("say which prices: --file FILE, or --catalogue FILE")
      }
      const { format } = yield* output
      const repricing = makeRepricing(makeModelPrices(yield* readList(file), yield* readCatalogue(catalogue)))
      const from = yield* timeOf(since)
      const isPartial = yield* withControlPlane(({ api: { prices } }) =>
        Effect.gen(function* () {
          let read = 0
          let before: number | undefined
          do {
            const query = { since: from, limit: MAX_CALLS_PER_PAGE, ...(before !== undefined && { before }) }
            const page = yield* prices.calls({ query })
            for (const group of page.groups) repricing.add(group)
            read += page.calls
            before = page.next
          } while (before !== undefined && read < MAX_CALLS)
          return before !== undefined
        })
      )
      const { models, ...sums } = repricing.result()
      yield* printRows(
        [
          { title: "MODEL", text: ({ model }) => model ?? "(none stated)", elastic: true },
          { title: "PROVIDER", text: ({ provider }) => provider ?? "-" },
          { title: "CALLS", text: ({ calls }) => calls.toLocaleString("en-US") },
          {
            title: "RECORDED",
            text: ({ costUsd, recordedGuessUsd, recordedUsd }) => money(recordedUsd, recordedGuessUsd, costUsd)
          },
          {
            title: "WHAT IF",
            text: ({ costUsd, guessedCostUsd, recordedUsd }) => money(costUsd, guessedCostUsd, recordedUsd)
          },
          { title: "DIFFERENCE", text: ({ differenceUsd }) => difference(differenceUsd) },
          { title: "PRICE", text: ({ priceKey }) => priceKey ?? "-" }
        ],
        models,
        { since: from, isPartial, ...sums, models }
      )
      if (format === "text") yield* Console.log(["", ...summaryLines(sums)].join("\n"))
      if (format === "jsonl") yield* Console.log(jsonText({ since: from, isPartial, ...sums }))
      if (isPartial) yield* Console.error(`only the newest ${sums.calls} calls were counted`)
    })
).pipe(Command.withDescription("Show what the recorded calls would have cost under other prices"))
