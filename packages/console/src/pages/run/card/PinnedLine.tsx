import type { DecisionCard } from "@runplane/domain"
import { type RefObject, useEffect, useState } from "react"
import { toneText, UserText } from "../../../ui/basics.tsx"
import { Glyph } from "../../../ui/decision/Glyph.tsx"
import type { Tone } from "../../../view/format/Status.ts"

interface PinnedLineProps {
  readonly of: RefObject<HTMLElement | null>
  readonly card: DecisionCard
  readonly word: string
  readonly tone: Tone
  readonly counts: string
}

/** The decision in one line above the messages while its card is scrolled out of view; a press returns to the card. */
export const PinnedLine = ({ card: { rings }, counts, of, tone, word }: PinnedLineProps) => {
  const isAbove = useIsAbove(of)
  const [ring] = rings
  if (!isAbove) return null
  return (
    <div className="no-print sticky top-0 z-10 -mt-4 h-0">
      <button
        type="button"
        data-pinned
        className="panel flex w-full items-center gap-2.5 px-3 py-1.5 text-left shadow-md"
        onClick={() => of.current?.scrollIntoView({ block: "start", behavior: "instant" })}
      >
        {ring === undefined ? null : <Glyph voters={ring.seats.map(({ vote, weight }) => [vote, weight])} size={34} />}
        <span className={`font-semibold ${toneText[tone]}`}>{word}</span>
        {ring === undefined || ring.name === "" ? null : (
          <span className="min-w-0 truncate">
            <UserText text={ring.name} />
          </span>
        )}
        <span className="num ml-auto shrink-0 text-soft">{counts}</span>
      </button>
    </div>
  )
}

/** Whether an element has left the view at its top. */
const useIsAbove = (of: RefObject<HTMLElement | null>): boolean => {
  const [isAbove, setAbove] = useState(false)
  useEffect(() => {
    if (of.current === null) return
    const seen = new IntersectionObserver(([entry]) => {
      if (entry !== undefined) setAbove(!entry.isIntersecting && entry.boundingClientRect.top < 0)
    })
    seen.observe(of.current)
    return () => seen.disconnect()
  }, [of])
  return isAbove
}
