import type { Run } from "@runplane/api"
import type { RunState } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import * as Effect from "effect/Effect"
import { ArrowLeftRight, Check, Link2 } from "lucide-react"
import { Suspense, useMemo } from "react"
import { callRuns } from "../../client/Client.ts"
import type { RunLog } from "../../live/RunLog.ts"
import { Id, StatusBadge, Time, UserText } from "../../ui/basics.tsx"
import { useCopy, useTitle, useUrlState } from "../../ui/hooks.ts"
import { Loaded, Sheet, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { Empty, Failure, Skeleton } from "../../ui/States.tsx"
import { RunPicker } from "../../ui/search/RunPicker.tsx"
import { newestRuns } from "../../ui/search/useRunSearch.ts"
import { useRead } from "../../ui/useRead.ts"
import { causesOf, type Given } from "../../view/compare/Causes.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { numberParam, textParam } from "../../view/query/UrlState.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import { SideBySide } from "./SideBySide.tsx"

const AlignedEvents = lazily(() => import("./AlignedEvents.tsx"))

export const compareParams = { left: textParam, right: textParam, at: numberParam(1) }

/** Two runs: the verdict first, then decision, figures and events side by side. */
export default function ComparePage() {
  const [state, set] = useUrlState(compareParams)
  useTitle("Compare")
  const { left, right } = state
  const isBoth = left !== "" && right !== ""
  return (
    <Sheet
      title="Compare"
      actions={
        isBoth ? (
          <>
            <button
              type="button"
              className="btn"
              onClick={() => set({ left: right, right: left, at: undefined }, { push: true })}
            >
              <ArrowLeftRight size={14} aria-hidden /> Swap
            </button>
            <ShareButton />
          </>
        ) : null
      }
    >
      <div className="grid gap-3 md:grid-cols-2">
        <Side
          title="Left"
          runId={left}
          other={right}
          onPick={(id) => set({ left: id, at: undefined }, { push: true })}
        />
        <Side
          title="Right"
          runId={right}
          other={left}
          onPick={(id) => set({ right: id, at: undefined }, { push: true })}
        />
      </div>
      {isBoth ? (
        <Both key={`${left} ${right}`} state={state} set={set} />
      ) : (
        <Empty title={left === "" ? "Choose two runs" : "Choose the run to compare it with"}>
          The page shows the first difference, both decisions and the cost. Search by id, tag, scenario or environment.
          The address contains both runs and can be shared.
        </Empty>
      )}
    </Sheet>
  )
}

const ShareButton = () => {
  const [isCopied, copy] = useCopy()
  return (
    <button type="button" className="btn" onClick={() => copy(window.location.href)}>
      {isCopied ? <Check size={14} aria-hidden /> : <Link2 size={14} aria-hidden />}
      <span aria-live="polite">{isCopied ? "Copied" : "Copy the link"}</span>
    </button>
  )
}

const useRun = (runId: string) =>
  useQuery({
    queryKey: ["run", runId],
    enabled: runId !== "",
    queryFn: ({ signal }) => callRuns((api) => api.runs.get({ params: { id: runId }, query: {} }), signal)
  })

interface SideProps {
  readonly title: string
  readonly runId: string
  readonly other: string
  readonly onPick: (runId: string) => void
}

const Side = ({ onPick, other, runId, title }: SideProps) => {
  const run = useRun(runId)
  return (
    <section aria-label={`${title} run`} className="panel flex min-w-0 flex-col gap-2 p-3">
      <div className="flex items-center gap-2">
        <h2 className="label">{title}</h2>
        {run.data === undefined ? null : <RunLine run={run.data} />}
      </div>
      {run.isError ? (
        <Failure what="The run cannot be read" error={run.error} retry={() => void run.refetch()} />
      ) : null}
      <RunPicker
        label={runId === "" ? `Choose the ${title.toLowerCase()} run` : "Choose another run"}
        without={other}
        onPick={onPick}
      />
    </section>
  )
}

const RunLine = ({ run }: { readonly run: Run }) => {
  const state = useRead(["run state", run.id], (api) => api.runs.state({ params: { id: run.id } }))
  return (
    <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1">
      <StatusBadge status={run.status} />
      <TextLink href={`/runs/${run.id}`} className="min-w-0 truncate font-medium">
        <UserText text={runFacts(run, state.data?.run.intent).title} />
      </TextLink>
      <Id id={run.id} label="run id" />
      <Time at={run.createdAt} className="text-muted" />
    </span>
  )
}

const givenTo = ({ policy, timeline }: RunState, log: RunLog): Given => ({
  policyVersion: policy.policyVersion,
  events: log.events,
  isWhole: log.start === 0 && log.count >= timeline.totalEvents
})

type CompareState = ReturnType<typeof useUrlState<typeof compareParams>>

interface BothProps {
  readonly state: CompareState[0]
  readonly set: CompareState[1]
}

const Both = ({ set, state: { at, left, right } }: BothProps) => {
  const params = { leftRunId: left, rightRunId: right }
  const comparison = useRead(["comparison", left, right], (api) => api.compare.compare({ payload: params }))
  const leftState = useRead(["run state", left], (api) => api.runs.state({ params: { id: left } }))
  const rightState = useRead(["run state", right], (api) => api.runs.state({ params: { id: right } }))
  const logs = useQuery({
    queryKey: ["compared events", left, right],
    queryFn: async ({ signal }) => {
      const { readLog } = await import("../../live/readEvents.ts")
      return Promise.all([readLog(left, signal), readLog(right, signal)])
    }
  })
  const states = useMemo(
    () =>
      leftState.data === undefined || rightState.data === undefined
        ? undefined
        : ([leftState.data, rightState.data] as const),
    [leftState.data, rightState.data]
  )
  const decisions = useRead(["compared decisions", left, right], (api) =>
    Effect.map(
      api.runs.list({
        query: { ...newestRuns(2), include: ["decision"], q: `id:(${queryValue(left)},${queryValue(right)})` }
      }),
      ({ data }) => new Map(data.flatMap(({ decision, id }) => (decision === undefined ? [] : [[id, decision]])))
    )
  )
  const causes = useMemo(() => {
    if (states === undefined || logs.data === undefined) return undefined
    const [one, other] = logs.data
    return causesOf(givenTo(states[0], one), givenTo(states[1], other))
  }, [states, logs.data])
  const stateError = leftState.error ?? rightState.error
  return (
    <>
      <Loaded read={comparison} what="The runs cannot be compared" rows={4} height={40}>
        {(compared) =>
          states === undefined ? (
            stateError === null ? null : (
              <Failure
                what="The state of a run cannot be read"
                error={stateError}
                retry={() => {
                  void leftState.refetch()
                  void rightState.refetch()
                }}
              />
            )
          ) : (
            <SideBySide
              comparison={compared}
              causes={causes}
              decisions={decisions.data}
              left={states[0]}
              right={states[1]}
              onGoTo={(index) => set({ at: index })}
            />
          )
        }
      </Loaded>
      <Loaded read={logs} what="The events cannot be read" rows={8} height={32}>
        {([leftLog, rightLog]) => (
          <Suspense fallback={<Skeleton rows={8} height={32} />}>
            <AlignedEvents left={leftLog} right={rightLog} at={at} onMove={(index) => set({ at: index })} />
          </Suspense>
        )}
      </Loaded>
    </>
  )
}
