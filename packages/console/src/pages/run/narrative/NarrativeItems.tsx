import { type Mark, narrativeTime, phraseText } from "@runplane/domain"
import { memo } from "react"
import { Avatar, Chip, toneText, UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { MarkLines } from "../../../ui/marks/MarkChip.tsx"
import { compact, cut, duration, exactTime, LINES_LENGTH, percent } from "../../../view/format/Format.ts"
import { type NarrativeItem, subjectOf } from "../../../view/run/Narrative.ts"

interface MarkedEventProps {
  readonly index: number
  readonly type: string
  readonly isSelected: boolean
  readonly onSelect: (index: number) => void
  readonly marks: ReadonlyArray<Mark> | undefined
}

/** A marked event that is not a message of the narrative. */
export const MarkedEvent = ({ index, isSelected, marks, onSelect, type }: MarkedEventProps) => (
  <li
    data-index={index}
    className={`cursor-pointer rounded-lg px-2 py-1 pl-[110px] ${isSelected ? "bg-accent-soft" : "hover:bg-sunken"}`}
    onClick={() => onSelect(index)}
  >
    <button
      type="button"
      className="text-[12px] text-accent underline"
      onClick={(event) => {
        event.stopPropagation()
        onSelect(index)
      }}
    >
      event {index}
    </button>{" "}
    <span className="font-mono text-[12px] text-muted">{type}</span>
    <MarkLines marks={marks} />
  </li>
)

interface ItemProps {
  readonly item: NarrativeItem
  /** The zero of the narrative, Unix milliseconds. */
  readonly begin: number
  readonly participant: number
  readonly isSelected: boolean
  readonly onSelect: (index: number) => void
  readonly marks: ReadonlyArray<Mark> | undefined
}

/** A message of the narrative, or a change of the run. */
export const Item = memo(({ begin, isSelected, item, marks, onSelect, participant }: ItemProps) => {
  const at = Date.parse(item.at)
  const subject = subjectOf(item)
  const isOurs = subject !== undefined
  return (
    <li
      data-index={item.index}
      className={`group relative flex cursor-pointer gap-3 rounded-lg px-2 py-2 ${
        isSelected ? "bg-accent-soft" : "hover:bg-sunken"
      }`}
      onClick={() => onSelect(item.index)}
    >
      <button
        type="button"
        title={exactTime(at)}
        className="num w-[54px] shrink-0 self-start pt-0.5 text-right text-[12px] text-muted"
        onClick={(event) => {
          event.stopPropagation()
          onSelect(item.index)
        }}
      >
        +{duration(narrativeTime(begin, item.at))}
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
          <span className={isOurs ? `font-medium ${toneText[item.tone]}` : "text-soft"}>
            {isOurs ? `${subject} ${item.verb}` : item.verb}
          </span>
          {item.object === undefined ? null : (
            <UserText
              text={cut(item.object, LINES_LENGTH)}
              className={`font-semibold ${item.tone === "calm" ? "" : toneText[item.tone]}`}
            />
          )}
          {item.detail === undefined ? null : <UserText text={`(${phraseText(item.detail)})`} className="text-soft" />}
          {item.about === undefined ? null : <UserText text={phraseText(item.about)} className="text-soft" />}
          {item.note === undefined ? null : <UserText text={phraseText(item.note)} className="text-soft" />}
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
            <UserText text={item.spent.models.join(", ") || "a language model"} /> ·{" "}
            {item.spent.tokens === 0 && item.spent.callsWithoutUsage > 0 ? (
              "no usage reported"
            ) : (
              <>
                {compact(item.spent.tokens)} tokens · <CostText cost={item.spent} />
              </>
            )}
          </p>
        )}
        <MarkLines marks={marks} />
      </div>
    </li>
  )
})

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
