import type { ModelPriceAnswer } from "@runplane/api"
import { type PriceDoubt, percentText, usdText } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withControlPlane } from "../../Connection.ts"
import { printFacts, printRows } from "../../Output.ts"
import { sinceFlag, timeOf } from "../common/Since.ts"
import { update } from "./PricesUpdate.ts"
import { whatIf } from "./PricesWhatIf.ts"

const rate = (usd: number | undefined) => (usd === undefined ? undefined : `${usdText(usd, 2)} for 1,000,000 tokens`)

const DOUBTS: Readonly<Record<PriceDoubt, string>> = {
  latest: "the name stands for the newest model, and the entry for one that was it",
  provider: "the entry is of another provider",
  region: "the entry has no premium of the region",
  tier: "the entry has no price of the service tier",
  audio: "the entry has no price of audio",
  image: "the entry has no price of images",
  cache: "the entry has no price of a cache for an hour"
}

const guessText = ({ costDoubt }: ModelPriceAnswer): string =>
  `fallback: ${costDoubt === undefined ? "no price is known" : DOUBTS[costDoubt]}, so costs are a guess`

const show = Command.make(
  "show",
  {
    model: Argument.String("model").pipe(Argument.withDescription("Name of the model, as an agent states it")),
    provider: Flag.String("provider").pipe(
      Flag.withDescription("Provider of the model, as an agent states it"),
      Flag.optional
    )
  },
  ({ model, provider }) =>
    Effect.gen(function* () {
      const query = { model, ...(Option.isSome(provider) && { provider: provider.value }) }
      const price = yield* withControlPlane(({ api: { prices } }) => prices.price({ query }))
      const basis = price.costBasis === "fallback" ? guessText(price) : price.costBasis
      yield* printFacts(
        [
          ["Basis", basis],
          ["Entry", price.priceKey],
          ["Input", rate(price.input)],
          ["Output", rate(price.output)],
          ["Cache read", rate(price.cacheRead)],
          ["Cache write", rate(price.cacheWrite)],
          ["Reasoning", rate(price.reasoning)],
          ...(price.tiers ?? []).map(
            ({ above, input, output }) =>
              [
                `Above ${above.toLocaleString("en-US")}`,
                [rate(input ?? price.input), rate(output ?? price.output)].join(", output ")
              ] as const
          )
        ],
        price
      )
    })
).pipe(Command.withDescription("Print the price of a model, and the list that has it"))

const check = Command.make("check", { since: sinceFlag }, ({ since }) =>
  Effect.gen(function* () {
    const query = { since: yield* timeOf(since) }
    const found = yield* withControlPlane(({ api: { prices } }) => prices.unknown({ query }))
    yield* printRows(
      [
        { title: "MODEL", text: ({ model }) => model ?? "(none stated)", elastic: true },
        { title: "PROVIDER", text: ({ provider }) => provider ?? "-" },
        { title: "CALLS", text: ({ calls }) => String(calls) },
        { title: "TOKENS", text: ({ totalTokens }) => totalTokens.toLocaleString("en-US") },
        { title: "COST", text: ({ guessedCostUsd }) => `≈ ${usdText(guessedCostUsd, 4)}` },
        { title: "SHARE", text: ({ share }) => percentText(share, 1) }
      ],
      found.models,
      found
    )
    if (found.isPartial) yield* Console.error(`only the newest ${found.calls} calls were counted`)
  })
).pipe(Command.withDescription("List the models without a known price, whose costs are a guess"))

/** `runplane prices ...` (docs/reference/prices.md). */
export const prices = Command.make("prices").pipe(
  Command.withDescription("Prices of models"),
  Command.withSubcommands([show, check, update, whatIf])
)
