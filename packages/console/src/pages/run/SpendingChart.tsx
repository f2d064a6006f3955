import { hue } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { duration, whole } from "../../view/Format.ts"
import type { Column } from "../../view/Spending.ts"

interface SpendingChartProps {
  readonly columns: ReadonlyArray<Column>
  readonly participantIndex: (participantId: string) => number
  readonly onSelect: (index: number) => void
}

const WIDTH = 900
const TOKENS = 120
const LATENCY = 46
const GAP = 26

/** Tokens of each call stacked by participant, the cumulated cost, and the latency of the calls. */
export const SpendingChart = ({ columns, onSelect, participantIndex }: SpendingChartProps) => {
  const largest = Math.max(0, ...columns.map(({ total }) => total))
  const most = Math.max(1, largest)
  const longest = Math.max(1, ...columns.map(({ latencyMs = 0 }) => latencyMs))
  const last = columns.at(-1)
  const cost = last?.costUsd ?? 0
  const step = WIDTH / Math.max(1, columns.length)
  const bar = Math.min(46, step * 0.7)
  const left = (at: number) => at * step + (step - bar) / 2
  const line = columns.map(
    ({ costUsd }, at) => `${left(at) + bar / 2},${TOKENS - (cost === 0 ? 0 : (costUsd / cost) * (TOKENS - 8))}`
  )
  const height = TOKENS + GAP + LATENCY
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        className="h-auto w-full"
        role="img"
        aria-label="Tokens, cost and latency"
      >
        <line x1={0} x2={WIDTH} y1={TOKENS} y2={TOKENS} stroke="var(--c-line)" />
        <line x1={0} x2={WIDTH} y1={height} y2={height} stroke="var(--c-line)" />
        {columns.map(({ from, latencyMs, to, tokens, total }, at) => {
          let top = TOKENS
          const about = from === to ? `event ${from}` : `events ${from} to ${to}`
          return (
            <g key={from}>
              <title>
                {`${about}: ${whole(total)} tokens; ${tokens.map(([who, count]) => `${who} ${whole(count)}`).join(", ")}`}
              </title>
              {tokens.map(([who, count]) => {
                const tall = (count / most) * (TOKENS - 8)
                top -= tall
                return (
                  <rect key={who} x={left(at)} y={top} width={bar} height={tall} fill={hue(participantIndex(who))} />
                )
              })}
              {latencyMs === undefined ? null : (
                <rect
                  x={left(at)}
                  y={height - (latencyMs / longest) * LATENCY}
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
        <span>Columns: tokens by participant, at most {whole(largest)}</span>
        {last === undefined || cost === 0 ? null : (
          <span>
            Dashed: cumulated cost, <CostText cost={last} />
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
