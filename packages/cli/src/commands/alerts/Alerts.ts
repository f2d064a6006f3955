import { MAX_ALERT_PAGE } from "@runplane/api"
import { type AlertFiring, AlertSeverity, amountText, measureTitle } from "@runplane/domain"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withControlPlane } from "../../Connection.ts"
import { printDone, printRows } from "../../Output.ts"
import type { Column } from "../../Table.ts"

/** A table of alerts. */
export const firingColumns: ReadonlyArray<Column<AlertFiring>> = [
  { title: "ALERT", text: ({ id }) => id },
  { title: "STATUS", text: ({ acknowledgedAt, status }) => (acknowledgedAt === undefined ? status : "acknowledged") },
  { title: "SEVERITY", text: ({ severity }) => severity },
  { title: "RULE", text: ({ ruleId }) => ruleId },
  { title: "OF", text: ({ key }) => key },
  { title: "VALUE", text: ({ at, measure, value }) => `${measureTitle(measure)} ${amountText(measure, value, [at])}` },
  { title: "LEVEL", text: ({ at, measure, value }) => amountText(measure, at, [value]) },
  { title: "TELEMETRY", text: ({ telemetry }) => (telemetry === undefined ? "" : (telemetry.source ?? "yes")) },
  { title: "SINCE", text: ({ startsAt }) => startsAt, elastic: true }
]

const list = Command.make(
  "list",
  {
    all: Flag.Boolean("all").pipe(Flag.withDescription("Resolved alerts as well"), Flag.withDefault(false)),
    severity: Flag.Literals("severity", AlertSeverity.literals).pipe(
      Flag.withDescription("Only alerts of this severity"),
      Flag.optional
    ),
    rule: Flag.String("rule").pipe(Flag.withDescription("Only alerts of this rule"), Flag.optional),
    limit: Flag.Int("limit").pipe(Flag.withDescription(`Most alerts, 1 to ${MAX_ALERT_PAGE}`), Flag.withDefault(50))
  },
  ({ all, limit, rule, severity }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const page = yield* api.alerts.list({
          query: {
            limit,
            offset: 0,
            ...(!all && { status: "open" }),
            ...(Option.isSome(severity) && { severity: severity.value }),
            ...(Option.isSome(rule) && { rule: rule.value })
          }
        })
        yield* printRows(firingColumns, page.data, page)
      })
    )
).pipe(Command.withDescription("List the open alerts, the newest first"))

const ack = Command.make(
  "ack",
  {
    alert: Argument.String("alert").pipe(Argument.withDescription("Id of the alert")),
    note: Flag.String("note").pipe(Flag.withDescription("For readers"), Flag.optional)
  },
  ({ alert, note }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const firing = yield* api.alerts.acknowledge({
          params: { id: alert },
          payload: Option.isSome(note) ? { note: note.value } : {}
        })
        yield* printDone(`alert ${alert} is acknowledged`, firing)
      })
    )
).pipe(Command.withDescription("Acknowledge an alert: it stays open, and is not repeated"))

/** `runplane alerts ...` */
export const alerts = Command.make("alerts").pipe(
  Command.withDescription("Alerts: levels of rules that were reached"),
  Command.withSubcommands([list, ack])
)
