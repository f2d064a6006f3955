import type { AlertFiring } from "@runplane/domain"
import { Chip, Time, UserText } from "../../ui/basics.tsx"
import { type TableColumn, TextLink } from "../../ui/kit.tsx"
import { severityTone, telemetryText } from "../../view/alerts/Budgets.ts"
import { firingText } from "../../view/alerts/RuleSentence.ts"

export const severityColumn: TableColumn<AlertFiring> = {
  title: "Severity",
  from: "sm",
  cell: ({ severity }) => <Chip tone={severityTone[severity]}>{severity}</Chip>
}

export const alertColumn: TableColumn<AlertFiring> = {
  title: "Alert",
  cell: ({ at, key, measure, per, ruleName, severity, telemetry, value }) => (
    <>
      <span className="mr-1.5 sm:hidden">
        <Chip tone={severityTone[severity]}>{severity}</Chip>
      </span>
      <UserText text={ruleName} className="font-medium" />
      {per === "all" || per === "run" ? null : <UserText text={` ${key}`} className="text-soft" />}
      <span className="num block text-[12px] text-muted">{firingText(measure, value, at)}</span>
      {telemetry === undefined ? null : (
        <span className="block text-[12px] text-muted">
          <UserText text={telemetryText(telemetry)} />
        </span>
      )}
    </>
  )
}

export const runColumn: TableColumn<AlertFiring> = {
  title: "Run",
  from: "md",
  cell: ({ runId, scenarioRef }) =>
    runId === undefined ? null : (
      <>
        <TextLink href={`/runs/${encodeURIComponent(runId)}`}>{runId.slice(0, 8)}</TextLink>
        {scenarioRef === undefined ? null : (
          <span className="block text-[12px] text-muted">
            <UserText text={scenarioRef} />
          </span>
        )}
      </>
    )
}

export const sinceColumn: TableColumn<AlertFiring> = {
  title: "Since",
  cell: ({ startsAt }) => <Time at={startsAt} />
}

export const firingColumns: ReadonlyArray<TableColumn<AlertFiring>> = [
  severityColumn,
  alertColumn,
  runColumn,
  sinceColumn
]
