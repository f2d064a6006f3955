import { ChevronDown, ChevronsDownUp, ChevronsUpDown, ChevronUp } from "lucide-react"
import { useMemo, useState } from "react"
import { whole } from "../../view/format/Format.ts"
import { jsonMatches, jsonParents, MAX_MATCHES } from "../../view/format/JsonLines.ts"
import { CopyButton } from "../CopyButton.tsx"

/** A search in a JSON value. */
export interface JsonSearch {
  readonly query: string
  readonly setQuery: (query: string) => void
  readonly matches: ReadonlyArray<string>
  /** Lists and objects with a match, which are open. */
  readonly open: ReadonlySet<string>
  /** The pointer of the match that is shown. */
  readonly current: string | undefined
  readonly step: (by: number) => void
  readonly position: number
}

export const useJsonSearch = (value: unknown): JsonSearch => {
  const [query, setQuery] = useState("")
  const [at, setAt] = useState(0)
  const matches = useMemo(() => jsonMatches(value, query.trim()), [value, query])
  const open = useMemo(() => jsonParents(matches), [matches])
  const position = matches.length === 0 ? 0 : ((at % matches.length) + matches.length) % matches.length
  return {
    query,
    setQuery: (next) => {
      setQuery(next)
      setAt(0)
    },
    matches,
    open,
    current: matches[position],
    step: (by) => setAt(position + by),
    position
  }
}

interface JsonBarProps {
  readonly value: unknown
  readonly search: JsonSearch
  /** Opens or closes all lists and objects. */
  readonly onOpen: (isOpen: boolean) => void
}

/** The controls of a JSON value: search, open and close, copy. */
export const JsonBar = ({ onOpen, search, value }: JsonBarProps) => {
  const { matches, position, query, setQuery, step } = search
  return (
    <div className="no-print flex flex-wrap items-center gap-1 py-0.5 font-sans">
      <input
        type="search"
        aria-label="Search in the JSON"
        placeholder="Search"
        className="field h-6 w-[130px] min-w-0 flex-1 text-[12px]"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1)
          // The page closes what is selected.
          if (event.key === "Escape" && query !== "") {
            event.stopPropagation()
            setQuery("")
          }
        }}
      />
      {query.trim() === "" ? null : (
        <>
          <span className="num text-[12px] text-muted" role="status">
            {matches.length === 0
              ? "no match"
              : `${position + 1} of ${whole(matches.length)}${matches.length === MAX_MATCHES ? " or more" : ""}`}
          </span>
          <Step title="Previous match" icon={ChevronUp} isOff={matches.length < 2} onClick={() => step(-1)} />
          <Step title="Next match" icon={ChevronDown} isOff={matches.length < 2} onClick={() => step(1)} />
        </>
      )}
      <span className="ml-auto flex items-center">
        <Step title="Expand all values" icon={ChevronsUpDown} onClick={() => onOpen(true)} />
        <Step title="Collapse all values" icon={ChevronsDownUp} onClick={() => onOpen(false)} />
        <CopyButton title="Copy the JSON" text={() => JSON.stringify(value, undefined, 2)} />
      </span>
    </div>
  )
}

interface StepProps {
  readonly title: string
  readonly icon: typeof ChevronUp
  readonly isOff?: boolean
  readonly onClick: () => void
}

const Step = ({ icon: Icon, isOff = false, onClick, title }: StepProps) => (
  <button
    type="button"
    className="btn btn-quiet px-1 text-soft"
    title={title}
    aria-label={title}
    disabled={isOff}
    onClick={onClick}
  >
    <Icon size={14} aria-hidden />
  </button>
)
