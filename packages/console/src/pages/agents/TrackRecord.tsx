import type { AgentVoteRecord } from "@runplane/api"
import { CostText } from "../../ui/CostText.tsx"
import { Facts, Loaded, Panel, Select, TextLink } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted, dollars, percent, whole } from "../../view/Format.ts"
import { queryValue } from "../../view/QueryCompletion.ts"
import { ReliabilityCurve } from "./ReliabilityCurve.tsx"

const DAY_MS = 86_400_000

export const SINCE = ["all", "7d", "30d", "90d"] as const
export type Since = (typeof SINCE)[number]

const TITLES: Readonly<Record<Since, string>> = {
  all: "All time",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days"
}

/** The start of a day, so that a repeated read has the same address. */
const startOf = (since: Since): string | undefined =>
  since === "all"
    ? undefined
    : new Date(Math.floor(Date.now() / DAY_MS - Number.parseInt(since, 10)) * DAY_MS).toISOString()

interface TrackRecordProps {
  readonly participantId: string
  readonly since: Since
  readonly onSince: (since: Since) => void
}

/** How often the votes of an agent were right, by the marks `correct` (docs/reference/marks.md#record). */
export default function TrackRecord({ onSince, participantId, since }: TrackRecordProps) {
  const from = startOf(since)
  const record = useRead(["track record", participantId, since], (api) =>
    api.markReports.record({
      params: { participantId },
      query: { limit: RUNS, ...(from !== undefined && { since: from }) }
    })
  )
  return (
    <Panel
      title="Track record"
      actions={
        <Select
          label="Time"
          value={since}
          options={SINCE.map((one) => [one, TITLES[one]] as const)}
          onChange={onSince}
        />
      }
    >
      <Loaded read={record} what="The track record cannot be read" rows={6} height={28}>
        {(data) => <Figures record={data} />}
      </Loaded>
    </Panel>
  )
}

const RUNS = 1_000

const reviewOf = (participantId: string) =>
  `/review?${new URLSearchParams({
    q: `status:completed participant:${queryValue(participantId)} -has:mark.correct`
  }).toString()}`

const Figures = ({ record }: { readonly record: AgentVoteRecord }) => {
  const {
    againstMajority,
    brier,
    costPerRightUsd,
    costUsd,
    guessedCostUsd,
    judged,
    participantId,
    pivotal,
    reliability,
    right,
    rightAgainstMajority,
    rightInterval,
    rightShare,
    runs,
    truncated,
    withOutcome
  } = record
  if (runs === 0) return <p className="p-3 text-muted">It voted in no decided run of this time.</p>
  return (
    <>
      <Facts
        facts={[
          ["Votes", `in ${counted(runs, "decided run")}${truncated ? ", the latest ones" : ""}`],
          ["With the outcome", `${percent(withOutcome / runs)}: ${whole(withOutcome)} of ${whole(runs)}`],
          ["Pivotal", `${counted(pivotal, "run")}: the opposite vote would have changed the outcome`],
          ["Truth", judged === 0 ? "of no run" : `of ${counted(judged, "run")}`],
          ...(judged === 0
            ? []
            : ([
                [
                  "Right",
                  <span key="right" data-right>
                    <strong>{rightShare === undefined ? "unknown" : percent(rightShare)}</strong>: {whole(right)} of{" "}
                    {whole(judged)}
                    {rightInterval === undefined
                      ? ""
                      : ` (95 % interval ${percent(rightInterval.low)} to ${percent(rightInterval.high)})`}
                  </span>
                ],
                [
                  "Against the majority",
                  againstMajority === 0
                    ? "it never voted against it"
                    : `right in ${whole(rightAgainstMajority)} of ${counted(againstMajority, "run")}`
                ],
                [
                  "Brier score",
                  brier === undefined
                    ? "its votes state no confidence"
                    : `${brier.score.toFixed(3)} over ${counted(brier.n, "vote")} (0 is best, 1 is worst)`
                ]
              ] as const)),
          ["Cost", <CostText key="cost" cost={{ costUsd, guessedCostUsd }} />],
          ...(judged === 0
            ? []
            : ([
                [
                  "Cost per right decision",
                  costPerRightUsd === undefined ? "no right vote yet" : dollars(costPerRightUsd)
                ]
              ] as const))
        ]}
      />
      {judged === 0 ? (
        <NoTruth participantId={participantId} />
      ) : reliability.length === 0 ? null : (
        <ReliabilityCurve bins={reliability} />
      )}
    </>
  )
}

/** Explains how the truth about decisions is stored, for an agent without any. */
const NoTruth = ({ participantId }: { readonly participantId: string }) => (
  <div className="flex flex-col gap-2 border-t border-line p-3 text-soft" data-no-truth>
    <p>
      Nothing is known about how often it was right: no decision that it voted on has the mark{" "}
      <code className="font-mono text-[12px]">correct</code>.
    </p>
    <p>
      The mark says whether a decision was right. A person gives it in the review queue, a system of the business posts
      it to <code className="font-mono text-[12px]">/runs/:id/marks</code>, also days later, or an evaluation of
      OpenTelemetry brings it.
    </p>
    <p>
      <TextLink href={reviewOf(participantId)}>Review its decisions</TextLink>
    </p>
  </div>
)
