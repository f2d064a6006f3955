import type { AlertBudget } from "@runplane/api"
import { amountText } from "@runplane/domain"
import { useState } from "react"
import { UserText } from "../../ui/basics.tsx"
import { useMedia, useNow } from "../../ui/hooks.ts"
import { Panel } from "../../ui/kit.tsx"
import { budgetBar, periodText } from "../../view/alerts/Budgets.ts"
import { counted } from "../../view/format/Format.ts"
import type { Tone } from "../../view/format/Status.ts"

const fills: Readonly<Record<Tone, string>> = {
  good: "bg-good",
  bad: "bg-bad",
  warn: "bg-warn",
  accent: "bg-accent",
  calm: "bg-calm"
}

const texts: Readonly<Record<Tone, string>> = {
  good: "text-soft",
  bad: "text-bad",
  warn: "text-warn",
  accent: "text-accent",
  calm: "text-calm"
}

/** Budgets that are shown before a click, the worst first; fewer where they fill the screen. */
const FIRST = 6
const FIRST_ON_PHONE = 3

/** What each budget has spent, reserved and left, and when it is exhausted at its pace. The worst first. */
export const BudgetBars = ({ budgets }: { readonly budgets: ReadonlyArray<AlertBudget> }) => {
  const [isWhole, setWhole] = useState(false)
  const first = useMedia("(max-width: 639px)") ? FIRST_ON_PHONE : FIRST
  const shown = isWhole ? budgets : budgets.slice(0, first)
  return (
    <Panel title="Budgets" note={counted(budgets.length, "budget")}>
      <ul className="grid gap-x-6 gap-y-4 p-3 lg:grid-cols-2">
        {shown.map((budget) => (
          <li key={`${budget.ruleId} ${budget.key}`} className="min-w-0" data-budget={budget.ruleId}>
            <Bar budget={budget} />
          </li>
        ))}
      </ul>
      {shown.length === budgets.length ? null : (
        <button type="button" className="btn mx-3 mb-3" onClick={() => setWhole(true)}>
          Show all {budgets.length} budgets
        </button>
      )}
    </Panel>
  )
}

const Bar = ({ budget }: { readonly budget: AlertBudget }) => {
  const { elapsed, forecast, levels, limit, reserved, since, spent, tone } = budgetBar(budget, useNow(10_000))
  const { key, measure, name, per, period } = budget
  const amount = (value: number) => amountText(measure, value, [budget.spent, budget.reserved, limit])
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <UserText text={name} className="font-medium" />
        {per === "all" ? null : <UserText text={key} className="text-soft" />}
        <span className="num ml-auto whitespace-nowrap">
          {amount(budget.spent)} <span className="text-muted">of {amount(limit)}</span>
          {budget.telemetry === undefined ? null : (
            <span className="text-muted" title="Counted apart: it is not in the budget, and refuses no run">
              {" "}
              and {amount(budget.telemetry)} by telemetry
            </span>
          )}
        </span>
      </div>
      <div
        className="relative h-3 overflow-hidden rounded bg-sunken"
        role="meter"
        aria-label={`Spent of ${name}, ${key}`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(budget.spent, limit)}
        aria-valuetext={`${amount(budget.spent)} of ${amount(limit)}, ${forecast}`}
      >
        <div className={`absolute inset-y-0 left-0 ${fills[tone]}`} style={{ width: `${spent * 100}%` }} />
        <div
          className={`absolute inset-y-0 opacity-40 ${fills[tone]}`}
          style={{ left: `${spent * 100}%`, width: `${reserved * 100}%` }}
        />
        {levels.map(({ share, tone }) => (
          <div
            key={share}
            className={`absolute inset-y-0 w-0.5 ${fills[tone]} outline outline-1 outline-panel`}
            style={{ left: `min(${share * 100}%, calc(100% - 2px))` }}
          />
        ))}
      </div>
      <div className="h-0.5 rounded bg-sunken" aria-hidden title="The part of the period that has passed">
        <div className="h-full rounded bg-calm" style={{ width: `${elapsed * 100}%` }} />
      </div>
      <div className="flex flex-wrap gap-x-3 text-[12px]">
        <span className={texts[tone]}>{forecast}</span>
        {since === "" ? null : <span className="text-muted">{since}</span>}
        <span className="num ml-auto text-muted">
          {budget.reserved > 0 ? `${amount(budget.reserved)} reserved, ` : ""}
          <span title={period}>{periodText[budget.window]}</span>
        </span>
      </div>
    </div>
  )
}
