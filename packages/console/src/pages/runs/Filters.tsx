import { RunStatus } from "@runplane/domain"
import { Archive, Columns3, Rows3, Search, X } from "lucide-react"
import { type RefObject, useEffect, useState } from "react"
import { Overlay } from "../../ui/Overlay.tsx"
import { runLook } from "../../view/Status.ts"
import type { ValuesOf } from "../../view/UrlState.ts"
import { COLUMNS, FIXED } from "./Columns.tsx"
import { isFiltered, type RunFilters, type runParams } from "./RunQuery.ts"

interface FiltersProps {
  readonly filters: RunFilters
  readonly set: (patch: Partial<ValuesOf<typeof runParams>>) => void
  readonly searchRef: RefObject<HTMLInputElement | null>
}

const PRESETS: ReadonlyArray<{ readonly title: string; readonly patch: Partial<RunFilters> }> = [
  { title: "All", patch: { status: "any", since: "any" } },
  { title: "Running", patch: { status: "running", since: "any" } },
  { title: "Suspended", patch: { status: "suspended", since: "any" } },
  { title: "Failed", patch: { status: "failed", since: "any" } },
  { title: "Last hour", patch: { status: "any", since: "1h" } }
]

const NOTHING: Partial<RunFilters> = {
  search: "",
  q: "",
  status: "any",
  scenario: "",
  environment: "",
  tags: [],
  since: "any"
}

/** Letters are put into the address when the typing pauses. */
const TYPING_MS = 250

export const Filters = ({ filters, searchRef, set }: FiltersProps) => {
  const [typed, setTyped] = useState(filters.search)
  const [areColumnsOpen, setColumnsOpen] = useState(false)
  useEffect(() => setTyped(filters.search), [filters.search])
  useEffect(() => {
    if (typed === filters.search) return
    const timer = setTimeout(() => set({ search: typed }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, filters.search, set])
  const isPreset = ({ patch }: (typeof PRESETS)[number]) =>
    filters.status === patch.status && filters.since === patch.since
  return (
    <div className="flex flex-col gap-2 border-b border-line bg-panel px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <label className="relative min-w-[180px] flex-1 sm:max-w-[420px]">
          <span className="sr-only">Search runs</span>
          <Search size={14} aria-hidden className="absolute top-2 left-2.5 text-muted" />
          <input
            ref={searchRef}
            type="search"
            className="field w-full pl-8"
            placeholder="Search id, tag, scenario, environment, policy"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return
              // By itself a search field would be emptied.
              event.preventDefault()
              event.currentTarget.blur()
            }}
          />
        </label>
        <Select
          label="Status"
          value={filters.status}
          options={[["any", "Any status"], ...RunStatus.literals.map((word) => [word, runLook(word).word] as const)]}
          onChange={(status) => set({ status })}
        />
        <Select
          label="Time"
          value={filters.since}
          options={[
            ["any", "Any time"],
            ["1h", "Last hour"],
            ["24h", "Last 24 hours"],
            ["7d", "Last 7 days"],
            ["30d", "Last 30 days"]
          ]}
          onChange={(since) => set({ since })}
        />
        <Select
          label="Order"
          value={filters.sort}
          options={[
            ["newest", "Newest first"],
            ["oldest", "Oldest first"],
            ["updated", "Last changed first"]
          ]}
          onChange={(sort) => set({ sort })}
        />
        <span className="ml-auto flex gap-1">
          <Toggle
            label="Archived runs too"
            pressed={filters.archived}
            onClick={() => set({ archived: !filters.archived })}
            icon={<Archive size={15} aria-hidden />}
          />
          <Toggle
            label="Compact rows"
            pressed={filters.density === "compact"}
            onClick={() => set({ density: filters.density === "compact" ? "comfortable" : "compact" })}
            icon={<Rows3 size={15} aria-hidden />}
          />
          <Toggle
            label="Columns"
            pressed={filters.hide.length > 0}
            onClick={() => setColumnsOpen(true)}
            icon={<Columns3 size={15} aria-hidden />}
          />
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-1">
        {PRESETS.map((preset) => (
          <button
            key={preset.title}
            type="button"
            aria-pressed={isPreset(preset)}
            className={`h-6 rounded-full px-2.5 text-[12px] font-medium ${
              isPreset(preset) ? "bg-accent-soft text-accent" : "text-soft hover:bg-sunken"
            }`}
            onClick={() => set(preset.patch)}
          >
            {preset.title}
          </button>
        ))}
        {filters.tags.map((tag) => (
          <button
            key={tag}
            type="button"
            className="inline-flex h-6 items-center gap-1 rounded-full bg-calm-soft px-2 text-[12px] text-calm"
            onClick={() => set({ tags: filters.tags.filter((other) => other !== tag) })}
            aria-label={`Remove the tag ${tag}`}
          >
            {tag} <X size={12} aria-hidden />
          </button>
        ))}
        {isFiltered(filters) ? (
          <button type="button" className="ml-1 text-[12px] text-accent underline" onClick={() => set(NOTHING)}>
            Clear filters
          </button>
        ) : null}
      </div>
      <Overlay open={areColumnsOpen} onClose={() => setColumnsOpen(false)} title="Columns">
        <ul className="grid gap-1 p-4 sm:grid-cols-2">
          {COLUMNS.filter(({ id }) => !FIXED.has(id)).map(({ id, title }) => (
            <li key={id}>
              <label className="flex items-center gap-2 py-1">
                <input
                  type="checkbox"
                  checked={!filters.hide.includes(id)}
                  onChange={({ target }) =>
                    set({ hide: target.checked ? filters.hide.filter((name) => name !== id) : [...filters.hide, id] })
                  }
                />
                {title}
              </label>
            </li>
          ))}
        </ul>
      </Overlay>
    </div>
  )
}

interface SelectProps<Word extends string> {
  readonly label: string
  readonly value: Word
  readonly options: ReadonlyArray<readonly [Word, string]>
  readonly onChange: (word: Word) => void
}

const Select = <Word extends string>({ label, onChange, options, value }: SelectProps<Word>) => (
  <label>
    <span className="sr-only">{label}</span>
    <select
      className="field pr-1"
      value={value}
      onChange={({ target }) => {
        const chosen = options.find(([word]) => word === target.value)
        if (chosen !== undefined) onChange(chosen[0])
      }}
    >
      {options.map(([word, title]) => (
        <option key={word} value={word}>
          {title}
        </option>
      ))}
    </select>
  </label>
)

interface ToggleProps {
  readonly label: string
  readonly pressed: boolean
  readonly onClick: () => void
  readonly icon: React.ReactNode
}

const Toggle = ({ icon, label, onClick, pressed }: ToggleProps) => (
  <button
    type="button"
    title={label}
    aria-label={label}
    aria-pressed={pressed}
    className={`btn btn-quiet px-1.5 ${pressed ? "text-accent" : "text-soft"}`}
    onClick={onClick}
  >
    {icon}
  </button>
)
