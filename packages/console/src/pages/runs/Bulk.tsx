import type { Run } from "@runplane/api"
import { Archive, ArchiveRestore, Ban, Columns2, Download, type LucideIcon, Pause, Play, Trash2, X } from "lucide-react"
import { Suspense, useState } from "react"
import { useLocation } from "wouter"
import { lazily } from "../../ui/lazily.ts"
import { useMay } from "../../ui/useMe.ts"
import { counted } from "../../view/format/Format.ts"
import type { BulkAction } from "./BulkActions.ts"
import type { MatchingRuns } from "./RunQuery.ts"

const BulkDialog = lazily(() => import("./BulkDialog.tsx"))

const ACTIONS: ReadonlyArray<readonly [BulkAction, string, LucideIcon]> = [
  ["cancel", "Cancel", Ban],
  ["suspend", "Suspend", Pause],
  ["resume", "Resume", Play],
  ["archive", "Archive", Archive],
  ["unarchive", "Unarchive", ArchiveRestore],
  ["export", "Export", Download],
  ["delete", "Delete", Trash2]
]

interface BulkProps {
  readonly runs: ReadonlyArray<Run>
  readonly onClear: () => void
  /** All runs that match the search, when these are more than the chosen ones and all loaded ones are chosen. */
  readonly all?: MatchingRuns | undefined
}

/** An action and its runs as they were chosen; the list changes below the dialog. */
interface Order {
  readonly action: BulkAction
  readonly runs: ReadonlyArray<Run>
  readonly all: MatchingRuns | undefined
}

/** Actions on the chosen runs, as far as the role allows them. */
export default function Bulk({ all, onClear, runs }: BulkProps) {
  const [order, setOrder] = useState<Order>()
  const [isAll, setAll] = useState(false)
  const matching = isAll ? all : undefined
  // Another choice is of loaded runs again.
  if (isAll && all === undefined) setAll(false)
  return (
    <>
      {runs.length === 0 ? null : (
        <Toolbar
          runs={runs}
          all={all}
          matching={matching}
          onAll={() => setAll(true)}
          onClear={onClear}
          onAct={(action) => setOrder({ action, runs, all: matching })}
        />
      )}
      {order === undefined ? null : (
        <Suspense fallback={null}>
          <BulkDialog {...order} onClose={() => setOrder(undefined)} />
        </Suspense>
      )}
    </>
  )
}

interface ToolbarProps extends BulkProps {
  /** Set when all runs of the search are chosen. */
  readonly matching: MatchingRuns | undefined
  readonly onAll: () => void
  readonly onAct: (action: BulkAction) => void
}

const Toolbar = ({ all, matching, onAct, onAll, onClear, runs }: ToolbarProps) => {
  const mayOperate = useMay()("operator")
  const isAdmin = useMay()("admin")
  const [, go] = useLocation()
  const [left, right] = runs
  const hasArchived = matching !== undefined || runs.some(({ archivedAt }) => archivedAt !== null)
  const shown = ACTIONS.filter(([name]) =>
    name === "delete" ? isAdmin : mayOperate && (name !== "unarchive" || hasArchived)
  )
  return (
    <div
      role="toolbar"
      aria-label="Chosen runs"
      className="flex flex-wrap items-center gap-1.5 border-b border-line bg-accent-soft px-4 py-1.5"
    >
      <span className="num font-medium" aria-live="polite">
        {counted(matching?.total ?? runs.length, "run")} chosen
      </span>
      {all === undefined || matching !== undefined ? null : (
        <button type="button" className="btn btn-quiet text-accent" onClick={onAll}>
          Choose all {counted(all.total, "run")} that match
        </button>
      )}
      <button
        type="button"
        className="btn"
        disabled={runs.length !== 2 || matching !== undefined}
        title={runs.length === 2 ? "Compare the two runs" : "Choose two runs to compare them"}
        onClick={() => {
          // The earlier run is on the left.
          const [one, other] = (left?.createdAt ?? "") <= (right?.createdAt ?? "") ? [left, right] : [right, left]
          go(`/compare?left=${one?.id ?? ""}&right=${other?.id ?? ""}`)
        }}
      >
        <Columns2 size={14} aria-hidden /> Compare
      </button>
      {shown.map(([name, title, Icon]) => (
        <button
          key={name}
          type="button"
          className={`btn ${name === "delete" ? "btn-bad" : ""}`}
          onClick={() => onAct(name)}
        >
          <Icon size={14} aria-hidden /> {title}
        </button>
      ))}
      <button type="button" className="btn btn-quiet ml-auto" onClick={onClear}>
        <X size={14} aria-hidden /> Clear
      </button>
    </div>
  )
}
