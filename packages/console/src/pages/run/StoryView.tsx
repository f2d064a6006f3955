import { storyBegin, storyTime } from "@runplane/domain"
import { Printer } from "lucide-react"
import { type ReactNode, Suspense, useMemo } from "react"
import { Avatar, Chip, toneText, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { useSettled } from "../../ui/hooks.ts"
import { lazily } from "../../ui/lazily.ts"
import { MarkLines } from "../../ui/MarkChip.tsx"
import { useMarksHere } from "../../ui/MarksHere.ts"
import { hasRuntime } from "../../view/Actions.ts"
import { compact, counted, cut, duration, exactTime, percent, whole } from "../../view/Format.ts"
import { runFacts } from "../../view/RunFacts.ts"
import { type StoryItem, storyOf } from "../../view/Story.ts"
import { storyRows } from "../../view/StoryMarks.ts"
import { RecordButton } from "./RecordButton.tsx"
import type { RunPageState } from "./RunParams.ts"
import type { ShownRun } from "./useShown.ts"

const WhyCard = lazily(() => import("./WhyCard.tsx"))

/** Items of the story, the last ones; the list of events has all. */
const MOST = 200
/** Items while a long run is loading: one screen, which does not move. */
const FIRST = 20
const SETTLED_MS = 120

interface StoryViewProps {
  readonly page: Pick<RunPageState, "event">
  readonly set: (patch: Pick<RunPageState, "event">) => void
  readonly shown: ShownRun
}

/** The question, the messages of the participants with their marks, and the explanation of the decision. */
export default function StoryView({ page, set, shown }: StoryViewProps) {
  const items = useMemo(() => storyOf(shown.events, !hasRuntime(shown.run)), [shown.events, shown.run])
  // The explanation takes longer than the story: it waits until the index has not changed for a moment.
  const settled = useSettled(shown, SETTLED_MS)
  const begin = storyBegin(shown.run)
  // The state has the begin of a long one.
  const question =
    items.find(({ kind }) => kind === "opening")?.words ?? runFacts(shown.run, shown.state.run.intent).intent
  const { isWhole } = shown
  const marks = useMarksHere()?.placed
  const last = shown.start + shown.events.length
  const rows = useMemo(
    () =>
      isWhole ? storyRows(items, marks?.indexes ?? [], MOST, last) : storyRows(items.slice(0, FIRST), [], FIRST, 0),
    [isWhole, items, marks, last]
  )
  return (
    <div tabIndex={0} className="h-full overflow-auto">
      <div className="mx-auto flex max-w-[860px] flex-col gap-4 px-4 py-5">
        <p className="no-print -mb-2 flex justify-end gap-1.5">
          <button type="button" className="btn" onClick={() => window.print()}>
            <Printer size={14} aria-hidden /> Print
          </button>
          <RecordButton runId={shown.run.id} />
        </p>
        {question === undefined ? null : (
          <section>
            <h2 className="label">The question</h2>
            <p className="mt-0.5 text-[17px] leading-snug font-semibold tracking-tight">
              <UserText text={question} />
            </p>
          </section>
        )}
        {!hasRuntime(shown.run) && shown.state.decision.current === undefined ? null : isWhole && settled.isWhole ? (
          <Suspense fallback={<div className="skeleton h-24" />}>
            <WhyCard shown={settled} onSelect={(index) => set({ event: index })} />
          </Suspense>
        ) : (
          <div className="skeleton h-24" />
        )}
        <section aria-label="Messages">
          <h2 className="label mb-2">Messages</h2>
          {isWhole && items.length > MOST ? (
            <p className="mb-2 text-muted">
              The latest {MOST} of {whole(items.length)}; the view Events lists all.
            </p>
          ) : null}
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
                  onSelect={() => set({ event: row.index })}
                >
                  <MarkLines marks={marks?.byIndex.get(row.index)} />
                </Item>
              ) : row.kind === "event" ? (
                <MarkedEvent
                  key={row.index}
                  index={row.index}
                  type={typeAt(shown, row.index)}
                  isSelected={page.event === row.index}
                  onSelect={() => set({ event: row.index })}
                >
                  <MarkLines marks={marks?.byIndex.get(row.index)} />
                </MarkedEvent>
              ) : (
                <li key={row.index} className="px-2 py-1 pl-[110px] text-[12px] text-muted">
                  {counted(row.count, "earlier message")} not shown
                </li>
              )
            )}
          </ol>
          {isWhole ? null : <div className="skeleton h-40" />}
        </section>
      </div>
    </div>
  )
}

