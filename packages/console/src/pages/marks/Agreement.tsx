import type { MarkAgreement } from "@runplane/api"
import { agreementText, groupText, verdictOf, verdictText } from "@runplane/domain"
import { CheckCircle2, CircleHelp, TriangleAlert } from "lucide-react"
import { Chip, UserText } from "../../ui/basics.tsx"
import { Loaded, Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { percent, whole } from "../../view/format/Format.ts"
import { valueText } from "../../view/marks/Marks.ts"

type Pair = MarkAgreement["pairs"][number] & { readonly name: string }

/** A rater for readers: `judge:politeness` is the judge politeness, `human` is people. */
const raterText = (rater: string): string =>
  rater === "human" ? "people" : rater.startsWith("judge:") ? `judge ${rater.slice("judge:".length)}` : rater

/** How far judges agree with people, by name (docs/reference/marks.md#agreement). */
export const Agreement = () => {
  const agreement = useRead(["mark agreement"], (api) =>
    api.markReports.agreement({ query: { sources: ["human", "judge"] } })
  )
  return (
    <Panel
      title="Agreement of judges with people"
      note="Cohen's kappa with its 95 % interval; numbers count by their distance"
    >
      <Loaded read={agreement} what="The agreement cannot be read" rows={4} height={36}>
        {({ data, truncated }) => {
          const pairs = data.flatMap(({ name, pairs: found }) => found.map((pair): Pair => ({ ...pair, name })))
          return pairs.length === 0 ? (
            <Empty title="No common targets yet">
              A judge is compared with people once both have marked the same target with the same name.
            </Empty>
          ) : (
            <>
              <Table
                label="Agreement"
                rows={pairs}
                keyOf={({ left, name, right }) => JSON.stringify([name, left, right])}
                columns={COLUMNS}
              />
              {data.map(({ alpha, name }) =>
                alpha === undefined ? null : (
                  <p key={name} className="px-3 py-2 text-soft" data-alpha={name}>
                    <UserText text={name} className="font-medium" />, all raters together: {groupText(alpha)}.
                  </p>
                )
              )}
              {truncated ? <p className="px-3 py-2 text-muted">Of the latest marks; there are more.</p> : null}
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

const COLUMNS: ReadonlyArray<TableColumn<Pair>> = [
  {
    title: "Name",
    className: "max-w-[220px] min-w-[84px]",
    cell: ({ name }) => <UserText text={name} className="font-medium" />
  },
  {
    title: "Raters",
    className: "max-w-[280px] min-w-[92px]",
    cell: ({ left, right }) => <UserText text={`${raterText(left)} and ${raterText(right)}`} />
  },
  { title: "Targets", align: "right", from: "sm", cell: ({ n }) => <span className="num">{whole(n)}</span> },
  {
    title: "Same value",
    align: "right",
    from: "sm",
    cell: ({ agreed, n }) => <span className="num">{n === 0 ? "–" : percent(agreed / n)}</span>
  },
  {
    title: "Kappa",
    cell: (pair) => <Kappa pair={pair} />
  },
  { title: "Confusion", cell: (pair) => <Confusion pair={pair} /> }
]

/** Kappa with its interval, and the verdict where there is one. */
const Kappa = ({ pair }: { readonly pair: Pair }) => {
  const { kappa, n, weights = "none" } = pair
  const verdict = verdictOf(pair)
  const Icon = verdict === "reliable" ? CheckCircle2 : verdict === "unreliable" ? TriangleAlert : CircleHelp
  return (
    <span className="flex flex-wrap items-baseline gap-x-2" title={agreementText(pair)}>
      {kappa === undefined ? null : (
        <span className="num">
          {kappa.value.toFixed(2)}{" "}
          <span className="text-muted">
            ({kappa.low.toFixed(2)} to {kappa.high.toFixed(2)}){weights === "none" ? "" : ` ${weights}`}
          </span>
        </span>
      )}
      <span className="num text-muted sm:hidden">n {whole(n)}</span>
      <Chip tone={verdict === "reliable" ? "good" : verdict === "unreliable" ? "warn" : "calm"}>
        <Icon size={11} aria-hidden className="shrink-0" /> {verdictText(pair)}
      </Chip>
    </span>
  )
}

/** The targets by the values of both raters, on demand. */
const Confusion = ({ pair: { categories, confusion, left, name, right } }: { readonly pair: Pair }) => (
  <details>
    <summary className="cursor-pointer text-accent">Show</summary>
    <table className="my-1 border-collapse text-[12px]" data-confusion={name}>
      <caption className="caption-bottom text-left text-muted">
        Rows: {raterText(left)}. Columns: {raterText(right)}.
      </caption>
      <thead>
        <tr>
          <td />
          {categories.map((category) => (
            <th key={String(category)} scope="col" className="label max-w-[120px] truncate px-2">
              <UserText text={valueText(name, category)} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {confusion.map((row, at) => (
          <tr key={String(categories[at])}>
            <th scope="row" className="label max-w-[120px] truncate px-2 text-left">
              <UserText text={valueText(name, categories[at] ?? "")} />
            </th>
            {row.map((count, column) => (
              <td
                key={String(categories[column])}
                className={`num border border-line px-2 text-right ${at === column ? "bg-good-soft text-good" : ""}`}
              >
                {whole(count)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </details>
)
