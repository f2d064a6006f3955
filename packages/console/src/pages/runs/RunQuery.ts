import type { FacetField, RunFacetsQuery, RunListQuery } from "@runplane/api"
import { RunStatus } from "@runplane/domain"
import { markNameOf } from "../../view/marks/MarkColumns.ts"
import { scopeParams, spanMs } from "../../view/query/Scope.ts"
import { flagParam, listParam, type Param, textParam, type ValuesOf, wordParam } from "../../view/query/UrlState.ts"

const SORT_NAMES = [
  "newest",
  "oldest",
  "updated",
  "stalest",
  "slowest",
  "fastest",
  "dearest",
  "cheapest",
  "tokens",
  "fewest-tokens",
  "longest",
  "shortest"
] as const
type SortName = (typeof SORT_NAMES)[number]
type SortOrder = RunListQuery["sortOrder"]

/** The order of the list: a name, or the latest marks of a name: `mark.quality desc`. */
export type RunOrder = SortName | `mark.${string} ${SortOrder}`

const SORTS = {
  newest: ["createdAt", "desc"],
  oldest: ["createdAt", "asc"],
  updated: ["updatedAt", "desc"],
  stalest: ["updatedAt", "asc"],
  slowest: ["duration", "desc"],
  fastest: ["duration", "asc"],
  dearest: ["cost", "desc"],
  cheapest: ["cost", "asc"],
  tokens: ["tokens", "desc"],
  "fewest-tokens": ["tokens", "asc"],
  longest: ["events", "desc"],
  shortest: ["events", "asc"]
} as const satisfies Readonly<Record<SortName, readonly [RunListQuery["sortBy"], SortOrder]>>

const MARK_ORDER = /^mark\.[A-Za-z][A-Za-z0-9_-]{0,63} (asc|desc)$/
const isMarkOrder = (text: string): text is `mark.${string} ${SortOrder}` => MARK_ORDER.test(text)

const sortParam: Param<RunOrder> = {
  read: (text) => SORT_NAMES.find((name) => name === text) ?? sortOfText(text ?? ""),
  write: (value) => (value === "newest" ? undefined : value)
}

/** The key and the direction of an order, as the service takes them. */
const keyOf = (sort: RunOrder): readonly [RunListQuery["sortBy"], SortOrder] => {
  if (!isMarkOrder(sort)) return SORTS[sort]
  const [name = "", order] = sort.split(" ")
  return [`mark.${name.slice("mark.".length)}`, order === "asc" ? "asc" : "desc"]
}

/** The order by a key; undefined when the list has none by it. */
const sortBy = (key: RunListQuery["sortBy"], order: SortOrder): RunOrder | undefined => {
  const marked = `${key} ${order}`
  return isMarkOrder(marked) ? marked : SORT_NAMES.find((name) => SORTS[name][0] === key && SORTS[name][1] === order)
}

/** The state of a header whose column sorts by a key, and the order that a click on it sets. */
export const headerSort = (sort: RunOrder, key: RunListQuery["sortBy"]) => {
  const [current, order] = keyOf(sort)
  const isOn = current === key
  return {
    state: isOn ? (order === "asc" ? "ascending" : "descending") : "none",
    next: sortBy(key, isOn && order === "desc" ? "asc" : "desc") ?? sort
  } as const
}

/** The state of the runs page, all of it in its address. */
export const runParams = {
  search: textParam,
  /** A search in the language of the list (docs/reference/search.md#query); bar, facets and views edit it. */
  q: textParam,
  status: wordParam(["any", ...RunStatus.literals]),
  scenario: textParam,
  environment: textParam,
  tags: listParam,
  window: scopeParams.window,
  archived: flagParam,
  sort: sortParam,
  /** The columns in their order; the usual ones when there is none. */
  columns: listParam,
  density: wordParam(["comfortable", "compact"]),
  /** Whether the counts of values are shown. */
  facets: flagParam,
  /** The run that is shown beside the list. */
  peek: textParam
}
export type RunFilters = ValuesOf<typeof runParams>
export type SetRunFilters = (patch: Partial<RunFilters>, how?: { readonly push?: boolean }) => void

