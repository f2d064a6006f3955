import type { RunListQuery } from "@runplane/api"
import { RunStatus } from "@runplane/domain"
import { flagParam, listParam, textParam, type ValuesOf, wordParam } from "../../view/UrlState.ts"

const SORTS = {
  newest: ["createdAt", "desc"],
  oldest: ["createdAt", "asc"],
  updated: ["updatedAt", "desc"],
  slowest: ["duration", "desc"],
  dearest: ["cost", "desc"],
  tokens: ["tokens", "desc"],
  longest: ["events", "desc"]
} as const satisfies Readonly<Record<string, readonly [RunListQuery["sortBy"], RunListQuery["sortOrder"]]>>

/** The state of the runs page, all of it in its address. */
export const runParams = {
  search: textParam,
  /** A search in the language of the list (docs/reference/http.md#query); bar, facets and views edit it. */
  q: textParam,
  status: wordParam(["any", ...RunStatus.literals]),
  scenario: textParam,
  environment: textParam,
  tags: listParam,
  window: wordParam(["", "1h", "6h", "24h", "7d", "30d"]),
  archived: flagParam,
  sort: wordParam(["newest", "oldest", "updated", "slowest", "dearest", "tokens", "longest"]),
  /** The columns in their order; the usual ones when there is none. */
  columns: listParam,
  density: wordParam(["comfortable", "compact"]),
  /** The run that is looked at beside the list. */
  peek: textParam
}
export type RunFilters = ValuesOf<typeof runParams>
export type SetRunFilters = (patch: Partial<RunFilters>, how?: { readonly push?: boolean }) => void

const HOUR = 3_600_000
const spans: Readonly<Record<RunFilters["window"], number | undefined>> = {
  "": undefined,
  "1h": HOUR,
  "6h": 6 * HOUR,
  "24h": 24 * HOUR,
  "7d": 7 * 24 * HOUR,
  "30d": 30 * 24 * HOUR
}

/** Whether anything but the looks of the list was chosen. */
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
 * The query of a page. `anchor` is the time up to which the list reaches: rows keep their places, and what came after
 * it is counted apart.
 */
export const listQuery = (filters: RunFilters, anchor: Date, cursor: string): RunListQuery => {
  const [sortBy, sortOrder] = SORTS[filters.sort]
  return {
    ...conditions(filters),
    ...createdWithin(filters, anchor),
    createdBefore: anchor.toISOString(),
    limit: PAGE_SIZE,
    offset: 0,
    sortBy,
    sortOrder,
    include: "participants",
    ...(cursor !== "" && { cursor })
  }
}

/** How many came after the anchor: the query of one of them, whose answer has the total. */
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

const createdWithin = ({ window }: RunFilters, anchor: Date): Window => {
  const span = spans[window]
  return span === undefined ? {} : { createdAfter: new Date(anchor.getTime() - span).toISOString() }
}

/** An order as saved views have it: `cost desc`. */
export const sortText = (sort: RunFilters["sort"]) => {
  const [key, order] = SORTS[sort]
  return `${key} ${order}` as const
}

/** The order of a saved view; the newest first where it names none that the page knows. */
export const sortOfText = (text: string | undefined): RunFilters["sort"] => {
  const found = runParams.sort.read(null)
  const names = ["newest", "oldest", "updated", "slowest", "dearest", "tokens", "longest"] as const
  return names.find((name) => sortText(name) === text) ?? found
}
