import type { AgentVoteRecord } from "@runplane/api"
import { RECORD_GROUPS, type RecordGroup } from "@runplane/domain"
import { useState } from "react"
import { UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { Facts, Loaded, Panel, Select, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted, dollars, percent, whole } from "../../view/format/Format.ts"
import { sinceDay } from "../../view/live/SinceDay.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { ReliabilityCurve } from "./ReliabilityCurve.tsx"

export const SINCE = ["all", "7d", "30d", "90d"] as const
export type Since = (typeof SINCE)[number]

const TITLES: Readonly<Record<Since, string>> = {
  all: "All time",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days"
}

interface TrackRecordProps {
  readonly participantId: string
  readonly since: Since
  readonly onSince: (since: Since) => void
}

/** How often the votes of an agent were right, by the marks `correct` (docs/reference/marks.md#record). */
export default function TrackRecord({ onSince, participantId, since }: TrackRecordProps) {
  const from = sinceDay(since)
  const [by, setBy] = useState<RecordGroup>("prompt")
  const record = useRead(["track record", participantId, since, by], (api) =>
    api.markReports.record({
      params: { participantId },
      query: { limit: RUNS, by, ...(from !== undefined && { since: from }) }
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
        {(data) => (
          <>
            {data.summary === undefined ? null : (
              <p className="border-b border-line p-3" data-record-summary>
                <UserText text={data.summary} />
              </p>
            )}
            <Figures record={data} />
            {data.runs === 0 || data.by === undefined ? null : (
              <Groups by={by} onBy={setBy} groups={data.by} older={data.olderGroups ?? 0} />
            )}
          </>
        )}
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

type Group = NonNullable<AgentVoteRecord["by"]>[number]

const GROUP_TITLES: Readonly<Record<RecordGroup, string>> = {
  prompt: "Prompt",
  model: "Model",
  policyVersion: "Policy version",
  week: "Week"
}

interface GroupsProps {
  readonly by: RecordGroup
  readonly onBy: (by: RecordGroup) => void
  readonly groups: ReadonlyArray<Group>
  /** Runs of older groups. */
  readonly older: number
}

/** The record of each prompt, model, policy version or week, the latest first. */
const Groups = ({ by, groups, older, onBy }: GroupsProps) => (
  <section aria-label="Record by group" className="border-t border-line" data-record-by={by}>
    <div className="flex items-center gap-2 p-3 pb-1">
      <span className="label">By</span>
      <Select
        label="Record by"
        value={by}
        options={RECORD_GROUPS.map((one) => [one, GROUP_TITLES[one]] as const)}
        onChange={onBy}
      />
    </div>
    <Table
      label="Record by group"
      rows={groups}
      keyOf={({ name }) => JSON.stringify(name ?? null)}
      columns={[
        {
          title: GROUP_TITLES[by],
          className: "max-w-[280px] min-w-[84px]",
          cell: ({ name }) =>
            name === undefined ? <span className="text-muted">not recorded</span> : <UserText text={name} />
        },
        ...GROUP_COLUMNS
      ]}
    />
    {older === 0 ? null : <p className="px-3 py-2 text-muted">And {counted(older, "run")} of older ones.</p>}
  </section>
)

const GROUP_COLUMNS: ReadonlyArray<TableColumn<Group>> = [
  { title: "Votes", align: "right", cell: ({ runs }) => <span className="num">{whole(runs)}</span> },
  {
    title: "Right",
    cell: ({ judged, right, rightInterval, rightShare }) =>
      rightShare === undefined || rightInterval === undefined ? (
        <span className="text-muted">none judged</span>
      ) : (
        <span className="num">
          {percent(rightShare)} of {whole(judged)}{" "}
          <span className="text-muted">
            ({percent(rightInterval.low)} to {percent(rightInterval.high)})
          </span>
          <span className="sr-only">: {whole(right)}</span>
        </span>
      )
  },
  {
    title: "Confidence",
    from: "sm",
    cell: ({ confidence }) =>
      confidence === undefined ? (
        <span className="text-muted">not stated</span>
      ) : (
        <span className="num">
          {percent(confidence.mean)}, right {percent(confidence.right)}
        </span>
      )
  }
]

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