/** The runs of a search at the time when its list was read. */
export interface MatchingRuns {
  readonly total: number
  readonly filters: RunFilters
  readonly anchor: Date
}

/** Whether a filter is set. */
export const isFiltered = (filters: RunFilters): boolean =>
  filters.search !== "" ||
  filters.q !== "" ||
  filters.status !== "any" ||
  filters.scenario !== "" ||
  filters.environment !== "" ||
  filters.tags.length > 0 ||
  filters.window !== ""

/** Runs a page holds. */
export const PAGE_SIZE = 100

type Window = Pick<RunListQuery, "createdAfter" | "createdBefore">

/**
 * The query of a page. The list ends at the time `anchor`, so rows keep their positions; newer runs are counted
 * separately.
 */
export const listQuery = (filters: RunFilters, anchor: Date, cursor: string): RunListQuery => {
  const [sortBy, sortOrder] = keyOf(filters.sort)
  return {
    ...conditions(filters),
    ...createdWithin(filters, anchor),
    createdBefore: anchor.toISOString(),
    limit: PAGE_SIZE,
    offset: 0,
    sortBy,
    sortOrder,
    include: ["participants", "decision"],
    ...(cursor !== "" && { cursor })
  }
}

/** The query that counts the values of fields in the runs of the list. */
export const facetsQuery = (
  filters: RunFilters,
  fields: ReadonlyArray<FacetField>,
  now: Date
): RunFacetsQuery & { readonly createdAfter?: string } => ({
  ...conditions(filters),
  ...createdWithin(filters, now),
  fields
})

/** The query that counts the runs after the anchor: one run, and the total. */
export const newerQuery = (filters: RunFilters, anchor: Date): RunListQuery => ({
  ...conditions(filters),
  // `createdAfter` leaves out its own instant, which the list does not have either.
  createdAfter: new Date(anchor.getTime() - 1).toISOString(),
  limit: 1,
  offset: 0,
  sortBy: "createdAt",
  sortOrder: "desc"
})

const conditions = (filters: RunFilters) => ({
  includeArchived: filters.archived,
  ...(filters.status !== "any" && { status: filters.status }),
  ...(filters.search !== "" && { search: filters.search }),
  ...(filters.q !== "" && { q: filters.q }),
  ...(filters.scenario !== "" && { scenarioRef: filters.scenario }),
  ...(filters.environment !== "" && { environment: filters.environment }),
  ...(filters.tags.length > 0 && { tags: filters.tags })
})

const createdWithin = ({ window }: RunFilters, anchor: Date): Window =>
  window === "" ? {} : { createdAfter: new Date(anchor.getTime() - spanMs[window]).toISOString() }

/** The orders by the marks that are columns, and by the mark that the list is sorted by. */
export const markOrders = ({
  columns,
  sort
}: Pick<RunFilters, "columns" | "sort">): ReadonlyArray<readonly [RunOrder, string]> => {
  const sorted = isMarkOrder(sort) ? sort.slice("mark.".length).split(" ", 1) : []
  const names = new Set([...columns.flatMap((id) => markNameOf(id) ?? []), ...sorted])
  return [...names].flatMap((name) => [
    [`mark.${name} desc`, `Mark ${name}, descending`] as const,
    [`mark.${name} asc`, `Mark ${name}, ascending`] as const
  ])
}

/** An order as saved views have it: `cost desc`. */
export const sortText = (sort: RunOrder) => {
  if (isMarkOrder(sort)) return sort
  const [key, order] = SORTS[sort]
  return `${key} ${order}` as const
}

/** The order of a saved view; the newest first where it names none that the page knows. */
export const sortOfText = (text = ""): RunOrder =>
  SORT_NAMES.find((name) => sortText(name) === text) ?? (isMarkOrder(text) ? text : SORT_NAMES[0])
