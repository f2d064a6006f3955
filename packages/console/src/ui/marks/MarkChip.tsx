import { agreementText, COMMENT, type Mark, type MarkSource } from "@runplane/domain"
import { Bot, type LucideIcon, MessageSquare, Plug, Scale, TriangleAlert, User } from "lucide-react"
import { cut, exactTime } from "../../view/format/Format.ts"
import { authorText, kappaText, markText, valueTone } from "../../view/marks/Marks.ts"
import { Chip, Time, UserText } from "../basics.tsx"
import { type ShownMarks, useMarksHere } from "./MarksHere.ts"

export const sourceIcons: Readonly<Record<MarkSource, LucideIcon>> = { human: User, judge: Bot, rule: Scale, api: Plug }
export const sourceWords: Readonly<Record<MarkSource, string>> = {
  human: "person",
  judge: "judge",
  rule: "rule",
  api: "API"
}

const VALUE_LENGTH = 40
const TITLE_LENGTH = 300

/** How far the judge of a mark agrees with people, a warning for an unreliable one; null for other marks. */
const Agreement = ({ mark, shown }: { readonly mark: Mark; readonly shown: ShownMarks }) => {
  const found = shown.reliabilityOf(mark)
  if (found === undefined) return null
  const about = `With people: ${agreementText(found)}`
  return found.unreliable ? (
    <Chip tone="warn" title={about}>
      <TriangleAlert size={11} aria-hidden className="shrink-0" /> unreliable, {kappaText(found)}
    </Chip>
  ) : (
    <span className="text-[12px] text-muted" title={about}>
      {kappaText(found)}
    </span>
  )
}

/** A mark in a line: name, value, source, and the author and the time when there is space. */
export const MarkChip = ({
  isShort = false,
  mark,
  shown
}: {
  readonly mark: Mark
  readonly shown: ShownMarks
  /** Without author, time and reliability. */
  readonly isShort?: boolean
}) => {
  const { comment, createdAt, name, source, value } = mark
  const isComment = name === COMMENT
  const Icon = isComment ? MessageSquare : sourceIcons[source]
  const author = authorText(mark)
  // Where the author has space, the text of a comment has its own line.
  const text = isComment && !isShort && value !== undefined ? "" : markText(mark)
  const about = `${name}: ${text}, ${sourceWords[source]} ${author}, ${exactTime(Date.parse(createdAt))}`
  return (
    // Relative: the hidden text must not widen the page from within a scrolled table.
    <span className="relative inline-flex max-w-full flex-wrap items-baseline gap-x-1.5" data-mark={mark.id}>
      <Chip
        tone={value === undefined ? "calm" : valueTone(name, value, shown.definitionOf(name))}
        title={comment === undefined ? about : `${about}\n${cut(comment, TITLE_LENGTH)}`}
      >
        <Icon size={11} aria-hidden className="shrink-0" />
        <span className="sr-only">{sourceWords[source]}:</span>
        {name} <UserText text={cut(text, VALUE_LENGTH)} className="font-semibold" />
      </Chip>
      {isShort ? null : (
        <>
          <span className="text-[12px] text-muted">
            <UserText text={cut(author, VALUE_LENGTH)} /> <Time at={createdAt} />
          </span>
          <Agreement mark={mark} shown={shown} />
        </>
      )}
    </span>
  )
}

interface UnreliableSignProps {
  readonly marks: ReadonlyArray<Mark>
  readonly reliabilityOf: ShownMarks["reliabilityOf"]
}

/** The same warning in the space of a row; its title has the figures. */
export const UnreliableSign = ({ marks, reliabilityOf }: UnreliableSignProps) => {
  const texts = marks.flatMap((mark) => {
    const found = reliabilityOf(mark)
    return found?.unreliable === true ? [`judge ${authorText(mark)} is ${agreementText(found)}`] : []
  })
  if (texts.length === 0) return null
  const says = [...new Set(texts)].join("; ")
  return (
    <span role="img" aria-label={says} title={says} className="inline-flex shrink-0 self-center text-warn">
      <TriangleAlert size={12} aria-hidden />
    </span>
  )
}

const MOST_CHIPS = 2

/** The marks of the event at an index, in the space of a row; null without any. */
export const RowMarks = ({ className = "", index }: { readonly index: number; readonly className?: string }) => {
  const shown = useMarksHere()
  const marks = shown?.placed.byIndex.get(index)
  if (shown === undefined || marks === undefined) return null
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap ${className}`} data-marked={index}>
      {marks.slice(0, MOST_CHIPS).map((mark) => (
        <MarkChip key={mark.id} isShort mark={mark} shown={shown} />
      ))}
      <UnreliableSign marks={marks} reliabilityOf={shown.reliabilityOf} />
      {marks.length > MOST_CHIPS ? <span className="num text-muted">+{marks.length - MOST_CHIPS}</span> : null}
    </span>
  )
}

/** Marks one below the other with their comments, where they were given; null without any. */
export const MarkLines = ({
  length = TITLE_LENGTH,
  marks
}: {
  readonly marks: ReadonlyArray<Mark> | undefined
  /** Characters of a comment. */
  readonly length?: number
}) => {
  const shown = useMarksHere()
  if (shown === undefined || marks === undefined || marks.length === 0) return null
  return (
    <ul className="mt-1 flex flex-col gap-0.5">
      {marks.map((mark) => (
        <li key={mark.id} className="min-w-0">
          <MarkChip mark={mark} shown={shown} />
          {mark.comment === undefined ? null : (
            <p dir="auto" className="max-w-[68ch] text-[12px] wrap-anywhere text-soft">
              {cut(mark.comment, length)}
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}
