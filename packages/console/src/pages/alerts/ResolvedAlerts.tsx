import type { AlertPage } from "@runplane/api"
import type { AlertFiring } from "@runplane/domain"
import { useState } from "react"
import { Chip, Time, UserText } from "../../ui/basics.tsx"
import { Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { endingText } from "../../view/alerts/Budgets.ts"
import { duration, whole } from "../../view/format/Format.ts"
import { alertColumn, runColumn, severityColumn } from "./FiringColumns.tsx"

/** Alerts that are shown before a click. */
const FIRST = 5

const openFor = ({ endsAt = "", startsAt }: AlertFiring): string => duration(Date.parse(endsAt) - Date.parse(startsAt))

const columns: ReadonlyArray<TableColumn<AlertFiring>> = [
  severityColumn,
  alertColumn,
  runColumn,
  {
    title: "Open for",
    from: "sm",
    cell: (firing) => <span className="num whitespace-nowrap">{openFor(firing)}</span>
  },
  {
    title: "Resolved",
    cell: ({ acknowledgedBy, endsAt = "", note, resolvedBy, silenced }) => (
      <>
        <Time at={endsAt} />
        <span className="block text-[12px] text-muted">
          {resolvedBy === undefined ? "" : `${endingText[resolvedBy]} `}
          {silenced ? <Chip>silenced</Chip> : null}
          {acknowledgedBy === undefined ? null : (
            <Chip tone="good" title={note === undefined ? acknowledgedBy : `${acknowledgedBy}: ${note}`}>
              acknowledged
            </Chip>
          )}
        </span>
        {note === undefined ? null : (
          <span className="block text-[12px] text-muted max-md:hidden">
            <UserText text={note} />
          </span>
        )}
      </>
    )
  }
]

/** The alerts that ended last, with how long they were open and why they ended. */
export const ResolvedAlerts = ({
  chosen,
  page: { data, total }
}: {
  readonly page: AlertPage
  readonly chosen: string
}) => {
  const [isWhole, setWhole] = useState(false)
  const isChosenHidden = data.findIndex(({ id }) => id === chosen) >= FIRST
  const shown = isWhole || isChosenHidden ? data : data.slice(0, FIRST)
  return (
    <Panel title="Resolved lately" note={`the last ${whole(shown.length)} of ${whole(total)}`}>
      <Table
        label="Resolved alerts"
        columns={columns}
        rows={shown}
        keyOf={({ id }) => id}
        isChosen={({ id }) => id === chosen}
      />
      {shown.length === data.length ? null : (
        <button type="button" className="btn m-3" onClick={() => setWhole(true)}>
          Show the last {whole(data.length)}
        </button>
      )}
    </Panel>
  )
}
