import type { Run } from "@runplane/api"
import type { Mark } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import { Check } from "lucide-react"
import { useCallback, useState } from "react"
import { callRuns } from "../../client/Client.ts"
import type { RunView } from "../../live/RunFollower.ts"
import type { RunLog } from "../../live/RunLog.ts"
import { useRun } from "../../live/useRun.ts"
import { StatusBadge, Time, UserText } from "../../ui/basics.tsx"
import { TextLink } from "../../ui/kit.tsx"
import { MarksContext } from "../../ui/marks/MarksHere.ts"
import { useShownMarks } from "../../ui/marks/useMarks.ts"
import { Failure, Skeleton } from "../../ui/States.tsx"
import { isBlind, unblinded } from "../../view/marks/Marks.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import NarrativeView, { type NarrativePage } from "../run/narrative/NarrativeView.tsx"
import { useShown } from "../run/useShown.ts"
import { ReviewPanel } from "./ReviewPanel.tsx"
import type { ReviewRunProps } from "./ReviewQuery.ts"

/** A run of the queue: its narrative, and the panel with its mark. */
export default function ReviewRun(props: ReviewRunProps) {
  const { me, runId, state } = props
  const record = useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => callRuns((api) => api.runs.get({ params: { id: runId }, query: {} }), signal)
  })
  const { again, log, view } = useRun(runId)
  const { blind, name } = state
  // For this run alone: the component has the run as its key.
  const [isRevealed, setRevealed] = useState(false)
  const shownMarks = useShownMarks(
    runId,
    useCallback(
      (marks: ReadonlyArray<Mark>) => (!isRevealed && isBlind(blind, marks) ? unblinded(marks, me.id, name) : marks),
      [blind, isRevealed, me.id, name]
    )
  )
  if (record.data === undefined) {
    return record.isError ? (
      <Failure what="The run cannot be read" error={record.error} retry={() => void record.refetch()} />
    ) : (
      <Skeleton rows={10} height={44} />
    )
  }
  return (
    <MarksContext value={shownMarks}>
      {view.error === undefined ? null : (
        <Failure what="The events of the run cannot be followed" error={view.error} retry={again} />
      )}
      <Position {...props} run={record.data} log={log} view={view} reveal={() => setRevealed(true)} />
    </MarksContext>
  )
}

interface PositionProps extends ReviewRunProps {
  readonly run: Run
  readonly log: RunLog | undefined
  readonly view: RunView
  /** Shows the marks that the blind mode hides. */
  readonly reveal: () => void
}

/** The run now, once its state is there. */
const Position = ({ log, run, view, ...props }: PositionProps) => {
  const { shown } = useShown(run, log, view, undefined)
  const [page, setPage] = useState<NarrativePage>({ event: undefined, policy: "", votes: [] })
  const { event } = page
  if (shown === undefined) return <Skeleton rows={10} height={44} />
  return (
    <div className="flex h-full min-h-0 flex-col beside:flex-row">
      <section aria-label="Story" className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Title run={run} isReviewed={props.isReviewed} />
        <div className="min-h-0 flex-1">
          <NarrativeView page={page} set={(patch) => setPage((held) => ({ ...held, ...patch }))} shown={shown} />
        </div>
      </section>
      <aside
        aria-label="Your mark"
        tabIndex={0}
        className="max-h-[48%] shrink-0 overflow-auto border-t border-line bg-panel beside:max-h-none beside:w-[min(360px,42vw)] beside:border-t-0 beside:border-l"
      >
        <ReviewPanel {...props} shown={shown} event={event} />
      </aside>
    </div>
  )
}

const Title = ({ isReviewed, run }: { readonly run: Run; readonly isReviewed: boolean }) => {
  const { title } = runFacts(run)
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-panel px-4 py-1.5">
      <h2 className="min-w-0 truncate font-semibold">
        <UserText text={title} />
      </h2>
      <StatusBadge status={run.status} />
      <Time at={run.createdAt} className="text-muted" />
      {isReviewed ? (
        <span className="inline-flex items-center gap-1 text-good">
          <Check size={13} aria-hidden /> reviewed by you
        </span>
      ) : null}
      <TextLink href={`/runs/${run.id}`} className="ml-auto">
        Open the run
      </TextLink>
    </div>
  )
}
