import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useEffect, useMemo, useRef, useState } from "react"
import { callRuns } from "../../client/Client.ts"
import { serviceNow } from "../../view/live/ServerClock.ts"
import { listQuery, newerQuery, type RunFilters } from "./RunQuery.ts"

/** How often the rows are read again: less often when much has been paged in. */
const REFRESH_MS = 5_000
const REFRESH_MANY_MS = 30_000
const FEW_PAGES = 2

/**
 * The runs that match the filters up to a time, page by page, and the number of newer ones. `isOther`: the rows are the
 * answer to other filters, until that to the current ones is read.
 */
export const useRuns = (shown: RunFilters) => {
  // Changes of the layout do not read the list again.
  const filters = useMemo(
    (): RunFilters => ({ ...shown, columns: [], density: "comfortable", facets: false, peek: "" }),
    [JSON.stringify({ ...shown, columns: [], density: "", facets: false, peek: "" })]
  )
  const [anchor, setAnchor] = useState(() => new Date())
  const list = useInfiniteQuery({
    queryKey: ["runs", filters, anchor],
    queryFn: ({ pageParam, signal }) =>
      callRuns((api) => api.runs.list({ query: listQuery(filters, anchor, pageParam) }), signal),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= FEW_PAGES ? REFRESH_MS : REFRESH_MANY_MS)
  })
  const newer = useQuery({
    queryKey: ["newer runs", filters, anchor],
    queryFn: ({ signal }) => callRuns((api) => api.runs.list({ query: newerQuery(filters, anchor) }), signal),
    refetchInterval: REFRESH_MS
  })
  const runs = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const waiting = newer.data?.total ?? 0
  const showNewer = () => {
    const newest = newer.data?.data[0]?.createdAt
    // The clock of the service counts, should that of the browser be behind.
    setAnchor(new Date(Math.max(serviceNow(), newest === undefined ? 0 : Date.parse(newest) + 1)))
  }
  // In an empty list there is nothing that could jump.
  const shouldShow = runs.length === 0 && waiting > 0 && list.isSuccess
  useEffect(() => {
    if (shouldShow) showNewer()
  })
  const answered = useRef(filters)
  if (list.isSuccess && !list.isPlaceholderData) answered.current = filters
  return {
    anchor,
    search: filters,
    isOther: list.isPlaceholderData && answered.current !== filters,
    list,
    runs,
    total: list.data?.pages.at(-1)?.total,
    waiting,
    showNewer
  }
}
