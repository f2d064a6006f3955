import type { CommitteeIndependence, CommitteeWorth } from "@runplane/api"
import { UserText } from "../../ui/basics.tsx"
import { Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { closestSeat, pairedText } from "../../view/committee/Committee.ts"
import { counted, dollars, percent } from "../../view/format/Format.ts"

interface ShadowTableProps {
  readonly found: CommitteeIndependence
  readonly worth: CommitteeWorth
}

type Row = CommitteeWorth["shadows"][number] & { readonly errors: CommitteeIndependence["shadows"][number] | undefined }

/** Agents that were tried beside a seat. No other figure of the page has them. */
export const ShadowTable = ({ found, worth }: ShadowTableProps) => (
  <Panel title="Shadows" note="tried beside a seat; no other figure has them">
    <ul className="flex flex-col gap-1 border-b border-line px-3 py-2">
      {worth.shadows.map(({ shadow, summary }) => (
        <li key={shadow} className="wrap-anywhere" data-shadow={shadow}>
          <bdi>{summary.charAt(0).toUpperCase() + summary.slice(1)}</bdi>.
        </li>
      ))}
    </ul>
    <Table
      label="Shadows in place of their participants"
      columns={COLUMNS}
      rows={worth.shadows.map(
        (shadow): Row => ({ ...shadow, errors: found.shadows.find((errors) => errors.shadow === shadow.shadow) })
      )}
      keyOf={({ shadow }) => shadow}
    />
    <p className="border-t border-line px-3 py-2 text-[12px] text-muted">
      Votes are counted again with the shadow instead of its seat, over the runs in which it was tried. What others said
      answered the seat, so a shadow may seem more independent than it is.
      {worth.shadowsLeftOut === 0
        ? null
        : ` ${counted(worth.shadowsLeftOut, "more shadow")} without figures: tried earlier.`}
    </p>
  </Panel>
)

const COLUMNS: ReadonlyArray<TableColumn<Row>> = [
  {
    title: "Shadow",
    className: "max-w-[240px] min-w-[110px]",
    by: ({ shadow }) => shadow,
    cell: ({ agent, as, idle, notCounted, tried }) => {
      const skipped = Object.entries(notCounted).map(([reason, runs]) => `${counted(runs, "run")} ${reason}`)
      return (
        <span className="flex flex-col">
          <UserText text={agent} className="truncate font-medium" />
          <span className="truncate text-[12px] text-muted">
            beside <UserText text={as} />, {counted(tried, "run")}
          </span>
          {idle === undefined ? null : (
            <span className="text-[12px] text-warn">changes nothing: at most {percent(idle.atMost)} at 95 %</span>
          )}
          {skipped.length === 0 ? null : (
            <span className="text-[12px] text-muted">not counted: {skipped.join(", ")}</span>
          )}
        </span>
      )
    }
  },
  {
    title: "Refused with it",
    align: "right",
    by: ({ changed }) => changed.rate,
    cell: ({ changed }) => (
      <span
        className="num whitespace-nowrap"
        title={changed.n === 0 ? undefined : `${percent(changed.low)} to ${percent(changed.high)} at 95 %`}
      >
        {changed.n === 0 ? "–" : `${changed.count} of ${changed.n}`}
      </span>
    )
  },
  {
    title: "Right votes",
    align: "right",
    from: "sm",
    by: ({ paired }) => (paired.runs === 0 ? undefined : paired.shadowRight / paired.runs),
    cell: ({ paired }) =>
      paired.runs === 0 ? (
        <span className="text-muted">–</span>
      ) : (
        <span className="num flex flex-col whitespace-nowrap">
          {paired.shadowRight} of {paired.runs}
          <span className="text-[12px] text-muted">the seat: {paired.participantRight}</span>
        </span>
      )
  },
  {
    title: "Difference",
    align: "right",
    from: "sm",
    by: ({ paired }) => paired.p,
    cell: ({ paired }) => <span className="num whitespace-nowrap">{pairedText(paired)}</span>
  },
  {
    title: "Errs most with",
    from: "md",
    cell: ({ errors }) => {
      const closest = errors === undefined ? undefined : closestSeat(errors.pairs)
      return closest === undefined ? (
        <span className="text-muted">not known</span>
      ) : (
        <span className="num" title={closest.says}>
          <UserText text={closest.seat} /> {closest.text}
        </span>
      )
    }
  },
  {
    title: "Cost a run",
    align: "right",
    from: "sm",
    by: ({ cost }) => cost?.costPerRunUsd,
    cell: ({ cost }) =>
      cost === undefined ? (
        <span className="text-muted">not known</span>
      ) : (
        <span className="num whitespace-nowrap" title={cost.guessedCostUsd > 0 ? "a part of it is a guess" : undefined}>
          {cost.guessedCostUsd > 0 ? "about " : ""}
          {dollars(cost.costPerRunUsd)}
        </span>
      )
  }
]
