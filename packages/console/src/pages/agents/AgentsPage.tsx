import type { AgentMetrics, CatalogAgent } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { Suspense, useMemo } from "react"
import { launcherAt } from "../../client/Launcher.ts"
import { Chip, UserText } from "../../ui/basics.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { countColumn, Facts, Loaded, Panel, Sheet, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { Empty, Failure } from "../../ui/States.tsx"
import { useCatalogUse } from "../../ui/useCatalogUse.ts"
import { useRead } from "../../ui/useRead.ts"
import { counted, percent, whole } from "../../view/format/Format.ts"
import { OFTEN_MS } from "../../view/live/Polls.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { textParam, wordParam } from "../../view/query/UrlState.ts"
import { Record } from "./Record.tsx"

const TrackRecord = lazily(() => import("./TrackRecord.tsx"))

const DECIMAL = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })

const params = { q: textParam, id: textParam, since: wordParam(["all", "7d", "30d", "90d"]) }
/** Participants that are drawn; a search finds the others. */
const SHOWN = 300

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
  const found = useMemo(
    () => (agents.data ?? []).filter(({ participantId }) => participantId.toLowerCase().includes(wanted)),
    [agents.data, wanted]
  )
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
              <Panel title="Participants" note={found.length > SHOWN ? `the first ${SHOWN}, by runs` : undefined}>
                <Table
                  label="Participants"
                  columns={columnsOf((id) => set({ id }), state.id !== "")}
                  rows={found.slice(0, SHOWN)}
                  keyOf={({ participantId }) => participantId}
                  isChosen={({ participantId }) => participantId === state.id}
                  onOpen={({ participantId }) => set({ id: participantId })}
                />
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

const columnsOf = (open: (id: string) => void, isNarrow: boolean): ReadonlyArray<TableColumn<AgentMetrics>> => [
  {
    title: "Participant",
    className: "max-w-[320px]",
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
  countColumn("Runs", ({ runs }) => runs),
  countColumn("Messages", ({ messages }) => messages),
  countColumn("Signals", ({ signals }) => signals, "sm"),
  ...(isNarrow
    ? []
    : [
        {
          title: "Messages per run",
          align: "right",
          from: "md",
          cell: ({ messages, runs }: AgentMetrics) => (
            <span className="num">{runs === 0 ? "–" : DECIMAL.format(messages / runs)}</span>
          )
        } as const
      ]),
  {
    title: "Mean confidence",
    align: "right",
    from: "sm",
    cell: ({ statedConfidence }) => (
      <span className="num" title="Of its evaluations and votes">
        {statedConfidence === undefined ? "–" : percent(statedConfidence)}
      </span>
    )
  }
]

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
