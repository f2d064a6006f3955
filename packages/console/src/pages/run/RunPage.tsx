import type { Run } from "@runplane/api"
import { isTerminal } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import { memo, Suspense, useDeferredValue, useMemo, useRef, useState } from "react"
import { callRuns } from "../../client/Client.ts"
import { CallFailed } from "../../client/Problem.ts"
import type { RunView } from "../../live/RunFollower.ts"
import type { RunLog } from "../../live/RunLog.ts"
import { useRun } from "../../live/useRun.ts"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { useShortcuts } from "../../ui/Keys.ts"
import { lazily } from "../../ui/lazily.ts"
import { MarksContext, type ShownMarks } from "../../ui/marks/MarksHere.ts"
import { Empty, Failure, Skeleton, Stale } from "../../ui/States.tsx"
import { isOld } from "../../ui/useRead.ts"
import { whole } from "../../view/format/Format.ts"
import { SOON_MS } from "../../view/live/Polls.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import { Header } from "./Header.tsx"
import { type RunPageState, runPageParams, type SetRunPage } from "./RunParams.ts"
import { type RunViewProps, type ShownRun, useShown } from "./useShown.ts"

const loadScrubber = () => import("./Scrubber.tsx")
const loadNarrative = () => import("./narrative/NarrativeView.tsx")

// What every visit begins with is loaded beside the run.
for (const load of [loadScrubber, loadNarrative]) {
  load().catch(() => {
    // The component that shows the view loads it again, and shows the failure.
  })
}

const TabIcon = lazily(() => import("./TabIcon.tsx"))
const Inspector = lazily(() => import("./Inspector.tsx"))
const Participants = lazily(() => import("./Participants.tsx"))
const Scrubber = lazily(loadScrubber)
const NarrativeView = lazily(loadNarrative)
const DecisionView = lazily(() => import("./decision/DecisionView.tsx"))
const TimelineView = lazily(() => import("./timeline/TimelineView.tsx"))
const RunMarks = lazily(() => import("./RunMarks.tsx"))
const EventsView = lazily(() => import("./events/EventsView.tsx"))
const PolicyView = lazily(() => import("./decision/PolicyView.tsx"))
const GraphView = lazily(() => import("./timeline/GraphView.tsx"))
const MessagesView = lazily(() => import("./events/MessagesView.tsx"))
const SignalsView = lazily(() => import("./events/SignalsView.tsx"))
const ArtifactsView = lazily(() => import("./events/ArtifactsView.tsx"))
const TracesView = lazily(() => import("./spans/TracesView.tsx"))
const RawView = lazily(() => import("./events/RawView.tsx"))
const CostView = lazily(() => import("./cost/CostView.tsx"))

interface ViewTab {
  readonly id: RunPageState["view"]
  readonly title: string
  readonly keys: string
}

const VIEWS: ReadonlyArray<ViewTab> = [
  { id: "story", title: "Story", keys: "1" },
  { id: "decision", title: "Decision", keys: "2" },
  { id: "policy", title: "Policy", keys: "3" },
  { id: "timeline", title: "Timeline", keys: "4" },
  { id: "graph", title: "Graph", keys: "5" },
  { id: "events", title: "Events", keys: "6" },
  { id: "messages", title: "Messages", keys: "7" },
  { id: "signals", title: "Signals", keys: "8" },
  { id: "cost", title: "Cost", keys: "9" },
  { id: "artifacts", title: "Artifacts", keys: "v a" },
  { id: "traces", title: "Traces", keys: "v t" },
  { id: "raw", title: "Raw", keys: "v r" }
]

/** One run, live or ended. */
export default function RunPage({ runId }: { readonly runId: string }) {
  const record = useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => callRuns((api) => api.runs.get({ params: { id: runId }, query: {} }), signal),
    refetchInterval: ({ state }) => (state.data !== undefined && isTerminal(state.data.status) ? false : SOON_MS)
  })
  const { again, log, view } = useRun(runId)
  const [marks, setMarks] = useState<ShownMarks>()
  if (record.data === undefined) {
    return isUnknown(record.error) ? (
      <Failure isPage what="No run has this id" error={unknownRun(record.error)} />
    ) : record.isError ? (
      <Failure isPage what="The run cannot be read" error={record.error} retry={() => void record.refetch()} />
    ) : (
      <Skeleton rows={12} height={44} />
    )
  }
  return (
    <div className="flex h-full flex-col short:overflow-y-auto">
      {isOld(record) ? (
        <Stale
          since={record.dataUpdatedAt}
          error={record.error ?? record.failureReason}
          retry={() => void record.refetch()}
        />
      ) : null}
      {view.error === undefined ? null : (
        <Failure what="The events of the run cannot be followed" error={view.error} retry={again} />
      )}
      <MarksContext value={marks}>
        <RunBody run={record.data} log={log} view={view} setMarks={setMarks} />
      </MarksContext>
    </div>
  )
}

/** An id that no run has, or that is none. */
const isUnknown = (error: Error | null): error is CallFailed =>
  error instanceof CallFailed && (error.problem.status === 404 || error.problem.status === 400)

/** The fault of a text that has no form of an id says nothing to a reader. */
const unknownRun = ({ problem }: CallFailed): CallFailed =>
  problem.status === 404
    ? new CallFailed(problem)
    : new CallFailed({ ...problem, status: 404, messages: ["the address does not end with the id of a run"] })

interface RunBodyProps {
  readonly run: Run
  readonly log: RunLog | undefined
  readonly view: RunView
  readonly setMarks: (marks: ShownMarks) => void
}

