import type { Run } from "@runplane/api"
import { Archive, Ban, Columns2, Download, type LucideIcon, Pause, Play, Trash2, X } from "lucide-react"
import { Suspense, useState } from "react"
import { useLocation } from "wouter"
import { lazily } from "../../ui/lazily.ts"
import { useMay } from "../../ui/useMe.ts"
import { counted } from "../../view/Format.ts"
import type { BulkAction } from "./BulkDialog.tsx"

const BulkDialog = lazily(() => import("./BulkDialog.tsx"))

const ACTIONS: ReadonlyArray<readonly [BulkAction, string, LucideIcon]> = [
  ["cancel", "Cancel", Ban],
  ["suspend", "Suspend", Pause],
  ["resume", "Resume", Play],
  ["archive", "Archive", Archive],
  ["export", "Export", Download],
  ["delete", "Delete", Trash2]
]

interface BulkProps {
  readonly runs: ReadonlyArray<Run>
  readonly onClear: () => void
}

/** An action and its runs as they were chosen; the list changes below the dialog. */
interface Order {
  readonly action: BulkAction
  readonly runs: ReadonlyArray<Run>
}

/** Actions on the chosen runs, as far as the role allows them. */
export const Bulk = ({ onClear, runs }: BulkProps) => {
  const [order, setOrder] = useState<Order>()
  return (
    <>
      {runs.length === 0 ? null : (
        <Toolbar runs={runs} onClear={onClear} onAct={(action) => setOrder({ action, runs })} />
      )}
      {order === undefined ? null : (
        <Suspense fallback={null}>
          <BulkDialog {...order} onClose={() => setOrder(undefined)} />
        </Suspense>
      )}
    </>
  )
}

const Toolbar = ({ onAct, onClear, runs }: BulkProps & { readonly onAct: (action: BulkAction) => void }) => {
  const mayOperate = useMay()("operator")
  const isAdmin = useMay()("admin")
  const [, go] = useLocation()
  const [left, right] = runs
  const shown = ACTIONS.filter(([name]) => (name === "delete" ? isAdmin : mayOperate))
  return (
    <div
      role="toolbar"
      aria-label="Chosen runs"
      className="flex flex-wrap items-center gap-1.5 border-b border-line bg-accent-soft px-4 py-1.5"
    >
      <span className="num font-medium" aria-live="polite">
        {counted(runs.length, "run")} chosen
      </span>
      <button
        type="button"
        className="btn"
        disabled={runs.length !== 2}
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
