import type { AgentVoteRecord } from "@runplane/api"
import { calibrationText, curveOf } from "../../view/agents/Reliability.ts"
import { percent, whole } from "../../view/format/Format.ts"

interface ReliabilityCurveProps {
  readonly bins: AgentVoteRecord["reliability"]
}

const SIZE = 260
const LEFT = 52
const BOTTOM = 34
const TOP = 12
const RIGHT = 14
const TICKS = [0, 0.25, 0.5, 0.75, 1]

const x = (share: number) => LEFT + share * SIZE
const y = (share: number) => TOP + (1 - share) * SIZE

/** Stated confidence along, the share of right votes up: a well calibrated agent is on the dashed line. */
export const ReliabilityCurve = ({ bins }: ReliabilityCurveProps) => {
  const points = curveOf(bins)
  return (
    <figure className="px-3 pb-3">
      <svg
        viewBox={`0 0 ${LEFT + SIZE + RIGHT} ${TOP + SIZE + BOTTOM}`}
        className="h-auto w-full max-w-[380px]"
        role="img"
        aria-label="Reliability curve: share of right votes by stated confidence"
        data-curve
      >
        {TICKS.map((tick) => (
          <g key={tick} fill="var(--c-muted)" fontSize={10}>
            <line x1={x(0)} x2={x(1)} y1={y(tick)} y2={y(tick)} stroke="var(--c-line)" />
            <line x1={x(tick)} x2={x(tick)} y1={y(0)} y2={y(1)} stroke="var(--c-line)" />
            <text x={x(0) - 5} y={y(tick) + 3} textAnchor="end">
              {percent(tick)}
            </text>
            <text x={x(tick)} y={y(0) + 13} textAnchor="middle">
              {percent(tick)}
            </text>
          </g>
        ))}
        <text x={x(0.5)} y={y(0) + 28} textAnchor="middle" fill="var(--c-soft)" fontSize={10}>
          stated confidence
        </text>
        <text transform={`translate(9 ${y(0.5)}) rotate(-90)`} textAnchor="middle" fill="var(--c-soft)" fontSize={10}>
          right
        </text>
        <line x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} stroke="var(--c-muted)" strokeDasharray="4 3" />
        <polyline
          points={points.map((point) => `${x(point.x)},${y(point.y)}`).join(" ")}
          fill="none"
          stroke="var(--c-accent)"
          strokeWidth={1.5}
        />
        {points.map((point) => (
          <g key={point.x} data-bin={point.n}>
            <title>{point.says}</title>
            <circle cx={x(point.x)} cy={y(point.y)} r={point.radius} fill="var(--c-accent)" fillOpacity={0.85} />
            <text
              x={x(point.x)}
              y={point.y > 0.9 ? y(point.y) + point.radius + 10 : y(point.y) - point.radius - 3}
              textAnchor="middle"
              fill="var(--c-text)"
              fontSize={9.5}
            >
              {whole(point.n)}
            </text>
          </g>
        ))}
      </svg>
      <figcaption className="text-[12px] text-muted">
        <p className="text-[13px] text-text">{calibrationText(bins)}</p>
        Each point is a bin of confidences with its number of votes. The dashed line is perfect calibration.
        <details className="mt-1">
          <summary className="cursor-pointer text-accent">The bins as a table</summary>
          <table className="mt-1 w-full max-w-[420px] text-right">
            <thead>
              <tr>
                {["Confidence", "Votes", "Mean", "Right"].map((title) => (
                  <th key={title} scope="col" className="label text-right">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="num">
              {bins.map(({ confidence, high, low, n, right }) => (
                <tr key={low}>
                  <td>
                    {percent(low)} to {percent(high)}
                  </td>
                  <td>{whole(n)}</td>
                  <td>{percent(confidence)}</td>
                  <td>{percent(right)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </figcaption>
    </figure>
  )
}