/** The type of an event; empty when the browser has dropped it. */
const typeAt = ({ all, start }: ShownRun, index: number): string => all[index - start - 1]?.type ?? ""

interface MarkedEventProps {
  readonly index: number
  readonly type: string
  readonly isSelected: boolean
  readonly onSelect: () => void
  readonly children: ReactNode
}

/** A marked event that is not a message of the story. */
const MarkedEvent = ({ children, index, isSelected, onSelect, type }: MarkedEventProps) => (
  <li
    data-index={index}
    className={`cursor-pointer rounded-lg px-2 py-1 pl-[110px] ${isSelected ? "bg-accent-soft" : "hover:bg-sunken"}`}
    onClick={onSelect}
  >
    <button
      type="button"
      className="text-[12px] text-accent underline"
      onClick={(event) => {
        event.stopPropagation()
        onSelect()
      }}
    >
      event {index}
    </button>{" "}
    <span className="font-mono text-[12px] text-muted">{type}</span>
    {children}
  </li>
)

interface ItemProps {
  readonly item: StoryItem
  /** The zero of the story, Unix milliseconds. */
  readonly begin: number
  readonly participant: number
  readonly isSelected: boolean
  readonly onSelect: () => void
  readonly children: ReactNode
}

const Item = ({ begin, children, isSelected, item, onSelect, participant }: ItemProps) => {
  const at = Date.parse(item.at)
  const isOurs = item.who === ""
  return (
    <li
      data-index={item.index}
      className={`group relative flex cursor-pointer gap-3 rounded-lg px-2 py-2 ${
        isSelected ? "bg-accent-soft" : "hover:bg-sunken"
      }`}
      onClick={onSelect}
    >
      <button
        type="button"
        title={exactTime(at)}
        className="num w-[54px] shrink-0 self-start pt-0.5 text-right text-[12px] text-muted"
        onClick={(event) => {
          event.stopPropagation()
          onSelect()
        }}
      >
        +{duration(storyTime(begin, item.at))}
        <span className="sr-only">, select event {item.index}</span>
      </button>
      {isOurs ? (
        <span aria-hidden className="flex size-6 shrink-0 items-center justify-center">
          <span className="size-2 rounded-full bg-line-strong" />
        </span>
      ) : (
        <Avatar name={item.who} index={participant} />
      )}
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-1.5">
          {isOurs ? null : <UserText text={item.who} className="font-semibold" />}
          <span className={isOurs ? `font-medium ${toneText[item.tone]}` : "text-soft"}>{item.verb}</span>
          {item.object === undefined ? null : (
            <UserText
              text={item.object}
              className={`font-semibold ${item.tone === "calm" ? "" : toneText[item.tone]}`}
            />
          )}
          {item.confidence === undefined ? null : <Confidence value={item.confidence} />}
          {item.isJoined ? <Chip tone="accent">from OpenTelemetry</Chip> : null}
          {item.changedFrom === undefined ? null : <Chip tone="warn">changed from {item.changedFrom}</Chip>}
        </p>
        {item.words === undefined ? null : (
          <p className="mt-0.5 max-w-[68ch] text-[13.5px] leading-relaxed text-text">
            <UserText text={cut(item.words, 2_000)} />
          </p>
        )}
        {item.spent === undefined ? null : (
          <p className="mt-1 text-[12px] text-muted">
            <UserText text={item.spent.models.join(", ") || "a language model"} /> · {compact(item.spent.tokens)} tokens
            · <CostText cost={item.spent} />
          </p>
        )}
        {children}
      </div>
    </li>
  )
}

/** A share as a short bar and a number. */
const Confidence = ({ value }: { readonly value: number }) => (
  <span className="inline-flex items-center gap-1.5 text-[12px] text-muted" title={`confidence ${value}`}>
    <span aria-hidden className="h-1 w-9 overflow-hidden rounded-full bg-calm-soft">
      <span
        className="block h-full rounded-full bg-accent"
        style={{ width: `${Math.min(100, Math.max(0, value * 100))}%` }}
      />
    </span>
    <span className="num">{percent(value)} confidence</span>
  </span>
)
