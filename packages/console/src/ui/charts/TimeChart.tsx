import { useEffect, useRef, useState } from "react"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { distinctLabels } from "../../view/charts/Axis.ts"
import type { TimeSpan } from "../../view/charts/Series.ts"
import { clockMinute, clockSecond, dateTime, dayMonth } from "../../view/format/Format.ts"
import { timeSetting } from "../../view/format/TimeSetting.ts"

export interface ChartLine {
  readonly title: string
  /** Of a token of the theme: `--c-accent`. */
  readonly colour: string
  readonly values: ReadonlyArray<number | null>
}

interface TimeChartProps {
  readonly label: string
  /** Starts of the buckets, milliseconds. */
  readonly at: ReadonlyArray<number>
  readonly bucketMs: number
  readonly lines: ReadonlyArray<ChartLine>
  readonly as: "bars" | "line"
  /** Values are whole numbers. */
  readonly isCount?: boolean
  readonly format: (value: number) => string
  /** Charts of one name share the crosshair. */
  readonly sync: string
  readonly onZoom: (span: TimeSpan) => void
  readonly height?: number
  /** Times that are marked with a line, milliseconds. */
  readonly marks?: ReadonlyArray<number>
  /** Without the values under the chart. */
  readonly isBare?: boolean
}

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** The name of the theme, updated when it changes: a canvas does not follow the tokens by itself. */
const useThemeName = (): string => {
  const [name, setName] = useState(() => document.documentElement.dataset["theme"] ?? "")
  useEffect(() => {
    const watch = new MutationObserver(() => setName(document.documentElement.dataset["theme"] ?? ""))
    watch.observe(document.documentElement, { attributeFilter: ["data-theme"] })
    return () => watch.disconnect()
  }, [])
  return name
}

/** The colour of the area of a bar. */
const faded = (colour: string) => `color-mix(in srgb, ${colour} 60%, transparent)`

const DAY_MS = 86_400_000
const MINUTE_S = 60

/** Days, or the clock with seconds where ticks are closer than a minute; a repeated text gets its date. */
const tickFormats = (ticks: ReadonlyArray<number>, bucketMs: number) => {
  const [first = 0, second = Number.POSITIVE_INFINITY] = ticks
  const tick = bucketMs >= DAY_MS ? dayMonth : second - first < MINUTE_S ? clockSecond : clockMinute
  return [tick, dateTime]
}

/** Steps of an axis that counts. */
const WHOLE_STEPS = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => step * 10 ** power))
  .sort((a, b) => a - b)

/** A drag of fewer pixels is a click. */
const FEWEST_PIXELS = 4

const NO_MARKS: ReadonlyArray<number> = []

/** Draws a dashed line at each of these times. */
const drawMarks = (chart: uPlot, marks: ReadonlyArray<number>) => {
  const { ctx } = chart
  const { height, left, top, width } = chart.bbox
  ctx.save()
  ctx.strokeStyle = token("--c-line-strong")
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio])
  for (const at of marks) {
    const x = Math.round(chart.valToPos(at / 1_000, "x", true))
    if (x < left || x > left + width) continue
    ctx.beginPath()
    ctx.moveTo(x, top)
    ctx.lineTo(x, top + height)
    ctx.stroke()
  }
  ctx.restore()
}

/** Series over time on a canvas: a crosshair that all charts of the page share, and a drag that chooses a time. */
export default function TimeChart({
  as,
  at,
  bucketMs,
  format,
  height = 132,
  isBare = false,
  isCount = false,
  label,
  lines,
  marks = NO_MARKS,
  onZoom,
  sync
}: TimeChartProps) {
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const themeName = useThemeName()
  const { zone } = timeSetting.get()
  const zoom = useRef(onZoom)
  zoom.current = onZoom
  const style = JSON.stringify([lines.map(({ colour, title }) => [colour, title]), as, bucketMs, themeName, zone])
  const data: uPlot.AlignedData = [at.map((ms) => ms / 1_000), ...lines.map(({ values }) => [...values])]
  const latest = useRef({ data, format, lines, marks })
  latest.current = { data, format, lines, marks }

  useEffect(() => {
    const node = container.current
    if (node === null) return
    const said = (value: number | null | undefined) =>
      value === null || value === undefined ? "" : latest.current.format(value)
    const axis = {
      stroke: token("--c-muted"),
      font: "10px 'Inter Variable', sans-serif",
      grid: { stroke: token("--c-line"), width: 1 },
      ticks: { show: false }
    }
    const bars = as === "bars" ? uPlot.paths.bars?.({ size: [0.8, 28], align: 1 }) : undefined
    const made = new uPlot(
      {
        width: Math.max(120, node.clientWidth),
        height,
        padding: [8, 18, 0, 0],
        ...(zone !== "" && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), zone) }),
        legend: { show: !isBare, live: true },
        cursor: {
          sync: { key: sync, setSeries: false },
          y: false,
          points: { size: 6 },
          drag: { x: true, y: false, setScale: false }
        },
        scales: {
          // The last bucket has its whole width.
          x: { time: true, range: (_, first, last) => [first, Math.max(last, first) + bucketMs / 1_000] },
          y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.08 : 1] }
        },
        axes: [
          {
            ...axis,
            space: 70,
            size: 24,
            values: (_, ticks) =>
              distinctLabels(
                ticks.map((tick) => tick * 1_000),
                tickFormats(ticks, bucketMs)
              ).slice()
          },
          {
            ...axis,
            size: 46,
            space: 30,
            ...(isCount && { incrs: WHOLE_STEPS }),
            values: (_, ticks) => distinctLabels(ticks, [latest.current.format]).slice()
          }
        ],
        series: [
          { label: "", value: (_, at) => (typeof at === "number" ? dateTime(at * 1_000) : "") },
          ...latest.current.lines.map(({ colour, title }) => ({
            label: title,
            stroke: token(colour),
            width: 1.5,
            points: { show: as === "line", size: 3 },
            spanGaps: false,
            value: (_: uPlot, value: number | null) => said(value),
            ...(bars !== undefined && { fill: faded(token(colour)), width: 0, paths: bars })
          }))
        ],
        hooks: {
          draw: [(chart) => drawMarks(chart, latest.current.marks)],
          setSelect: [
            (chart) => {
              const { left, width } = chart.select
              if (width < FEWEST_PIXELS) return
              const from = chart.posToVal(left, "x") * 1_000
              const to = chart.posToVal(left + width, "x") * 1_000
              chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
              zoom.current({ from: Math.round(from), to: Math.round(to) })
            }
          ]
        }
      },
      latest.current.data,
      node
    )
    plot.current = made
    const sizes = new ResizeObserver(() => made.setSize({ width: Math.max(120, node.clientWidth), height }))
    sizes.observe(node)
    return () => {
      sizes.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [style, height, sync, as])

  const drawn = JSON.stringify([data, marks])
  useEffect(() => {
    plot.current?.setData(latest.current.data)
  }, [drawn])

  return <div ref={container} role="img" aria-label={label} className="chart min-w-0" />
}
