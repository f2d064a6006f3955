import type { Run } from "@runplane/api"
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query"
import { useCallback, useMemo, useState } from "react"
import { callRuns } from "../../client/Client.ts"
import { MARKS_OF_ME, marksKey } from "../../ui/marks/useMarks.ts"
import { useRead } from "../../ui/useRead.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { queueSearch } from "../../view/review/Review.ts"

const PAGE = 100
/** Marks of the caller that are read: the newest ones of the name. */
const MOST_MARKS = 500

interface Queue {
  readonly runs: ReadonlyArray<Run>
  readonly total: number | undefined
  /** Whether the runs and the caller's marks are read. */
  readonly isReady: boolean
  readonly error: Error | null
  /** Runs with a mark of the caller, as the service knows them. */
  readonly reviewed: ReadonlyArray<string>
  /** Reads further runs; undefined when there are none, or while they are read. */
  readonly more: (() => void) | undefined
  /** Reads the queue from its start. */
  readonly again: () => void
  /** Reads the marks of a run again. */
  readonly renew: (runId: string) => Promise<unknown>
}

/**
 * The runs of a search, read once: a run stays in the queue when its mark makes the search leave it out. The queue ends
 * at the time when it was read.
 */
export const useQueue = (wanted: string, name: string, me: string | undefined): Queue => {
  const queries = useQueryClient()
  const q = queueSearch(wanted, name)
  const [anchor, setAnchor] = useState(() => new Date().toISOString())
  const list = useInfiniteQuery({
    queryKey: ["review", q, anchor],
    queryFn: ({ pageParam, signal }) =>
      callRuns(
        (api) =>
          api.runs.list({
            query: {
              limit: PAGE,
              offset: 0,
              sortBy: "createdAt",
              sortOrder: "desc",
              includeArchived: false,
              createdBefore: anchor,
              ...(q !== "" && { q }),
              ...(pageParam !== "" && { cursor: pageParam })
            }
          }),
        signal
      ),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false
  })
  const runs = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const own = useRead(
    [...MARKS_OF_ME, name, me],
    (api) =>
      api.markReports.list({
        query: { q: `name:${name} source:human author:${queryValue(me ?? "")}`, limit: MOST_MARKS, offset: 0 }
      }),
    { enabled: me !== undefined }
  )
  const reviewed = useMemo(() => [...new Set(own.data?.data.map(({ runId }) => runId))], [own.data])
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list
  const more = useMemo(
    () => (hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined),
    [hasNextPage, isFetchingNextPage, fetchNextPage]
  )
  return {
    runs,
    total: list.data?.pages[0]?.total,
    isReady: list.isSuccess && !own.isPending,
    error: list.data === undefined ? list.error : null,
    reviewed,
    more,
    again: () => setAnchor(new Date().toISOString()),
    renew: useCallback((runId: string) => queries.invalidateQueries({ queryKey: marksKey(runId) }), [queries])
  }
}
