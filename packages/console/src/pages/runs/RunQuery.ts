import type { RunListQuery } from "@runplane/api"
import { RunStatus } from "@runplane/domain"
import { flagParam, listParam, textParam, type ValuesOf, wordParam } from "../../view/UrlState.ts"

/** The state of the runs page, all of it in its address. */
export const runParams = {
  search: textParam,
  /** A search in the language of the list (docs/http.md#query). */
  q: textParam,
  status: wordParam(["any", ...RunStatus.literals]),
  scenario: textParam,
  environment: textParam,
  tags: listParam,
  since: wordParam(["any", "1h", "24h", "7d", "30d"]),
  archived: flagParam,
  sort: wordParam(["newest", "oldest", "updated"]),
  hide: listParam,
  density: wordParam(["comfortable", "compact"])
}
export type RunFilters = ValuesOf<typeof runParams>

const HOUR = 3_600_000
const spans: Readonly<Record<RunFilters["since"], number | undefined>> = {
  any: undefined,
  "1h": HOUR,
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
  filters.since !== "any"

/** Runs a page holds. */
export const PAGE_SIZE = 100

type Window = Pick<RunListQuery, "createdAfter" | "createdBefore">

/**
 * The query of a page. `anchor` is the time up to which the list reaches: rows keep their places, and what came after
 * it is counted apart.
 */
export const listQuery = (filters: RunFilters, anchor: Date, offset: number): RunListQuery => ({
  ...conditions(filters),
  ...createdWithin(filters, anchor),
  createdBefore: anchor.toISOString(),
  limit: PAGE_SIZE,
  offset,
  sortBy: filters.sort === "updated" ? "updatedAt" : "createdAt",
  sortOrder: filters.sort === "oldest" ? "asc" : "desc"
})

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

const createdWithin = ({ since }: RunFilters, anchor: Date): Window => {
  const span = spans[since]
  return span === undefined ? {} : { createdAfter: new Date(anchor.getTime() - span).toISOString() }
}
