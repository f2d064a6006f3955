import { RunStatus } from "@runplane/domain"
import { Archive, Columns3, Download, ListFilter, Rows3, X } from "lucide-react"
import { type ReactNode, type RefObject, Suspense, useState } from "react"
import { Select } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import { runStatusLabel } from "../../view/format/Status.ts"
import { valuesIn, withValues } from "../../view/query/QueryEdit.ts"
import { isFiltered, markOrders, type RunFilters, type RunOrder, type SetRunFilters } from "./RunQuery.ts"
import { Views } from "./Views.tsx"

const ColumnsDialog = lazily(() => import("./ColumnsDialog.tsx"))
const Facets = lazily(() => import("./Facets.tsx"))
const ExportDialog = lazily(() => import("./ExportDialog.tsx"))

interface FiltersProps {
  readonly filters: RunFilters
  readonly set: SetRunFilters
  readonly total: number | undefined
  /** Receives whether the typed search is valid. */
  readonly onValid: (isValid: boolean) => void
  readonly searchRef: RefObject<HTMLInputElement | null>
}

const NOTHING: Partial<RunFilters> = {
  search: "",
  q: "",
  status: "any",
  scenario: "",
  environment: "",
  tags: [],
  window: ""
}

const SORTS = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["updated", "Last changed first"],
  ["stalest", "Longest unchanged first"],
  ["slowest", "Slowest first"],
  ["fastest", "Fastest first"],
  ["dearest", "Most expensive first"],
  ["cheapest", "Cheapest first"],
  ["tokens", "Most tokens first"],
  ["fewest-tokens", "Fewest tokens first"],
  ["longest", "Most events first"],
  ["shortest", "Fewest events first"]
] as const satisfies ReadonlyArray<readonly [RunOrder, string]>

/** The order by a mark is set by the header of its column. */
const ordersWith = (filters: RunFilters): ReadonlyArray<readonly [RunOrder, string]> => {
  const { sort } = filters
  const orders = [...SORTS, ...markOrders(filters)]
  return orders.some(([name]) => name === sort) ? orders : [...orders, [sort, `By ${sort}`]]
}

/** The search of the list, by words and by facets: two ways to edit one search, which is in the address. */
export const Filters = ({ filters, onValid, searchRef, set, total }: FiltersProps) => {
  const [open, setOpen] = useState<"columns" | "export">()
  const statuses = valuesIn(filters.q, "status")
  const status = statuses.length > 1 ? "several" : (statuses[0] ?? "")
  return (
    <div className="flex flex-col gap-2 border-b border-line bg-panel px-4 py-2.5">
      <div className="flex flex-wrap items-start gap-2">
        <QueryBar
          resource="runs"
          label="Search runs"
          placeholder="A word, or status:failed cost:>0.5"
          value={filters.q}
          onChange={(q) => set({ q })}
          onValid={onValid}
          inputRef={searchRef}
        />
        <Select
          label="Status"
          value={status}
          options={[
            ["", "Any status"],
            ...(status === "several" ? [["several", "Several"] as const] : []),
            ...RunStatus.literals.map((word) => [word, runStatusLabel(word).word] as const)
          ]}
          onChange={(word) => {
            if (word !== "several") set({ q: withValues(filters.q, "status", word === "" ? [] : [word]) })
          }}
        />
        <Select label="Order" value={filters.sort} options={ordersWith(filters)} onChange={(sort) => set({ sort })} />
        <span className="ml-auto flex gap-1">
          <Toggle
            label="Facets"
            pressed={filters.facets}
            onClick={() => set({ facets: !filters.facets })}
            icon={<ListFilter size={15} aria-hidden />}
          />
          <Toggle
            label="Include archived runs"
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
            pressed={filters.columns.length > 0}
            onClick={() => setOpen("columns")}
            icon={<Columns3 size={15} aria-hidden />}
          />
          <Toggle
            label="Export the list"
            pressed={false}
            onClick={() => setOpen("export")}
            icon={<Download size={15} aria-hidden />}
          />
        </span>
      </div>
      <div className="flex items-center gap-1 max-md:overflow-x-auto max-md:*:shrink-0 md:flex-wrap">
        <Views filters={filters} set={set} />
        {filters.environment === "" ? null : (
          <Remove label={`environment ${filters.environment}`} onClick={() => set({ environment: "" })} />
        )}
        {filters.search === "" ? null : <Remove label={filters.search} onClick={() => set({ search: "" })} />}
        {filters.scenario === "" ? null : (
          <Remove label={`scenario ${filters.scenario}`} onClick={() => set({ scenario: "" })} />
        )}
        {filters.status === "any" ? null : (
          <Remove label={`status ${filters.status}`} onClick={() => set({ status: "any" })} />
        )}
        {filters.tags.map((tag) => (
          <Remove
            key={tag}
            label={`tag ${tag}`}
            onClick={() => set({ tags: filters.tags.filter((other) => other !== tag) })}
          />
        ))}
        {isFiltered(filters) ? (
          <button type="button" className="ml-1 text-[12px] text-accent underline" onClick={() => set(NOTHING)}>
            Clear filters
          </button>
        ) : null}
      </div>
      <Suspense fallback={null}>
        {filters.facets ? <Facets filters={filters} set={set} /> : null}
        {open === "columns" ? (
          <ColumnsDialog
            chosen={filters.columns}
            onChange={(columns) => set({ columns })}
            onClose={() => setOpen(undefined)}
          />
        ) : open === "export" ? (
          <ExportDialog filters={filters} total={total} onClose={() => setOpen(undefined)} />
        ) : null}
      </Suspense>
    </div>
  )
}

const Remove = ({ label, onClick }: { readonly label: string; readonly onClick: () => void }) => (
  <button
    type="button"
    className="inline-flex h-6 items-center gap-1 rounded-full bg-calm-soft px-2 text-[12px] text-calm"
    onClick={onClick}
    aria-label={`Without ${label}`}
  >
    {label} <X size={12} aria-hidden />
  </button>
)

interface ToggleProps {
  readonly label: string
  readonly pressed: boolean
  readonly onClick: () => void
  readonly icon: ReactNode
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
