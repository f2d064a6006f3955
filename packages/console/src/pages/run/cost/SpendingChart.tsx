import { useRef } from "react"
import { hue } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { useWidth } from "../../../ui/hooks.ts"
import { distinctLabels, roundTicks, spacedTicks } from "../../../view/charts/Axis.ts"
import { axisDollars, compact, duration, whole } from "../../../view/format/Format.ts"
import type { Column } from "../../../view/run/Spending.ts"

interface SpendingChartProps {
  readonly columns: ReadonlyArray<Column>
  readonly participantIndex: (participantId: string) => number
  readonly onSelect: (index: number) => void
}

/** Heights and margins of the drawing, pixels. */
const TOKENS = 140
const LATENCY = 46
const GAP = 30
const TOP = 10
const LEFT = 52
const RIGHT = 64
/** Space of a label of the axis of events. */
const LABEL = 84
const TICKS = 4
const AXIS = { fontSize: 10, fill: "var(--c-muted)" }

/** Tokens of each call stacked by participant, the cumulated cost, and the latency of the calls; each with its axis. */
export const SpendingChart = ({ columns, onSelect, participantIndex }: SpendingChartProps) => {
  const figure = useRef<HTMLElement>(null)
  const width = Math.max(240, useWidth(figure))
  const plot = width - LEFT - RIGHT
  const largest = Math.max(0, ...columns.map(({ total }) => total))
  const most = Math.max(1, largest)
  const longest = Math.max(1, ...columns.map(({ latencyMs = 0 }) => latencyMs))
  const last = columns.at(-1)
  const cost = last?.costUsd ?? 0
  const step = plot / Math.max(1, columns.length)
  const bar = Math.min(46, step * 0.7)
  const left = (at: number) => LEFT + at * step + (step - bar) / 2
  const yOf = (share: number) => TOP + TOKENS * (1 - share)
  const line = columns.map(({ costUsd }, at) => `${left(at) + bar / 2},${yOf(cost === 0 ? 0 : costUsd / cost)}`)
  const base = TOP + TOKENS
  const bottom = base + GAP + LATENCY
  const tokenTicks = roundTicks(largest, TICKS)
  const tokenLabels = distinctLabels(tokenTicks, [compact, whole])
  const costTicks = cost === 0 ? [] : roundTicks(cost, TICKS)
  const costLabels = distinctLabels(costTicks, [axisDollars])
  const eventTicks = spacedTicks(
    columns.map((_, at) => left(at)),
    LABEL
  )
  return (
    <figure ref={figure}>
      <svg width={width} height={bottom + 4} className="block" role="img" aria-label="Tokens, cost and latency">
        {tokenTicks.map((tick, at) => (
          <g key={tick}>
            <line x1={LEFT} x2={LEFT + plot} y1={yOf(tick / most)} y2={yOf(tick / most)} stroke="var(--c-line)" />
            <text x={LEFT - 6} y={yOf(tick / most) + 3} textAnchor="end" {...AXIS}>
              {tokenLabels[at]}
            </text>
          </g>
        ))}
        {costTicks.map((tick, at) => (
          <text key={tick} x={LEFT + plot + 6} y={yOf(tick / cost) + 3} {...AXIS}>
            {costLabels[at]}
          </text>
        ))}
        {eventTicks.map((at) => (
          <text key={at} x={left(at)} y={base + 13} {...AXIS}>
            event {columns[at]?.from}
          </text>
        ))}
        <line x1={LEFT} x2={LEFT + plot} y1={bottom} y2={bottom} stroke="var(--c-line)" />
        {longest <= 1 ? null : (
          <>
            <text x={LEFT - 6} y={bottom - LATENCY + 8} textAnchor="end" {...AXIS}>
              {duration(longest)}
            </text>
            <text x={LEFT - 6} y={bottom} textAnchor="end" {...AXIS}>
              0 ms
            </text>
          </>
        )}
        {columns.map(({ from, latencyMs, to, tokens, total }, at) => {
          let top = base
          const about = from === to ? `event ${from}` : `events ${from} to ${to}`
          return (
            <g key={from}>
              <title>
                {`${about}: ${whole(total)} tokens; ${tokens.map(([who, count]) => `${who} ${whole(count)}`).join(", ")}`}
              </title>
              {tokens.map(([who, count]) => {
                const tall = (count / most) * TOKENS
                top -= tall
                return (
                  <rect key={who} x={left(at)} y={top} width={bar} height={tall} fill={hue(participantIndex(who))} />
                )
              })}
              {latencyMs === undefined ? null : (
                <rect
                  x={left(at)}
                  y={bottom - (latencyMs / longest) * LATENCY}
                  width={bar}
                  height={(latencyMs / longest) * LATENCY}
                  fill="var(--c-line-strong)"
                >
                  <title>{`${about}: ${duration(latencyMs)}`}</title>
                </rect>
              )}
            </g>
          )
        })}
        {cost === 0 ? null : (
          <polyline
            points={line.join(" ")}
            fill="none"
            stroke="var(--c-text)"
            strokeWidth={1.5}
            strokeDasharray="4 3"
          />
        )}
      </svg>
      <figcaption className="mt-1.5 flex flex-wrap gap-x-5 text-[12px] text-muted">
        <span>Columns, left axis: tokens by participant, at most {whole(largest)}</span>
        {last === undefined || cost === 0 ? null : (
          <span>
            Dashed, right axis: cumulated cost, <CostText cost={last} />
          </span>
        )}
        {longest <= 1 ? null : <span>Below: latency, at most {duration(longest)}</span>}
        <button
          type="button"
          className="text-accent underline"
          onClick={() => onSelect(columns.toSorted((one, other) => other.total - one.total)[0]?.from ?? 1)}
        >
          The largest call
        </button>
      </figcaption>
    </figure>
  )
}
