import type { Run, TraceSpan } from "@runplane/api"
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { call } from "../../../client/Client.ts"
import { SOON_MS } from "../../../view/live/Polls.ts"

interface Received {
  readonly spans: ReadonlyArray<TraceSpan>
  readonly cursor: number
}

const PAGE = 5_000

/**
 * The spans that were received for a run. They only become more, so a refresh reads the new ones: while the run is open
 * every two seconds, later when events arrive. The archive has none.
 */
export const useReceivedSpans = (
  { id: runId, lastEventIndex: events, storage }: Run,
  isLive: boolean
): UseQueryResult<Received> => {
  const isStored = storage !== "archive"
  const client = useQueryClient()
  const queryKey = ["spans", runId]
  const read = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Received> => {
      const before = client.getQueryData<Received>(queryKey)
      const added: Array<TraceSpan> = []
      let after = before?.cursor ?? 0
      for (let hasMore = true; hasMore; ) {
        const query = { after, limit: PAGE }
        const page = await call((api) => api.traces.spans({ params: { id: runId }, query }), signal)
        added.push(...page.data)
        after = page.nextCursor
        hasMore = page.hasMore
      }
      return before !== undefined && added.length === 0
        ? before
        : { spans: [...(before?.spans ?? []), ...added], cursor: after }
    },
    enabled: isStored,
    refetchInterval: isLive ? SOON_MS : false
  })
  const { refetch } = read
  useEffect(() => {
    if (isStored && !isLive && events > 0) void refetch()
  }, [isStored, isLive, events, refetch])
  return read
}
