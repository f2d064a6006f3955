import { type AlertBudget, type AlertRuleState, spendingOf, TESTED_DAYS } from "@runplane/api"
import {
  type AlertAction,
  AlertFormat,
  AlertPer,
  type AlertSeverity,
  AlertTelemetry,
  amountText,
  BUDGET_MEASURES,
  exhaustedAt
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { printFacts, printRows } from "../../Output.ts"
import { firingColumns } from "./Alerts.ts"

const id = Argument.String("budget").pipe(Argument.withDescription("Id of the budget"))

const limitOf = ({ levels }: AlertBudget): number => levels.at(-1)?.at ?? 0

/** An amount of a budget, as all amounts of its line. */
const amountOf = (budget: AlertBudget, amount: number): string =>
  amountText(budget.measure, amount, [budget.spent, budget.reserved, limitOf(budget)])

/** `42 %`; with what admission has reserved. */
const usedText = (budget: AlertBudget): string => {
  const limit = limitOf(budget)
  return limit === 0 ? "" : `${Math.floor(((budget.spent + budget.reserved) / limit) * 100)} %`
}

/** `2026-11-26 16:40Z`, at the pace of the last hour or day. */
const exhaustedText = (budget: AlertBudget, now: number): string => {
  const at = exhaustedAt(spendingOf(budget), now)
  if (at === undefined) return "lasts"
  return at <= now ? "exhausted" : `${new Date(at).toISOString().slice(0, 16).replace("T", " ")}Z`
}

const at = Flag.String("at").pipe(
  Flag.withDescription("A time: the periods of that time instead of the current ones"),
  Flag.optional
)

const list = Command.make("list", { at }, ({ at }) =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const budgets = yield* api.alerts.budgets({ query: Option.isSome(at) ? { at: at.value } : {} })
      const now = yield* Clock.currentTimeMillis
      yield* printRows(
        [
          { title: "BUDGET", text: ({ ruleId }) => ruleId },
          { title: "OF", text: ({ key }) => key },
          { title: "PERIOD", text: ({ period }) => period },
          { title: "SPENT", text: (budget) => amountOf(budget, budget.spent) },
          {
            title: "TELEMETRY",
            text: (budget) => (budget.telemetry === undefined ? "" : amountOf(budget, budget.telemetry))
          },
          { title: "RESERVED", text: (budget) => amountOf(budget, budget.reserved) },
          { title: "LIMIT", text: (budget) => amountOf(budget, limitOf(budget)) },
          { title: "USED", text: usedText },
          { title: "EXHAUSTED", text: (budget) => exhaustedText(budget, now) },
          { title: "NAME", text: ({ name }) => name, elastic: true }
        ],
        budgets
      )
    })
  )
).pipe(Command.withDescription("List what the budgets have spent in their current periods, or in those of a time"))

/** Severities from the last level backwards. */
const SEVERITIES: ReadonlyArray<AlertSeverity> = ["critical", "warning", "info"]

/** In whole billionths, as money is counted. */
const partOf = (limit: number, percent: number): number => Number(((limit * percent) / 100).toFixed(9))

const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

