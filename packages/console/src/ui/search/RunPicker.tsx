import { Search } from "lucide-react"
import { type KeyboardEvent, useId, useState } from "react"
import { runFacts } from "../../view/run/RunFacts.ts"
import { StatusBadge, Time, UserText } from "../basics.tsx"
import { useRunSearch } from "./useRunSearch.ts"

const FOUND = 8

/** Finds a run by a search: id, tag, scenario, environment. */
export const RunPicker = ({
  label,
  onPick,
  without
}: {
  readonly label: string
  readonly onPick: (runId: string) => void
  /** A run that is not offered. */
  readonly without: string | undefined
}) => {
  const [text, setText] = useState("")
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(0)
  const listId = useId()
  const found = useRunSearch(text, { limit: FOUND, enabled: isOpen })
  const runs = isOpen ? found.filter(({ id }) => id !== without) : []
  const pick = (id: string) => {
    setText("")
    setOpen(false)
    onPick(id)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      setOpen(true)
      const step = event.key === "ArrowDown" ? 1 : -1
      if (runs.length > 0) setChosen((before) => (before + step + runs.length) % runs.length)
    }
    const run = runs[chosen]
    if (event.key === "Enter" && run !== undefined) {
      event.preventDefault()
      pick(run.id)
    }
    if (event.key === "Escape" && isOpen) {
      event.preventDefault()
      setOpen(false)
    }
  }
  return (
    <div className="relative">
      <Search size={14} aria-hidden className="absolute top-[7px] left-2.5 text-muted" />
      <input
        role="combobox"
        aria-label={label}
        aria-expanded={runs.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={runs[chosen] === undefined ? undefined : `${listId}-${chosen}`}
        className="field w-full pl-8"
        placeholder={label}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setChosen(0)
          setOpen(true)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <div
        id={listId}
        role="listbox"
        aria-label={`${label}: results`}
        hidden={runs.length === 0}
        className="absolute top-8 right-0 left-0 z-30 max-h-[320px] min-w-[260px] overflow-auto rounded-lg border border-line bg-raised py-1 shadow-float"
      >
        {runs.map((run, at) => (
          <div
            key={run.id}
            id={`${listId}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            className={`flex cursor-pointer items-center gap-2 px-3 py-1.5 ${at === chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
            onPointerDown={(event) => {
              // The field keeps the focus until the choice is made.
              event.preventDefault()
              pick(run.id)
            }}
          >
            <StatusBadge status={run.status} />
            <UserText text={runFacts(run).title} className="min-w-0 flex-1 truncate" />
            <span className="font-mono text-[11px] text-muted">{run.id.slice(0, 8)}</span>
            <Time at={run.createdAt} className="text-[12px] text-muted" />
          </div>
        ))}
      </div>
    </div>
  )
}