const RunBody = ({ log, run, setMarks, view }: RunBodyProps) => {
  const [page, set] = useUrlState(runPageParams)
  useShortcuts([
    ...VIEWS.map(({ id, keys, title }) => ({
      keys,
      says: title,
      group: "Views",
      run: () => set({ view: id }, { push: true })
    })),
    { keys: "Escape", says: "Close the event", group: "Run", run: () => set({ event: undefined }) }
  ])
  const position = useShown(run, log, view, page.at)
  useTitle(runFacts(run, position.shown?.state.run.intent).title)
  // While another stretch of a long run is read, the previous one stays.
  const last = useRef(position.shown)
  last.current = position.shown ?? last.current
  const shown = last.current
  // Slider and header follow at once, the view when there is time, so that steps stay fast.
  const late = useDeferredValue(useMemo(() => ({ page, shown }), [page, shown]))
  const { event } = page
  const failure =
    position.error === null ? null : (
      <Failure what="Earlier events of this run cannot be read" error={position.error} retry={position.retry} />
    )
  if (shown === undefined) return failure ?? <Skeleton rows={10} height={44} />
  const drawn = late.shown ?? shown
  return (
    <>
      {failure}
      <Header shown={shown} />
      <Suspense fallback={<div className="no-print h-[31px] shrink-0 border-b border-line bg-panel" />}>
        <RunMarks shown={shown} setMarks={setMarks} />
      </Suspense>
      <div className="flex min-h-0 flex-1 short:min-h-[90dvh] short:shrink-0">
        <aside
          aria-label="Participants"
          tabIndex={0}
          className="no-print hidden w-[216px] shrink-0 overflow-auto border-r border-line bg-panel xl:block"
        >
          <Suspense fallback={null}>
            <Participants shown={shown} />
          </Suspense>
        </aside>
        <section className="flex min-w-0 flex-1 flex-col">
          <Tabs page={page} set={set} />
          <div
            role="tabpanel"
            aria-label={VIEWS.find(({ id }) => id === page.view)?.title}
            className="flex min-h-0 flex-1 flex-col"
          >
            <LeftOut shown={drawn} isShortened={position.log?.isShortened === true} />
            <div className="min-h-0 flex-1 overflow-hidden">
              <Suspense fallback={<Skeleton rows={8} height={48} />}>
                <View page={late.page} set={set} shown={drawn} />
              </Suspense>
            </div>
          </div>
          <Suspense fallback={<div className="h-[76px] shrink-0 border-t border-line bg-panel" />}>
            <Scrubber log={log} count={view.count} page={page} set={set} isLive={!isTerminal(run.status)} />
          </Suspense>
        </section>
        {event === undefined ? null : (
          <Suspense fallback={null}>
            <Inspector
              runId={run.id}
              seq={log?.digest.seqs[event - 1]}
              inMemory={position.log?.event(event) ?? log?.event(event)}
              onClose={() => set({ event: undefined })}
            />
          </Suspense>
        )}
      </div>
    </>
  )
}

/** On a narrow screen the row of tabs is wider than the screen. */
const inSight = (tab: HTMLElement | null): void => tab?.scrollIntoView({ block: "nearest", inline: "nearest" })

const Tabs = ({ page, set }: { readonly page: RunPageState; readonly set: SetRunPage }) => (
  <div
    role="tablist"
    aria-label="Views of the run"
    className="no-print flex shrink-0 overflow-x-auto border-b border-line bg-panel px-2"
  >
    {VIEWS.map(({ id, title }) => (
      <button
        key={id}
        type="button"
        role="tab"
        aria-selected={page.view === id}
        ref={page.view === id ? inSight : null}
        className={`-mb-px flex h-9 items-center gap-1.5 border-b-2 px-2 font-medium whitespace-nowrap ${
          page.view === id ? "border-accent text-text" : "border-transparent text-muted hover:text-text"
        }`}
        onClick={() => set({ view: id }, { push: true })}
      >
        <span className="size-[14px] max-2xl:hidden">
          <Suspense fallback={null}>
            <TabIcon view={id} />
          </Suspense>
        </span>{" "}
        {title}
      </button>
    ))}
  </div>
)

const View = memo((props: RunViewProps) => {
  if (props.shown.all.length === 0 && props.shown.state.timeline.totalEvents === 0) {
    // The events are loading.
    if (props.shown.run.lastEventIndex > 0) return <Skeleton rows={8} height={48} />
    return <Empty title="No events yet">The run waits for its session. The first event appears here.</Empty>
  }
  switch (props.page.view) {
    case "story":
      return <NarrativeView {...props} />
    case "decision":
      return <DecisionView {...props} />
    case "timeline":
      return <TimelineView {...props} />
    case "events":
      return <EventsView {...props} />
    case "cost":
      return <CostView {...props} />
    case "policy":
      return <PolicyView {...props} />
    case "graph":
      return <GraphView {...props} />
    case "messages":
      return <MessagesView {...props} />
    case "signals":
      return <SignalsView {...props} />
    case "artifacts":
      return <ArtifactsView {...props} />
    case "traces":
      return <TracesView {...props} />
    case "raw":
      return <RawView {...props} />
  }
})

interface LeftOutProps {
  readonly shown: ShownRun
  readonly isShortened: boolean
}

/** A note about the events and texts of a very large run that are not loaded. */
const LeftOut = ({ isShortened, shown: { events, start } }: LeftOutProps) => {
  if (start === 0 && !isShortened) return null
  return (
    <p role="note" className="shrink-0 border-b border-line bg-sunken px-3 py-1 text-[12px] text-soft">
      {start === 0
        ? ""
        : `This view shows events ${whole(start + 1)} to ${whole(start + events.length)} of a long run; status and ` +
          "figures include all events. Move the slider to see other events. "}
      {isShortened ? "Long texts are shortened; open an event to see all of it." : ""}
    </p>
  )
}
