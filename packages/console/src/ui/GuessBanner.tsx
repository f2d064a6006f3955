import { AlertTriangle, Check, Copy } from "lucide-react"
import { cut, dollars, NAME_LENGTH } from "../view/format/Format.ts"
import { type GuessedModel, guessedShare, priceFileFor } from "../view/format/Guesses.ts"
import { UserText } from "./basics.tsx"
import { useCopy } from "./hooks.ts"

/** Models that the warning names. */
const MOST_NAMED = 5

interface GuessBannerProps {
  readonly costUsd: number
  readonly guessedCostUsd: number
  /** The models whose cost is a guess, the most expensive first. */
  readonly models: ReadonlyArray<GuessedModel>
}

/** The warning that much of a cost is a guess: the models, and how to give them a price. */
export default function GuessBanner({ costUsd, guessedCostUsd, models }: GuessBannerProps) {
  return (
    <section aria-label="Guessed cost" className="rounded-lg border border-warn/40 bg-warn-soft p-3">
      <h2 className="flex items-start gap-2 font-semibold text-warn">
        <AlertTriangle size={16} aria-hidden className="mt-0.5 shrink-0" />
        {guessedShare(costUsd, guessedCostUsd)} of the cost is a guess: {dollars(guessedCostUsd, [costUsd])} of{" "}
        {dollars(costUsd, [guessedCostUsd])}
      </h2>
      <div className="mt-1 pl-6">
        <Named models={models} />
        <HowToFix models={models} />
      </div>
    </section>
  )
}

const Named = ({ models }: Pick<GuessBannerProps, "models">) => {
  if (models.length === 0) return null
  const named = models.slice(0, MOST_NAMED)
  return (
    <div>
      No price is known for:
      <ul className="my-1 flex flex-wrap gap-x-5 gap-y-1">
        {named.map((model) => (
          <li key={`${model.provider} ${model.model}`} className="flex min-w-0 flex-wrap items-baseline gap-x-2">
            <ModelName {...model} />
            {model.guessedCostUsd === undefined ? null : (
              <span className="num text-soft">≈ {dollars(model.guessedCostUsd)}</span>
            )}
          </li>
        ))}
        {models.length > named.length ? <li className="text-soft">and {models.length - named.length} more</li> : null}
      </ul>
    </div>
  )
}

/** The name of a model and its provider, as the agent stated them. */
export const ModelName = ({ model = "", provider = "" }: Pick<GuessedModel, "model" | "provider">) => {
  if (model === "") return <span className="text-muted">model not stated</span>
  return (
    <span className="line-clamp-4 min-w-0" title={model}>
      <UserText text={cut(model, NAME_LENGTH)} className="font-mono text-[12px]" />
      {provider === "" ? null : (
        <span className="text-[12px] text-muted">
          {" "}
          by <UserText text={cut(provider, NAME_LENGTH)} />
        </span>
      )}
    </span>
  )
}

/** How models get a price: an entry of the price file, ready to be copied. */
export const HowToFix = ({ models }: Pick<GuessBannerProps, "models">) => {
  const file = priceFileFor(models)
  const [isCopied, copy] = useCopy()
  return (
    <details className="mt-1.5">
      <summary className="w-fit cursor-pointer font-medium">How to give a model its price</summary>
      <ol className="mt-1.5 flex list-decimal flex-col gap-1.5 pl-5">
        {models.some(({ model = "" }) => model === "") ? <li>Let the agents report the model of each call.</li> : null}
        {file === undefined ? null : (
          <li>
            Add {models.length === 1 ? "this entry" : "these entries"} to the file that{" "}
            <code className="font-mono text-[12px]">PROTO_TOKEN_PRICING_FILE</code> names. Replace 1 and 3 by the prices
            of your provider, in US dollars for 1,000,000 tokens.
            <div className="relative mt-1">
              <pre
                role="region"
                tabIndex={0}
                aria-label="Entry of the price file"
                className="max-h-[220px] overflow-auto rounded-md border border-line bg-panel p-3 pr-24 font-mono text-[12px] text-text"
              >
                {file}
              </pre>
              <button type="button" className="btn absolute top-1.5 right-1.5" onClick={() => copy(file)}>
                {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
                <span aria-live="polite">{isCopied ? "Copied" : "Copy"}</span>
              </button>
            </div>
          </li>
        )}
        <li>Restart the control plane. New calls have the new price; recorded costs stay as they are.</li>
        <li>
          <code className="font-mono text-[12px]">runplane prices check</code> lists the models that still have no
          price. The document is <code className="font-mono text-[12px] wrap-anywhere">docs/reference/prices.md</code>.
        </li>
      </ol>
    </details>
  )
}
