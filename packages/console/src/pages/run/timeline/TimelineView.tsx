import { type CanonicalEvent, shownBegin } from "@runplane/domain"
import { useEffect, useMemo, useRef, useState } from "react"
import { Avatar, hue, UserText } from "../../../ui/basics.tsx"
import { useBrush } from "../../../ui/charts/useBrush.ts"
import { useHeight, useWidth } from "../../../ui/hooks.ts"
import { Empty } from "../../../ui/States.tsx"
import { distinctLabels, spacedTicks } from "../../../view/charts/Axis.ts"
import { clockTime, counted, duration } from "../../../view/format/Format.ts"
import { LANE_KINDS, type LaneKind, laneDensity, laneEventsOf } from "../../../view/run/Lanes.ts"
import { timeScale } from "../../../view/run/Strip.ts"
import { brushed, rangeOf, rangeText } from "../../../view/run/Zoom.ts"
import type { RunViewProps } from "../useShown.ts"
import { Brushed, Minimap } from "./Minimap.tsx"

/** Least and greatest height of a lane: few lanes use the height of the page. */
const LEAST_LANE = 40
const MOST_LANE = 88
/** How near the pointer has to be to a dot, pixels. */
const REACH = 9
const MOST_LANES = 300
/** Room at both sides of the drawing, and the least length of a bar, pixels. */
const EDGE = 14
const LEAST_BAR = 6
/** Of the axis: its height, and the width of a label, pixels. */
const AXIS = 20
const LABEL = 92
/** Width of a bar of the density, and how many icons for each of them are too many to be distinguished. */
const COLUMN = 4
const DOTS_A_COLUMN = 0.7

