import type { RunListQuery } from "@runplane/api"
import { RunStatus } from "@runplane/domain"
import { markNameOf } from "../../view/RunMarks.ts"
import { scopeParams, spanMs } from "../../view/Scope.ts"
import { flagParam, listParam, type Param, textParam, type ValuesOf, wordParam } from "../../view/UrlState.ts"

const SORT_NAMES = ["newest", "oldest", "updated", "slowest", "dearest", "tokens", "longest"] as const
const SORTS = {
  newest: ["createdAt", "desc"],
  oldest: ["createdAt", "asc"],
  updated: ["updatedAt", "desc"],
  slowest: ["duration", "desc"],
  dearest: ["cost", "desc"],
  tokens: ["tokens", "desc"],
  longest: ["events", "desc"]
} as const satisfies Readonly<Record<string, readonly [RunListQuery["sortBy"], RunListQuery["sortOrder"]]>>

type SortName = (typeof SORT_NAMES)[number]
/** Runs by a mark, as saved views have it: `mark.quality desc`. */
export type MarkOrder = `mark.${string} ${"asc" | "desc"}`

const isMarkOrder = (text: string): text is MarkOrder => /^mark\.[A-Za-z][A-Za-z0-9_-]{0,63} (asc|desc)$/.test(text)

const sortWords = wordParam(SORT_NAMES)
const sortParam: Param<SortName | MarkOrder> = {
  read: (text) => (text !== null && isMarkOrder(text) ? text : sortWords.read(text)),
  write: (sort) => (isMarkOrder(sort) ? sort : sortWords.write(sort))
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
  /** The run that is shown beside the list. */
  peek: textParam
}
export type RunFilters = ValuesOf<typeof runParams>
export type SetRunFilters = (patch: Partial<RunFilters>, how?: { readonly push?: boolean }) => void

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
  return {
    ...conditions(filters),
    ...createdWithin(filters, anchor),
    createdBefore: anchor.toISOString(),
    limit: PAGE_SIZE,
    offset: 0,
    ...orderOf(filters.sort),
    include: "participants",
    ...(cursor !== "" && { cursor })
  }
}

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

const orderOf = (sort: RunFilters["sort"]): Pick<RunListQuery, "sortBy" | "sortOrder"> => {
  if (!isMarkOrder(sort)) return { sortBy: SORTS[sort][0], sortOrder: SORTS[sort][1] }
  const name = markOf(sort)
  return { sortBy: `mark.${name}`, sortOrder: sort.endsWith(" asc") ? "asc" : "desc" }
}

/** The name in an order by a mark. */
const markOf = (sort: MarkOrder): string => sort.slice("mark.".length, sort.lastIndexOf(" "))

/** The orders by the marks that are columns, and by the mark that the list is sorted by. */
export const markOrders = ({
  columns,
  sort
}: Pick<RunFilters, "columns" | "sort">): ReadonlyArray<readonly [MarkOrder, string]> => {
  const names = new Set(columns.flatMap((id) => markNameOf(id) ?? []))
  if (isMarkOrder(sort)) names.add(markOf(sort))
  return [...names].flatMap((name) => [
    [`mark.${name} desc`, `Mark ${name}, descending`] as const,
    [`mark.${name} asc`, `Mark ${name}, ascending`] as const
  ])
}

/** An order as saved views have it: `cost desc`. */
export const sortText = (sort: RunFilters["sort"]) => {
  if (isMarkOrder(sort)) return sort
  const [key, order] = SORTS[sort]
  return `${key} ${order}` as const
}

/** The order of a saved view; the newest first where it names none that the page knows. */
export const sortOfText = (text = ""): RunFilters["sort"] =>
  isMarkOrder(text) ? text : (SORT_NAMES.find((name) => sortText(name) === text) ?? SORT_NAMES[0])
