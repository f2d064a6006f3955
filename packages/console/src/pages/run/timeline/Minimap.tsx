import { ChevronLeft, ChevronRight, Maximize2, ZoomIn, ZoomOut } from "lucide-react"
import { useMemo } from "react"
import { useBrush } from "../../../ui/charts/useBrush.ts"
import { counted, whole } from "../../../view/format/Format.ts"
import { brushed, moved, type Range, rangeText, zoomedIn, zoomedOut } from "../../../view/run/Zoom.ts"

interface MinimapProps {
  /** Index of each drawn event in order, and its position along the whole, 0 to 1. */
  readonly indices: ReadonlyArray<number>
  readonly positions: ReadonlyArray<number>
  readonly range: Range
  readonly set: (zoom: string) => void
}

/** Units of the drawing, which is scaled to the available width. */
const WIDTH = 1_000
const HEIGHT = 22

/** The whole of a timeline, small, with the part that is shown: dragging over it shows another part. */
export const Minimap = ({ indices, positions, range, set }: MinimapProps) => {
  const count = indices.length
  const ticks = useMemo(() => {
    const columns = new Set(positions.map((position) => Math.round(position * WIDTH)))
    return [...columns].map((column) => `M${column} 5V${HEIGHT - 5}`).join("")
  }, [positions])
  const show = (next: Range | undefined) => (next === undefined ? undefined : set(rangeText(next, indices)))
  const { brush, handlers } = useBrush({ onBrush: (from, to) => show(brushed(positions, from, to)) })
  const from = (positions[range.first] ?? 0) * WIDTH
  const to = (positions[range.last] ?? 1) * WIDTH
  const isWhole = rangeText(range, indices) === ""
  const buttons = [
    { icon: ChevronLeft, title: "Earlier", not: range.first <= 0, next: () => moved(range, count, -1) },
    { icon: ChevronRight, title: "Later", not: range.last >= count - 1, next: () => moved(range, count, 1) },
    { icon: ZoomIn, title: "Zoom in", not: range.last - range.first < 2, next: () => zoomedIn(range, count) },
    { icon: ZoomOut, title: "Zoom out", not: isWhole, next: () => zoomedOut(range, count) },
    { icon: Maximize2, title: "Show all", not: isWhole, next: () => ({ first: 0, last: count - 1 }) }
  ]
  return (
    <div className="flex items-center gap-2 border-b border-line bg-panel px-4 py-1">
      <div className="relative min-w-0 flex-1 cursor-crosshair touch-none" {...handlers}>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="block w-full bg-sunken"
          style={{ height: HEIGHT }}
          role="img"
          aria-label={`Shown are ${counted(range.last - range.first + 1, "event")} of ${whole(count)}`}
        >
          <path d={ticks} stroke="var(--c-line-strong)" strokeWidth={1} vectorEffect="non-scaling-stroke" />
          {isWhole ? null : (
            <rect
              data-zoomed={`${indices[range.first]}-${indices[range.last]}`}
              x={from}
              width={Math.max(4, to - from)}
              height={HEIGHT}
              fill="var(--c-accent)"
              fillOpacity={0.18}
              stroke="var(--c-accent)"
              vectorEffect="non-scaling-stroke"
            />
          )}
        </svg>
        <Brushed brush={brush} />
      </div>
      {buttons.map(({ icon: Icon, next, not, title }) => (
        <button
          key={title}
          type="button"
          className="btn px-1.5"
          aria-label={title}
          title={title}
          disabled={not}
          onClick={() => show(next())}
        >
          <Icon size={14} aria-hidden />
        </button>
      ))}
    </div>
  )
}

/** The selected stretch above a drawing. */
export const Brushed = ({ brush }: { readonly brush: { readonly from: number; readonly to: number } | undefined }) =>
  brush === undefined ? null : (
    <div
      className="pointer-events-none absolute inset-y-0 border-x border-accent bg-accent/15"
      style={{ left: Math.min(brush.from, brush.to), width: Math.abs(brush.to - brush.from) }}
    />
  )
