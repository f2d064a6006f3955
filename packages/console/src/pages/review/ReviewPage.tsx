import { CORRECT } from "@runplane/domain"
import { Check, EyeOff } from "lucide-react"
import { Suspense, useEffect, useMemo } from "react"
import { useStore, useTitle, useUrlState } from "../../ui/hooks.ts"
import { useShortcuts } from "../../ui/Keys.ts"
import { Select, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { useDefinitions } from "../../ui/marks/useMarks.ts"
import { Empty, Failure, Skeleton } from "../../ui/States.tsx"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import { useMe } from "../../ui/useMe.ts"
import { counted, whole } from "../../view/format/Format.ts"
import { nextUnreviewed, reviewedRuns } from "../../view/review/Review.ts"
import { givenMarks } from "./GivenMarks.ts"
import { NotStored } from "./NotStored.tsx"
import { END, reviewParams } from "./ReviewQuery.ts"
import { useQueue } from "./useQueue.ts"

const ReviewRun = lazily(() => import("./ReviewRun.tsx"))

/** The runs of a search one after the other, to be marked with the keyboard (docs/reference/marks.md#review). */
export default function ReviewPage() {
  const [state, set] = useUrlState(reviewParams)
  const { name, q } = state
  useTitle("Review")
  const me = useMe()
  const queue = useQueue(q, name, me?.id)
  const all = useStore(givenMarks)
  const given = useMemo(() => all.filter(({ by }) => by === me?.id), [all, me?.id])
  const reviewed = useMemo(() => reviewedRuns(queue.reviewed, given, name), [queue.reviewed, given, name])
  const ids = useMemo((): ReadonlyArray<string> => queue.runs.map(({ id }) => id), [queue.runs])
  const isEnd = state.run === END
  const at = isEnd ? ids.length : ids.indexOf(state.run)
  const definitions = useDefinitions().data ?? []
  const done = ids.filter((id) => reviewed.has(id)).length

  // The page begins with the first run that the caller has not marked.
  const { isReady, more } = queue
  useEffect(() => {
    if (!isReady || state.run !== "" || ids.length === 0) return
    set({ run: ids[nextUnreviewed(ids, -1, reviewed) ?? 0] ?? "" })
  }, [isReady, state.run, ids, reviewed, set])
  useEffect(() => {
    if (at >= ids.length - 10) more?.()
  }, [at, ids.length, more])

  const goTo = (index: number) =>
    set({ run: index >= ids.length ? END : (ids[Math.max(0, index)] ?? "") }, { push: true })
  const nextBlind = () => set({ blind: state.blind === undefined ? true : state.blind ? false : undefined })
  useShortcuts([
    { keys: "n", says: "Next run", group: "Review", run: () => goTo(at + 1) },
    { keys: "Enter", says: "Next run", group: "Review", run: () => goTo(at + 1) },
    { keys: "p", says: "Previous run", group: "Review", run: () => goTo(at - 1) },
    { keys: "b", says: "Blind mode: where judges have marked, always, off", group: "Review", run: nextBlind }
  ])
  const names = [...new Set([name, CORRECT, ...definitions.map((definition) => definition.name)])]
  const total = queue.total ?? ids.length
  return (
    <div className="flex h-full flex-col">
      <div className="flex shrink-0 flex-col gap-2 border-b border-line bg-panel px-4 py-2.5">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="text-[17px] font-semibold tracking-tight">Review</h1>
          <p className="num flex items-center gap-2 text-muted" aria-live="polite" data-progress>
            {queue.total === undefined
              ? ""
              : `${isEnd || at < 0 ? "" : `${whole(at + 1)} of `}${counted(total, "run")}, ${whole(done)} reviewed by you`}
          </p>
          <span aria-hidden className="h-1.5 w-24 overflow-hidden rounded-full bg-calm-soft max-sm:hidden">
            <span
              className="block h-full rounded-full bg-accent"
              style={{ width: `${(100 * done) / Math.max(1, total)}%` }}
            />
          </span>
          <span className="ml-auto flex flex-wrap items-center gap-2">
            <Select
              label="Mark"
              value={name}
              options={names.map((one) => [one, one] as const)}
              onChange={(next) => set({ name: next, target: "" })}
            />
            <button
              type="button"
              className={`btn ${state.blind === false ? "" : "border-accent text-accent"}`}
              title="Hides the marks of others until you have given yours"
              data-blind-mode={state.blind ?? "judged"}
              onClick={nextBlind}
            >
              <EyeOff size={14} aria-hidden />{" "}
              {state.blind === undefined ? "Blind where judges marked" : state.blind ? "Blind always" : "Not blind"}
            </button>
            <TextLink href="/marks">Definitions</TextLink>
          </span>
        </div>
        <div className="flex">
          <QueryBar
            resource="runs"
            label="Runs to review"
            placeholder={`All runs${name === CORRECT ? " with a decision" : ""}, or -has:mark.${name}`}
            value={q}
            onChange={(next) => set({ q: next, run: "" })}
          />
        </div>
      </div>
      <NotStored marks={given} renew={queue.renew} />
      <div className="min-h-0 flex-1">
        {queue.error !== null ? (
          <Failure what="The runs cannot be read" error={queue.error} retry={queue.again} />
        ) : queue.total === undefined || me === undefined || (state.run === "" && ids.length > 0) ? (
          <Skeleton rows={10} height={44} />
        ) : ids.length === 0 ? (
          <Empty title="No run matches">Change the search, or launch a scenario.</Empty>
        ) : isEnd ? (
          <End
            count={ids.length}
            done={done}
            total={total}
            again={queue.again}
            goTo={goTo}
            next={nextUnreviewed(ids, -1, reviewed)}
          />
        ) : (
          <Suspense fallback={<Skeleton rows={10} height={44} />}>
            <ReviewRun
              key={state.run}
              runId={state.run}
              me={me}
              state={state}
              set={set}
              given={given}
              renew={queue.renew}
              isReviewed={reviewed.has(state.run)}
              goTo={(step) => goTo(at + step)}
            />
          </Suspense>
        )}
      </div>
    </div>
  )
}

interface EndProps {
  readonly count: number
  readonly done: number
  readonly total: number
  readonly next: number | undefined
  readonly again: () => void
  readonly goTo: (index: number) => void
}

/** Behind the last run: what is done, and what is left. */
const End = ({ again, count, done, goTo, next, total }: EndProps) => (
  <div role="status" className="flex h-full flex-col items-center justify-center gap-3 p-6 text-center">
    <Check size={24} aria-hidden className={done >= count ? "text-good" : "text-muted"} />
    <h2 className="text-[15px] font-semibold">
      {next === undefined
        ? `All ${counted(count, "run")} are reviewed`
        : `${whole(done)} of ${counted(total, "run")} reviewed by you`}
    </h2>
    <span className="flex flex-wrap justify-center gap-2">
      {next === undefined ? null : (
        <button type="button" className="btn btn-main" onClick={() => goTo(next)}>
          Go to the next run without your mark
        </button>
      )}
      <button type="button" className="btn" onClick={() => goTo(count - 1)}>
        Back to the last run
      </button>
      <button type="button" className="btn" onClick={again}>
        Read the queue again
      </button>
    </span>
  </div>
)
