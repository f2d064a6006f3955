import type { AgentMetrics, AgentVoteRecords, CatalogAgent } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { Suspense, useMemo } from "react"
import { launcherAt } from "../../client/Launcher.ts"
import { Chip, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { countColumn, Facts, Loaded, Panel, Sheet, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { Empty, Failure } from "../../ui/States.tsx"
import { useCatalogUse } from "../../ui/useCatalogUse.ts"
import { useRead } from "../../ui/useRead.ts"
import { counted, listedDollars, percent, whole } from "../../view/format/Format.ts"
import { OFTEN_MS } from "../../view/live/Polls.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { textParam, wordParam } from "../../view/query/UrlState.ts"
import { Record } from "./Record.tsx"

const TrackRecord = lazily(() => import("./TrackRecord.tsx"))

const DECIMAL = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })

const params = { q: textParam, id: textParam, since: wordParam(["all", "7d", "30d", "90d"]) }
/** Participants that are drawn; a search finds the others. */
const SHOWN = 300
/** Decided runs whose votes the columns count, the latest ones. */
const RECORDED_RUNS = 1_000

/** The participants of all runs: their figures, and their agents in the catalog. */
export default function AgentsPage({ launcherUrl }: { readonly launcherUrl: string | undefined }) {
  const [state, set] = useUrlState(params)
  useTitle("Agents")
  const agents = useRead(["agents"], (api) => api.dashboard.agents(), { everyMs: OFTEN_MS })
  const catalog = useQuery({
    queryKey: ["catalog agents", launcherUrl],
    enabled: launcherUrl !== undefined,
    staleTime: 60_000,
    queryFn: ({ signal }) => launcherAt(launcherUrl ?? "")((api) => api.catalog.agents(), signal)
  })
  const wanted = state.q.trim().toLowerCase()
  const records = useRead(["agents", "records"], (api) => api.markReports.records({ query: { limit: RECORDED_RUNS } }))
  const found = useMemo(() => {
    const votes = new Map((records.data?.data ?? []).map((record) => [record.participantId, record]))
    return (agents.data ?? [])
      .filter(({ participantId }) => participantId.toLowerCase().includes(wanted))
      .map((metrics): AgentRow => ({ ...metrics, record: votes.get(metrics.participantId) }))
  }, [agents.data, records.data, wanted])
  const isNarrow = state.id !== ""
  const columns = useMemo(() => columnsOf((id) => set({ id }), isNarrow), [isNarrow, set])
  const use = useCatalogUse(launcherUrl)
  const refs = use?.agentsOfParticipant.get(state.id) ?? []
  const chosen = agents.data?.find(({ participantId }) => participantId === state.id)
  const profile = catalog.data?.find(({ agentRef }) => refs.includes(agentRef))
  return (
    <Sheet
      title="Agents"
      note={agents.data === undefined ? undefined : counted(found.length, "participant")}
      actions={
        <label>
          <span className="sr-only">Search the participants</span>
          <input
            type="search"
            className="field w-[200px]"
            placeholder="Search"
            value={state.q}
            onChange={({ target }) => set({ q: target.value })}
          />
        </label>
      }
    >
      <div className={`grid items-start gap-3 ${state.id === "" ? "" : "lg:grid-cols-[1fr_minmax(340px,460px)]"}`}>
        <Loaded read={agents} what="The participants cannot be read" rows={8} height={36}>
          {() =>
            found.length === 0 ? (
              <Empty title={wanted === "" ? "No participants yet" : "No participant matches"}>
                {wanted === ""
                  ? "A participant appears here with its first message. Launch a scenario to see some."
                  : "Search for a part of the name, or clear the search."}
              </Empty>
            ) : (
              <Panel
                title="Participants"
                note={found.length > SHOWN ? `the first ${SHOWN} of the order; a search finds the others` : undefined}
              >
                {records.isError ? (
                  <Failure
                    what="The votes of the participants cannot be read"
                    error={records.error}
                    retry={() => void records.refetch()}
                  />
                ) : null}
                <Table
                  label="Participants"
                  columns={columns}
                  rows={found}
                  most={SHOWN}
                  keyOf={({ participantId }) => participantId}
                  isChosen={({ participantId }) => participantId === state.id}
                  onOpen={({ participantId }) => set({ id: participantId })}
                />
                {records.data === undefined ? null : (
                  <p className="border-t border-line px-3 py-2 text-[12px] text-muted">{recordNote(records.data)}</p>
                )}
              </Panel>
            )
          }
        </Loaded>
        {state.id === "" ? null : (
          <div className="flex min-w-0 flex-col gap-3">
            <Profile id={state.id} metrics={chosen} profile={profile} onClose={() => set({ id: "" })} />
            <Suspense fallback={<div className="skeleton h-40" />}>
              <TrackRecord
                key={`record ${state.id}`}
                participantId={state.id}
                since={state.since}
                onSince={(since) => set({ since })}
              />
            </Suspense>
            <Record key={state.id} participantId={state.id} />
          </div>
        )}
      </div>
      {catalog.isError ? (
        <Failure
          what="The catalog of agents cannot be read"
          error={catalog.error}
          retry={() => void catalog.refetch()}
        />
      ) : null}
      {catalog.data === undefined ? null : (
        <Panel title="Agents of the catalog" note={whole(catalog.data.length)}>
          <ul className="flex flex-wrap gap-2 p-3">
            {catalog.data.map(({ agentRef, description, name, role }) => (
              <li key={agentRef} className="panel max-w-[320px] min-w-[200px] flex-1 bg-sunken p-2.5">
                <span className="font-medium">
                  <UserText text={name} />
                </span>{" "}
                <Chip>{role}</Chip>
                <p className="mt-1 text-[12px] text-soft">
                  <UserText text={description} />
                </p>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </Sheet>
  )
}

const runsOf = (participantId: string) =>
  `/runs?${new URLSearchParams({ q: `participant:${queryValue(participantId)}`, archived: "true" }).toString()}`

/** A participant: its figures in all runs, and its votes in the latest decided ones. */
interface AgentRow extends AgentMetrics {
  readonly record: AgentVotes | undefined
}
type AgentVotes = AgentVoteRecords["data"][number]

const listOf = (search: string, sort?: string) =>
  `/runs?${new URLSearchParams({ q: search, archived: "true", ...(sort !== undefined && { sort }) }).toString()}`

/** `92 % of 12` with a link to these runs; a dash for an agent without any. */
const shareOf = (count: number, of: number, search: string) =>
  of === 0 ? (
    <span className="text-muted">–</span>
  ) : (
    <TextLink href={listOf(search)} className="num whitespace-nowrap">
      {percent(count / of)} of {whole(of)}
    </TextLink>
  )

const columnsOf = (open: (id: string) => void, isNarrow: boolean): ReadonlyArray<TableColumn<AgentRow>> => {
  const rare = (columns: ReadonlyArray<TableColumn<AgentRow>>) => (isNarrow ? [] : columns)
  return [
    {
      title: "Participant",
      className: "max-w-[320px]",
      by: ({ participantId }) => participantId,
      cell: ({ participantId }) => (
        <button
          type="button"
          className="max-w-full truncate text-left text-accent underline decoration-1 underline-offset-2"
          onClick={() => open(participantId)}
        >
          <UserText text={participantId} />
        </button>
      )
    },
    {
      title: "Runs",
      align: "right",
      by: ({ runs }) => runs,
      cell: ({ participantId, runs }) => (
        <TextLink href={runsOf(participantId)} className="num">
          {whole(runs)}
        </TextLink>
      )
    },
    {
      title: "With the outcome",
      align: "right",
      from: "sm",
      leastFirst: true,
      by: ({ record }) => (record === undefined ? undefined : record.withOutcome / record.runs),
      cell: ({ participantId, record }) =>
        shareOf(
          record?.withOutcome ?? 0,
          record?.runs ?? 0,
          `participant:${queryValue(participantId)} -dissent:${queryValue(participantId)} outcome:(positive,negative)`
        )
    },
    {
      title: "Right",
      align: "right",
      leastFirst: true,
      by: ({ record }) => record?.rightShare,
      cell: ({ participantId, record }) => shareOf(record?.right ?? 0, record?.judged ?? 0, judged(participantId))
    },
    {
      title: "Brier",
      align: "right",
      from: "md",
      by: ({ record }) => record?.brier?.score,
      cell: ({ participantId, record }) =>
        record?.brier === undefined ? (
          <span className="text-muted">–</span>
        ) : (
          <TextLink href={listOf(judged(participantId))} className="num">
            {record.brier.score.toFixed(2)}
          </TextLink>
        )
    },
    {
      title: "Cost",
      align: "right",
      from: "sm",
      by: ({ record }) => record?.costUsd,
      cell: ({ participantId, record }) =>
        record === undefined ? (
          <span className="text-muted">–</span>
        ) : (
          <TextLink href={listOf(`participant:${queryValue(participantId)} has:cost`, "dearest")}>
            <CostText cost={record} say={listedDollars} />
          </TextLink>
        )
    },
    ...rare([
      countColumn("Messages", ({ messages }) => messages, "lg"),
      countColumn("Signals", ({ signals }) => signals, "xl"),
      {
        title: "Messages per run",
        align: "right",
        from: "xl",
        by: ({ messages, runs }) => (runs === 0 ? undefined : messages / runs),
        cell: ({ messages, runs }) => <span className="num">{runs === 0 ? "–" : DECIMAL.format(messages / runs)}</span>
      },
      {
        title: "Mean confidence",
        align: "right",
        from: "lg",
        by: ({ statedConfidence }) => statedConfidence,
        cell: ({ statedConfidence }) => (
          <span className="num" title="Of its evaluations and votes">
            {statedConfidence === undefined ? "–" : percent(statedConfidence)}
          </span>
        )
      }
    ])
  ]
}

/** Its runs whose decision was judged. */
const judged = (participantId: string) => `participant:${queryValue(participantId)} has:mark.correct`

/** What the columns about votes count. */
const recordNote = ({ examined, truncated }: AgentVoteRecords): string =>
  `Votes, right votes by the marks “correct”, Brier score (0 is best) and cost are those of ${
    truncated ? `the latest ${counted(examined, "decided run")}` : `all ${counted(examined, "decided run")}`
  }, up to the decision.`

interface ProfileProps {
  readonly id: string
  readonly metrics: AgentMetrics | undefined
  readonly profile: CatalogAgent | undefined
  readonly onClose: () => void
}

const Profile = ({ id, metrics, onClose, profile }: ProfileProps) => (
  <Panel
    title={id}
    actions={
      <button type="button" className="btn btn-quiet" onClick={onClose}>
        Close
      </button>
    }
  >
    <Facts
      facts={[
        [
          "Runs",
          metrics === undefined ? (
            "–"
          ) : (
            <TextLink key="runs" href={runsOf(id)}>
              {counted(metrics.runs, "run")}
            </TextLink>
          )
        ],
        ["Messages", metrics === undefined ? "–" : whole(metrics.messages)],
        ["Signals", metrics === undefined ? "–" : whole(metrics.signals)],
        [
          "Confidence",
          metrics?.statedConfidence === undefined
            ? "Its evaluations and votes state none"
            : `${percent(metrics.statedConfidence)}, the mean of its evaluations and votes`
        ],
        ...(profile === undefined
          ? []
          : ([
              ["Agent", <UserText key="name" text={profile.name} />],
              ["About", <UserText key="about" text={profile.description} />],
              ["Built on", <UserText key="framework" text={profile.framework} />],
              ["Started", `${profile.bootstrapStrategy}, ${profile.bootstrapMode}`],
              [
                "Scenarios",
                <ul key="scenarios">
                  {profile.scenarios.map((reference) => (
                    <li key={reference}>
                      <UserText text={reference} />
                    </li>
                  ))}
                </ul>
              ]
            ] as const))
      ]}
    />
  </Panel>
)
