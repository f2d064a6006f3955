import type { UsageSums } from "@runplane/domain"
import type { ReactNode } from "react"
import { Chip, UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { ModelName } from "../../../ui/GuessBanner.tsx"
import { type ChargedPrice, isGuess, type Spending } from "../../../view/format/Cost.ts"
import { costIn, counted, whole } from "../../../view/format/Format.ts"
import { basisWords, type GuessedModel } from "../../../view/format/Guesses.ts"

type Sums = UsageSums & { readonly calls: number }

interface SpendingTableProps {
  readonly title: string
  /** Title of the first column. */
  readonly of: string
  readonly rows: ReadonlyArray<Spending>
  readonly nameOf: (row: Spending) => ReactNode
  /** Sums over all calls of the run. */
  readonly totals: Sums
  readonly say: (usd: number) => string
}

const COLUMNS: ReadonlyArray<readonly [keyof Sums, string]> = [
  ["calls", "Calls"],
  ["callsWithoutUsage", "Usage missing"],
  ["promptTokens", "Input"],
  ["cachedTokens", "Cached"],
  ["cacheWriteTokens", "Cache write"],
  ["completionTokens", "Output"],
  ["reasoningTokens", "Reasoning"]
]

/** Rows of a table: an agent may state another model in each call. */
const MOST_ROWS = 100

/** The first column stays on screen while a narrow table is scrolled. */
const NAME = "sticky left-0 z-[1] max-w-[280px] min-w-[130px] bg-panel pr-2 pl-3 max-sm:max-w-[150px]"

/** On each cell: the first column covers the line of a row. */
const LINE = "border-b border-line"

/** What each model or participant used and cost. The last row is the whole run. */
export const SpendingTable = ({ nameOf, of, rows, say, title, totals }: SpendingTableProps) => {
  const cells = (sums: Sums, line: string) => (
    <>
      <td className={`${line} px-2 py-1.5 text-right font-medium`}>
        <CostText cost={costIn(sums)} say={say} />
      </td>
      {COLUMNS.map(([name]) => (
        <td key={name} className={`${line} num px-2 py-1.5 text-right last:pr-3`}>
          <Count sums={sums} name={name} />
        </td>
      ))}
    </>
  )
  return (
    <section className="panel min-w-0 overflow-hidden" aria-label={title}>
      <h2 className="px-3 pt-3 pb-1 font-semibold">{title}</h2>
      <div className="overflow-x-auto" tabIndex={0} role="group" aria-label={`${title}, as a table`}>
        <table className="w-full border-separate border-spacing-0">
          <thead>
            <tr className="align-bottom">
              <th scope="col" className={`${NAME} ${LINE} label py-1.5 text-left`}>
                {of}
              </th>
              {["Cost", ...COLUMNS.map(([, name]) => name)].map((name) => (
                <th
                  key={name}
                  scope="col"
                  className={`${LINE} label px-2 py-1.5 text-right whitespace-nowrap last:pr-3`}
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map((row) => (
              <tr key={row.key} className="align-top">
                <th scope="row" className={`${NAME} ${LINE} py-1.5 text-left font-normal`}>
                  {nameOf(row)}
                </th>
                {cells(row, LINE)}
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr className="align-top">
              <th scope="row" className={`${NAME} py-1.5 text-left font-semibold`}>
                All calls
              </th>
              {cells(totals, "")}
            </tr>
          </tfoot>
        </table>
      </div>
      {rows.length > MOST_ROWS ? (
        <p className="px-3 py-2 text-muted">
          The {whole(MOST_ROWS)} most expensive of {whole(rows.length)} are shown.
        </p>
      ) : null}
    </section>
  )
}

/** A count, which is unknown when no call states its usage. */
const Count = ({ name, sums }: { readonly sums: Sums; readonly name: keyof Sums }) => {
  const { calls, callsWithoutUsage = 0 } = sums
  const count = sums[name] ?? 0
  if (name === "callsWithoutUsage" && count > 0) return <span className="font-medium text-warn">{whole(count)}</span>
  if (name !== "calls" && name !== "callsWithoutUsage" && calls === callsWithoutUsage) {
    return <span className="text-muted">–</span>
  }
  return <span className={count === 0 ? "text-muted" : ""}>{whole(count)}</span>
}

/** Prices that a row lists. */
const MOST_PRICES = 4

/** A model, and the prices that its calls were charged by. */
export const PricedModel = ({
  model,
  prices
}: {
  readonly model: Pick<GuessedModel, "model" | "provider">
  readonly prices: ReadonlyArray<ChargedPrice>
}) => (
  <>
    <ModelName {...model} />
    <ul className="flex flex-col text-[12px] text-muted">
      {prices.slice(0, MOST_PRICES).map((price) => (
        <li key={`${price.costBasis} ${price.priceKey}`}>
          <Price price={price} />
        </li>
      ))}
      {prices.length > MOST_PRICES ? <li>and {counted(prices.length - MOST_PRICES, "other price")}</li> : null}
    </ul>
  </>
)

/** The list that a cost comes from, and its entry. */
const Price = ({ price }: { readonly price: ChargedPrice }) => {
  const words = basisWords(price)
  if (isGuess(price)) {
    return (
      <Chip tone="warn" title="No known price: the cost is a guess">
        {words}
      </Chip>
    )
  }
  return (
    <>
      {words}
      {price.priceKey === undefined ? null : (
        <>
          {" "}
          <UserText text={price.priceKey} className="font-mono" />
        </>
      )}
    </>
  )
}