const add = Command.make(
  "add",
  {
    id,
    limit: Flag.Finite("limit").pipe(Flag.withDescription("Limit in US dollars, or in tokens with --measure tokens")),
    name: Flag.String("name").pipe(Flag.withDescription("Name for readers; the id unless set"), Flag.optional),
    measure: Flag.Literals("measure", BUDGET_MEASURES).pipe(
      Flag.withDescription("What is spent"),
      Flag.withDefault("costUsd" as const)
    ),
    window: Flag.Literals("window", ["day", "week", "month"]).pipe(
      Flag.withDescription("Calendar period"),
      Flag.withDefault("month" as const)
    ),
    zone: Flag.String("zone").pipe(Flag.withDescription("Time zone of the period"), Flag.withDefault("UTC")),
    match: Flag.String("match").pipe(
      Flag.withDescription("Query of the runs that count; all unless set"),
      Flag.optional
    ),
    per: Flag.Literals("per", AlertPer.literals).pipe(
      Flag.withDescription("One budget for each of these"),
      Flag.withDefault("all" as const)
    ),
    levels: Flag.String("levels").pipe(
      Flag.withDescription("Levels in percent of the limit, ascending"),
      Flag.withDefault("80,95,100")
    ),
    webhook: Flag.String("webhook").pipe(
      Flag.withDescription("URL, or id of a subscription, that each level notifies"),
      Flag.optional
    ),
    format: Flag.Literals("format", AlertFormat.literals).pipe(
      Flag.withDescription("Format of the notifications; RUNPLANE_ROUTING_KEY has the key of pagerduty"),
      Flag.withDefault("generic" as const)
    ),
    admission: Flag.Boolean("admission").pipe(
      Flag.withDescription("Refuse runs that would reach the limit"),
      Flag.withDefault(false)
    ),
    expected: Flag.Finite("expected").pipe(
      Flag.withDescription("US dollars that admission reserves for a run, instead of the usual cost"),
      Flag.optional
    ),
    telemetry: Flag.Literals("telemetry", AlertTelemetry.literals).pipe(
      Flag.withDescription("count: what telemetry reports is counted apart, and only notifies; act: it counts in full"),
      Flag.withDefault("count" as const)
    ),
    backfill: Flag.Boolean("backfill").pipe(
      Flag.withDescription("Count what the current period has spent already"),
      Flag.withDefault(false)
    )
  },
  (flags) =>
    Effect.gen(function* () {
      const percents = flags.levels.split(",").map(Number)
      if (percents.some((percent) => !(percent > 0))) {
        return yield* usageProblem(`--levels ${flags.levels} is not a list of percents such as 80,95,100`)
      }
      // A key on the command line would be visible in the list of processes.
      const routingKey = flags.format === "pagerduty" ? process.env["RUNPLANE_ROUTING_KEY"] : undefined
      const actions = Option.match(flags.webhook, {
        onNone: (): ReadonlyArray<AlertAction> => [],
        onSome: (target): ReadonlyArray<AlertAction> => [
          {
            type: "webhook",
            ...(isId(target) ? { subscription: target } : { url: target }),
            format: flags.format,
            ...(routingKey !== undefined && { routingKey })
          }
        ]
      })
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const made = yield* api.alerts.addRule({
            payload: {
              id: flags.id,
              name: Option.getOrElse(flags.name, () => flags.id),
              enabled: true,
              match: Option.getOrElse(flags.match, () => ""),
              per: flags.per,
              window: flags.window,
              zone: flags.zone,
              measure: flags.measure,
              levels: percents.map((percent, at) => ({
                at: partOf(flags.limit, percent),
                severity: SEVERITIES[percents.length - 1 - at] ?? "info",
                actions
              })),
              ...(flags.admission && { admission: true }),
              ...(Option.isSome(flags.expected) && { expectedCostUsd: flags.expected.value }),
              ...(flags.telemetry !== "count" && { telemetry: flags.telemetry }),
              ...(flags.backfill && { backfill: true })
            }
          })
          yield* printFacts(factsOf(made), made)
        })
      )
    })
).pipe(Command.withDescription("Add a budget: an alert rule on what a calendar period spends"))

const thresholdsOf = ({ levels }: AlertRuleState): ReadonlyArray<number> => levels.map(({ at }) => at)

const factsOf = (rule: AlertRuleState): ReadonlyArray<readonly [string, string | undefined]> => [
  ["Budget", rule.id],
  ["Period", `${rule.window}, ${rule.zone}`],
  ["Runs", rule.match === "" ? "all" : rule.match],
  [
    "Levels",
    rule.levels
      .map(({ at, severity }) => `${severity} at ${amountText(rule.measure, at, thresholdsOf(rule))}`)
      .join(", ")
  ],
  ["Admission", rule.admission === true ? "refuses runs that would reach the limit" : undefined],
  ["Telemetry", rule.telemetry === "act" ? "counts in full" : "is counted apart"],
  ["Try it", `runplane budgets test ${rule.id}`]
]

const test = Command.make("test", { id }, ({ id }) =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const tested = yield* api.alerts.testRule({ params: { id } })
      yield* printRows(firingColumns, tested.firings, tested)
    })
  )
).pipe(Command.withDescription(`List what a budget would have reported in the last ${TESTED_DAYS} days; sends nothing`))

/** `runplane budgets ...` */
export const budgets = Command.make("budgets").pipe(
  Command.withDescription("Budgets: alert rules on costs and tokens of a calendar period"),
  Command.withSubcommands([list, add, test])
)