/** A lane for each participant with its messages and its calls of models and tools; long pauses are shortened. */
export default function TimelineView({ page, set, shown }: RunViewProps) {
  const { participants } = shown.state
  const lanes = participants.slice(0, MOST_LANES)
  const laneOf = useMemo(() => new Map(lanes.map(({ participantId }, lane) => [participantId, lane])), [lanes])
  const all = useMemo(() => laneEventsOf(shown.all), [shown.all])
  const indices = useMemo(() => all.map(({ event }) => event.index), [all])
  const positions = useMemo(() => timeScale(all.map(({ at }) => at)).positions, [all])
  const range = useMemo(() => rangeOf(page.zoom, indices), [page.zoom, indices])
  const dots = useMemo(() => all.slice(range.first, range.last + 1), [all, range])
  const scale = useMemo(() => timeScale(dots.map(({ at }) => at)), [dots])
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useWidth(canvas)
  const pane = useRef<HTMLDivElement>(null)
  const paneHeight = useHeight(pane)
  const laneHeight = Math.min(
    MOST_LANE,
    Math.max(LEAST_LANE, Math.floor((paneHeight - AXIS - 2) / Math.max(1, lanes.length)))
  )
  const drawn = Math.max(1, width - 2 * EDGE)
  const columns = Math.max(1, Math.floor(drawn / COLUMN))
  const density = useMemo(
    () =>
      dots.length <= lanes.length * columns * DOTS_A_COLUMN
        ? undefined
        : laneDensity(
            dots.map(({ who }) => laneOf.get(who)),
            scale.positions,
            columns
          ),
    [dots, lanes.length, laneOf, scale, columns]
  )
  const ticks = useMemo(() => {
    const begin = shownBegin(shown.run)
    const found = spacedTicks(scale.positions, LABEL / drawn).filter(
      (dot) => (scale.positions[dot] ?? 0) * drawn <= drawn - LABEL / 2
    )
    const labels = distinctLabels(
      found.map((dot) => dots[dot]?.at ?? 0),
      [(at) => `+${duration(at - begin)}`, clockTime]
    )
    return found.map((dot, at) => ({ left: EDGE + (scale.positions[dot] ?? 0) * drawn, label: labels[at] ?? "" }))
  }, [dots, scale, drawn, shown.run])
  const [hovered, setHovered] = useState<CanonicalEvent>()
  const until = shown.isNow ? Number.POSITIVE_INFINITY : shown.start + shown.events.length

  const x = (dot: number) => EDGE + (scale.positions[dot] ?? 0) * drawn
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext("2d")
    if (!element || !context || width === 0) return
    const ratio = window.devicePixelRatio
    const height = lanes.length * laneHeight
    element.width = width * ratio
    element.height = height * ratio
    context.scale(ratio, ratio)
    const styles = getComputedStyle(element)
    const colour = (name: string) => styles.getPropertyValue(name)
    context.clearRect(0, 0, width, height)
    for (const { from, to } of scale.idle) {
      context.fillStyle = colour("--c-sunken")
      const left = EDGE + from * (width - 2 * EDGE)
      context.fillRect(left, 0, Math.max(2, (to - from) * (width - 2 * EDGE)), height)
    }
    context.fillStyle = colour("--c-line")
    lanes.forEach((_, lane) => {
      context.fillRect(0, lane * laneHeight + laneHeight / 2, width, 1)
    })
    for (const { left } of ticks) context.fillRect(left, 0, 1, height)
    if (density !== undefined) {
      const most = Math.max(...[...density.values()].flat())
      const past = dots.findLastIndex(({ event }) => event.index <= until)
      for (const [lane, counts] of density) {
        context.fillStyle = colour(`--p-${lane % 8}`)
        counts.forEach((count, column) => {
          if (count === 0) return
          const tall = 2 + Math.sqrt(count / most) * (laneHeight - 12)
          context.globalAlpha = EDGE + column * COLUMN > x(past) ? 0.22 : 1
          context.fillRect(EDGE + column * COLUMN, lane * laneHeight + (laneHeight - tall) / 2, COLUMN - 1, tall)
        })
      }
    }
    dots.forEach(({ at, event, kind, lastedMs, who }, dot) => {
      if (density !== undefined && event.index !== page.event) return
      const lane = laneOf.get(who)
      if (lane === undefined) return
      const left = x(dot)
      const middle = lane * laneHeight + laneHeight / 2
      context.globalAlpha = event.index > until ? 0.22 : 1
      context.fillStyle = colour(`--p-${lane % 8}`)
      context.strokeStyle = context.fillStyle
      const begun = lastedMs === undefined ? left : EDGE + scale.positionAt(at - lastedMs) * (width - 2 * EDGE)
      draw(context, kind, left, middle, Math.max(LEAST_BAR, left - begun))
      if (event.index === page.event) {
        context.strokeStyle = colour("--c-text")
        context.lineWidth = 1.5
        context.beginPath()
        context.arc(left, middle, 10, 0, 2 * Math.PI)
        context.stroke()
      }
    })
    context.globalAlpha = 1
  })

  const nearest = (offsetX: number, offsetY: number): CanonicalEvent | undefined => {
    const lane = Math.floor(offsetY / laneHeight)
    let best: { readonly event: CanonicalEvent; readonly away: number } | undefined
    dots.forEach(({ event, who }, dot) => {
      if (laneOf.get(who) !== lane) return
      const away = Math.abs(x(dot) - offsetX)
      if (away <= REACH && (best === undefined || away < best.away)) best = { event, away }
    })
    return best?.event
  }

  const { brush, handlers } = useBrush({
    edge: EDGE,
    onBrush: (from, to) => {
      const within = brushed(scale.positions, from, to)
      if (within === undefined) return
      const chosen = { first: range.first + within.first, last: range.first + within.last }
      set({ zoom: rangeText(chosen, indices) })
    },
    onTap: (left, top) => {
      const found = nearest(left, top)
      if (found !== undefined) set({ event: found.index })
    }
  })
  if (lanes.length === 0) return <Empty title="No participants yet" />
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line bg-panel px-4 py-2 text-[12px] text-soft">
        {LANE_KINDS.map(({ kind, title }) => (
          <span key={kind} className="inline-flex items-center gap-1.5">
            <Sign kind={kind} /> {title}
          </span>
        ))}
        {density === undefined ? null : (
          <span className="font-medium">{counted(dots.length, "event")} as a density; zoom in to see each</span>
        )}
        <span className="text-muted">
          {scale.idle.length === 0
            ? ""
            : `${duration(scale.idle.reduce((sum, { ms }) => sum + ms, 0))} of waiting shortened (grey)`}
        </span>
      </div>
      {all.length < 3 ? null : (
        <Minimap indices={indices} positions={positions} range={range} set={(zoom) => set({ zoom })} />
      )}
      <div ref={pane} className="relative min-h-0 flex-1 overflow-auto bg-panel" tabIndex={0}>
        <div className="flex">
          <ul
            style={{ paddingTop: AXIS }}
            className="sticky left-0 z-20 w-[132px] shrink-0 border-r border-line bg-panel sm:w-[176px]"
          >
            {lanes.map(({ participantId }) => (
              <li key={participantId} className="flex items-center gap-2 px-3" style={{ height: laneHeight }}>
                <Avatar name={participantId} index={shown.participantIndex(participantId)} size={22} />
                <UserText text={participantId} className="truncate font-medium" />
              </li>
            ))}
          </ul>
          <div className="relative min-w-0 flex-1">
            <div
              aria-hidden
              className="num sticky top-0 z-10 overflow-hidden border-b border-line bg-panel text-[11px] whitespace-nowrap text-muted"
              style={{ height: AXIS }}
            >
              {ticks.map(({ label, left }) => (
                <span key={left} className="absolute top-0.5" style={{ left }}>
                  {label}
                </span>
              ))}
            </div>
            <canvas
              ref={canvas}
              aria-label="Messages by participant over time; the view Events lists the same"
              role="img"
              className={`block w-full ${hovered === undefined ? "" : "cursor-pointer"}`}
              style={{ height: lanes.length * laneHeight }}
              onMouseMove={({ nativeEvent }) => setHovered(nearest(nativeEvent.offsetX, nativeEvent.offsetY))}
              onMouseLeave={() => setHovered(undefined)}
              {...handlers}
            />
            <Brushed brush={brush} />
          </div>
        </div>
      </div>
      <p className="num h-8 shrink-0 truncate border-t border-line bg-panel px-4 leading-8 text-soft">
        {hovered === undefined ? (
          <span className="text-muted">Point at an icon to read it, click it to see the event, drag to zoom in.</span>
        ) : (
          <UserText text={`event ${hovered.index}: ${laneText(hovered)}`} />
        )}
      </p>
    </div>
  )
}

