import type { CommitteeIndependence, CommitteeWorth } from "@runplane/api"
import { UserText } from "../../ui/basics.tsx"
import { Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { costPerRight, leftOutText } from "../../view/committee/Committee.ts"
import { counted, dollars, duration, percent } from "../../view/format/Format.ts"

interface SeatTableProps {
  readonly found: CommitteeIndependence
  readonly worth: CommitteeWorth
}

type Row = CommitteeWorth["seats"][number] & { readonly errors: CommitteeIndependence["seats"][number] | undefined }

/** The seats, those that outcomes need most first. */
export const SeatTable = ({ found, worth }: SeatTableProps) => (
  <Panel title="What each seat is worth" note={`counted over ${counted(worth.runs, "run")}`}>
    <Table
      label="Seats by worth"
      columns={COLUMNS}
      rows={worth.seats.map(
        (seat): Row => ({ ...seat, errors: found.seats.find((errors) => errors.seat === seat.seat) })
      )}
      keyOf={({ seat }) => seat}
    />
    <p className="border-t border-line px-3 py-2 text-[12px] text-muted">
      Votes are counted again without the seat, under the policy of each run; no agent runs again. What the others would
      have said without its evaluations is not known.
    </p>
  </Panel>
)

const figure = (count: number, n: number) => (
  <span className="num whitespace-nowrap">{n === 0 ? "–" : `${count} of ${n}`}</span>
)

const COLUMNS: ReadonlyArray<TableColumn<Row>> = [
  {
    title: "Seat",
    className: "max-w-[240px] min-w-[110px]",
    by: ({ seat }) => seat,
    cell: ({ errors, idle, model, notCounted, seat }) => {
      const left = leftOutText(errors?.leftOut)
      const skipped = Object.entries(notCounted).map(([reason, runs]) => `${counted(runs, "run")} ${reason}`)
      return (
        <span className="flex flex-col">
          <UserText text={seat} className="truncate font-medium" />
          {model === undefined ? null : <UserText text={model} className="truncate text-[12px] text-muted" />}
          {idle === undefined ? null : (
            <span className="text-[12px] text-warn">changes nothing: at most {percent(idle.atMost)} at 95 %</span>
          )}
          {left === undefined ? null : <span className="text-[12px] text-muted">no correlation: {left}</span>}
          {skipped.length === 0 ? null : (
            <span className="text-[12px] text-muted">not counted: {skipped.join(", ")}</span>
          )}
        </span>
      )
    }
  },
  {
    title: "Refused without it",
    align: "right",
    by: ({ changed }) => changed.rate,
    cell: ({ changed }) => (
      <span title={`${percent(changed.low)} to ${percent(changed.high)} at 95 %`}>
        {figure(changed.count, changed.n)}
      </span>
    )
  },
  {
    title: "Right lost",
    align: "right",
    from: "md",
    by: ({ rightLost }) => rightLost.rate,
    cell: ({ rightLost }) => figure(rightLost.count, rightLost.n)
  },
  {
    title: "Wrong prevented",
    align: "right",
    from: "lg",
    by: ({ wrongPrevented }) => wrongPrevented.rate,
    cell: ({ wrongPrevented }) => figure(wrongPrevented.count, wrongPrevented.n)
  },
  {
    title: "Pivotal",
    align: "right",
    from: "md",
    by: ({ pivotal }) => pivotal.rate,
    cell: ({ pivotal }) => figure(pivotal.count, pivotal.n)
  },
  {
    title: "Right votes",
    align: "right",
    from: "sm",
    by: ({ errors }) => errors?.accuracy?.rate,
    cell: ({ errors }) =>
      errors?.accuracy === undefined ? (
        <span className="text-muted">–</span>
      ) : (
        <span className="num" title={`${percent(errors.accuracy.low)} to ${percent(errors.accuracy.high)} at 95 %`}>
          {percent(errors.accuracy.rate)}
        </span>
      )
  },
  {
    title: "Cost a run",
    align: "right",
    by: ({ costPerRunUsd }) => costPerRunUsd,
    cell: ({ costPerRunUsd, guessedCostUsd }) => (
      <span className="num whitespace-nowrap" title={guessedCostUsd > 0 ? "a part of it is a guess" : undefined}>
        {guessedCostUsd > 0 ? "about " : ""}
        {dollars(costPerRunUsd)}
      </span>
    )
  },
  {
    title: "Cost a right one",
    align: "right",
    from: "2xl",
    by: ({ costPerRightUsd }) => costPerRightUsd,
    cell: (row) => <span className="num whitespace-nowrap">{costPerRight(row)}</span>
  },
  {
    title: "Time",
    align: "right",
    from: "xl",
    by: ({ meanTimeMs }) => meanTimeMs,
    cell: ({ meanTimeMs }) => (
      <span className="num whitespace-nowrap">{meanTimeMs === undefined ? "–" : duration(meanTimeMs)}</span>
    )
  }
]
