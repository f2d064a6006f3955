import { isTerminal, shownBegin } from "@runplane/domain"
import { ArrowDown, Printer } from "lucide-react"
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { flushSync } from "react-dom"
import { isOffline } from "../../../client/Offline.ts"
import { UserText } from "../../../ui/basics.tsx"
import { useLatest, useSettled } from "../../../ui/hooks.ts"
import { lazily } from "../../../ui/lazily.ts"
import { useMarksHere } from "../../../ui/marks/MarksHere.ts"
import { useFollow } from "../../../ui/useFollow.ts"
import { counted, whole } from "../../../view/format/Format.ts"
import { growingNarrative, narrativeLength } from "../../../view/run/Narrative.ts"
import { narrativeRows } from "../../../view/run/NarrativeRows.ts"
import { hasRuntime, runFacts } from "../../../view/run/RunFacts.ts"
import type { RunPageState } from "../RunParams.ts"
import type { ShownRun } from "../useShown.ts"
import { Item, MarkedEvent } from "./NarrativeItems.tsx"
import { RecordButton } from "./RecordButton.tsx"

const CardSection = lazily(() => import("../card/CardSection.tsx"))

/** Items of the narrative that are drawn at first, the latest ones, and that a click adds. */
const FIRST = 60
const MORE = 200
/** Items while the index moves or a long run is loading: one screen, so that a frame draws no more. */
const MOVING = 12
const SETTLED_MS = 250

/** The part of the page's state that the narrative has. */
export type NarrativePage = Pick<RunPageState, "event" | "policy" | "votes">

interface NarrativeViewProps {
  readonly page: NarrativePage
  readonly set: (patch: Partial<NarrativePage>) => void
  readonly shown: ShownRun
}

/** The question, the messages of the participants with their marks, and the explanation of the decision. */
export default function NarrativeView({ page, set, shown }: NarrativeViewProps) {
  const isIngested = !hasRuntime(shown.run)
  // Of all events, so that another index needs no other narrative.
  const [narrativeUpTo] = useState(growingNarrative)
  const narrative = useMemo(() => narrativeUpTo(shown.all, isIngested), [narrativeUpTo, shown.all, isIngested])
  const last = shown.start + shown.events.length
  const items = useMemo(() => narrative.slice(0, narrativeLength(narrative, last)), [narrative, last])
  // The explanation takes longer than the narrative: it waits until the index has not changed for a moment.
  const settled = useSettled(shown, SETTLED_MS)
  const [most, setMost] = useState(FIRST)
  const begin = shownBegin(shown.run)
  // The state has the begin of a long one.
  const question =
    items.find(({ kind }) => kind === "opening")?.words ?? runFacts(shown.run, shown.state.run.intent).intent
  const { isNow, isWhole } = shown
  // A run of an application need not decide anything.
  const hasCard = hasRuntime(shown.run) || shown.state.decision.current !== undefined
  const isMoving = !isNow && settled !== shown
  const marks = useMarksHere()?.placed
  const rows = useMemo(() => {
    if (!isWhole) return narrativeRows(items.slice(0, MOVING), [], MOVING, 0)
    if (isMoving) return narrativeRows(items, [], MOVING, 0)
    return narrativeRows(
      items,
      [...(marks?.indexes ?? []), ...(page.event === undefined ? [] : [page.event])],
      most,
      last
    )
  }, [isWhole, isMoving, items, marks, page.event, most, last])
  const isLive = isNow && !isTerminal(shown.run.status)
  const select = useCallback((index: number) => set({ event: index }), [set])
  const follow = useFollow({ count: items.length, isLive, begins: isLive && page.event === undefined })
  useSelectedInSight(follow.scroller, isWhole ? page.event : undefined)
  useWholePrint(() => setMost(MORE))
  return (
    <div ref={follow.setScroller} tabIndex={0} className="h-full overflow-auto">
      <div ref={follow.setContent} className="mx-auto flex max-w-[1120px] flex-col gap-4 px-4 py-5">
        <p className="no-print -mb-2 flex justify-end gap-1.5">
          <button type="button" className="btn" onClick={() => window.print()}>
            <Printer size={14} aria-hidden /> Print
          </button>
          {isOffline ? null : <RecordButton runId={shown.run.id} />}
        </p>
        {question === undefined || hasCard ? null : (
          <section>
            <h2 className="label">The question</h2>
            <p className="mt-0.5 text-[17px] leading-snug font-semibold tracking-tight">
              <UserText text={question} />
            </p>
          </section>
        )}
        {!hasCard ? null : isWhole && settled.isWhole ? (
          <Suspense fallback={<div className="skeleton h-64" />}>
            <CardSection shown={settled} page={page} set={set} hasDetails />
          </Suspense>
        ) : (
          <div className="skeleton h-64" />
        )}
        <section aria-label="Messages">
          <h2 className="label mb-2">Messages</h2>
          {rows.length === 0 && isWhole ? <p className="text-muted">No messages yet.</p> : null}
          <ol className="flex flex-col">
            {rows.map((row) =>
              row.kind === "item" ? (
                <Item
                  key={row.index}
                  item={row.item}
                  begin={begin}
                  participant={shown.participantIndex(row.item.who)}
                  isSelected={page.event === row.index}
                  onSelect={select}
                  marks={marks?.byIndex.get(row.index)}
                />
              ) : row.kind === "event" ? (
                <MarkedEvent
                  key={row.index}
                  index={row.index}
                  type={typeAt(shown, row.index)}
                  isSelected={page.event === row.index}
                  onSelect={select}
                  marks={marks?.byIndex.get(row.index)}
                />
              ) : (
                <li key={row.index} className="px-2 py-1 pl-[110px] text-[12px] text-muted">
                  {counted(row.count, "message")} not shown{" "}
                  {isMoving ? null : (
                    <button
                      type="button"
                      className="no-print text-accent underline"
                      onClick={() => setMost(most + MORE)}
                    >
                      show earlier messages
                    </button>
                  )}
                </li>
              )
            )}
          </ol>
          {isWhole ? null : <div className="skeleton h-40" />}
        </section>
      </div>
      {follow.added === 0 ? null : (
        <p className="no-print pointer-events-none sticky bottom-3 flex justify-center">
          <button type="button" className="btn btn-primary pointer-events-auto shadow-lg" onClick={follow.toEnd}>
            <ArrowDown size={14} aria-hidden /> {whole(follow.added)} new
          </button>
        </p>
      )}
    </div>
  )
}

/** Scrolls to the event of a link, once it is drawn. */
const useSelectedInSight = (scroller: HTMLElement | null, event: number | undefined): void => {
  const done = useRef(false)
  useEffect(() => {
    if (scroller === null || done.current) return
    const row = event === undefined ? null : scroller.querySelector(`[data-index="${event}"]`)
    row?.scrollIntoView({ block: "center" })
    done.current = row !== null
  }, [scroller, event])
}

/** Draws more of the narrative before the browser prints it. */
const useWholePrint = (more: () => void): void => {
  const latest = useLatest(more)
  useEffect(() => {
    const prepare = () => flushSync(latest.current)
    window.addEventListener("beforeprint", prepare)
    return () => window.removeEventListener("beforeprint", prepare)
  }, [latest])
}

/** The type of an event; empty when the browser has dropped it. */
const typeAt = ({ all, start }: ShownRun, index: number): string => all[index - start - 1]?.type ?? ""