const laneText = (event: CanonicalEvent): string => {
  const found = laneEventsOf([event])[0]
  return found === undefined ? event.recorded.type : `${found.who} · ${found.text}`
}

/** Draws the icon of a kind at a position: the shape shows the kind, the colour the participant. */
const draw = (context: CanvasRenderingContext2D, kind: LaneKind, x: number, y: number, length: number): void => {
  context.lineWidth = 2
  context.beginPath()
  switch (kind) {
    case "model":
    case "tool":
      context.globalAlpha *= 0.55
      context.roundRect(x - length, kind === "model" ? y + 7 : y - 12, length, 5, 2)
      context.fill()
      context.globalAlpha /= 0.55
      return
    case "proposal":
      context.rect(x - 5.5, y - 5.5, 11, 11)
      context.fill()
      return
    case "vote":
      context.arc(x, y, 5.5, 0, 2 * Math.PI)
      context.fill()
      return
    case "opinion":
      context.arc(x, y, 4.8, 0, 2 * Math.PI)
      context.stroke()
      return
    case "objection":
      context.moveTo(x - 5, y - 5)
      context.lineTo(x + 5, y + 5)
      context.moveTo(x + 5, y - 5)
      context.lineTo(x - 5, y + 5)
      context.stroke()
      return
    case "commitment":
      context.moveTo(x, y - 8)
      context.lineTo(x + 8, y)
      context.lineTo(x, y + 8)
      context.lineTo(x - 8, y)
      context.closePath()
      context.fill()
      return
    case "other":
      context.arc(x, y, 2, 0, 2 * Math.PI)
      context.fill()
  }
}

const isBar = (kind: LaneKind) => kind === "model" || kind === "tool"

const Sign = ({ kind }: { readonly kind: LaneKind }) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext("2d")
    if (!canvas.current || !context) return
    const ratio = window.devicePixelRatio
    canvas.current.width = 18 * ratio
    canvas.current.height = 18 * ratio
    context.scale(ratio, ratio)
    const colour = getComputedStyle(canvas.current).getPropertyValue("--c-soft")
    context.fillStyle = colour
    context.strokeStyle = colour
    draw(context, kind, isBar(kind) ? 16 : 9, kind === "model" ? 0 : kind === "tool" ? 18 : 9, 14)
  })
  return <canvas ref={canvas} aria-hidden style={{ width: 18, height: 18, color: hue(0) }} />
}
