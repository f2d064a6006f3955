import { UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { RowMarks } from "../../../ui/marks/MarkChip.tsx"
import { useMarksHere } from "../../../ui/marks/MarksHere.ts"
import { type Call, isGuess } from "../../../view/format/Cost.ts"
import { clockTime, duration, whole } from "../../../view/format/Format.ts"
import { PricedModel } from "./SpendingTable.tsx"

interface CallTableProps {
  readonly calls: ReadonlyArray<Call>
  readonly say: (usd: number) => string
  readonly onSelect: (index: number) => void
}

const COLUMNS = [
  ["Event", "text-left"],
  ["Time", "text-left"],
  ["Participant", "text-left"],
  ["Model", "text-left"],
  ["Cost", "text-right"],
  ["Input", "text-right"],
  ["Output", "text-right"],
  ["Duration", "text-right"]
] as const

/** The calls one by one, each with its price. */
export const CallTable = ({ calls, onSelect, say }: CallTableProps) => {
  const marked = useMarksHere()?.placed.byIndex
  const hasMarks = marked !== undefined && calls.some(({ index }) => marked.has(index))
  return (
    <section className="panel overflow-x-auto" tabIndex={0} aria-label="Calls">
      <table className="w-full border-collapse">
        <caption className="sr-only">Calls of language models, the latest last</caption>
        <thead>
          <tr className="border-b border-line">
            {COLUMNS.map(([title, align]) => (
              <th key={title} scope="col" className={`label px-3 py-2 ${align}`}>
                {title}
              </th>
            ))}
            {hasMarks ? (
              <th scope="col" className="label px-3 py-2 text-left">
                Marks
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {calls.map(({ at, data, index }) => {
            const { completionTokens, estimatedCostUsd, latencyMs, promptTokens, sender, usage } = data
            const tokens = (count: number) => (usage === "missing" ? "missing" : whole(count))
            return (
              <tr key={index} className="border-b border-line last:border-0 hover:bg-sunken">
                <td className="px-3 py-1.5">
                  <button type="button" className="num text-accent underline" onClick={() => onSelect(index)}>
                    {index}
                  </button>
                </td>
                <td className="num px-3 whitespace-nowrap text-soft">{clockTime(at)}</td>
                <td className="min-w-[110px] px-3">
                  <UserText text={sender} />
                </td>
                <td className="min-w-[150px] px-3 py-1.5">
                  <PricedModel model={data} prices={estimatedCostUsd === undefined ? [] : [data]} />
                </td>
                <td className="px-3 text-right">
                  {estimatedCostUsd === undefined ? (
                    "unknown"
                  ) : (
                    <CostText
                      cost={{ costUsd: estimatedCostUsd, guessedCostUsd: isGuess(data) ? estimatedCostUsd : 0 }}
                      say={say}
                    />
                  )}
                </td>
                <td className="num px-3 text-right">{tokens(promptTokens)}</td>
                <td className="num px-3 text-right">{tokens(completionTokens)}</td>
                <td className="num px-3 text-right whitespace-nowrap">
                  {latencyMs === undefined ? "–" : duration(latencyMs)}
                </td>
                {hasMarks ? (
                  <td className="px-3">
                    <RowMarks index={index} />
                  </td>
                ) : null}
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
