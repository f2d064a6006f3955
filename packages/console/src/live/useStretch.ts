import { useQuery } from "@tanstack/react-query"
import type { RunLog } from "./RunLog.ts"
import { loadReader } from "./useWhole.ts"

const CACHED_MS = 60_000
/** Events of a part. */
const LENGTH = 1_000

/** The part of a long run around an index whose events the browser has dropped; undefined while it has them. */
export const useStretch = (runId: string, log: RunLog | undefined, at: number | undefined) => {
  const isWanted = log !== undefined && at !== undefined && at <= log.start
  /** Events before the part. */
  const first = isWanted ? at - 1 - ((at - 1) % LENGTH) : undefined
  const { data, error, refetch } = useQuery({
    queryKey: ["stretch", runId, first],
    enabled: isWanted,
    gcTime: CACHED_MS,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { readStretch } = await loadReader()
      const index = first ?? 0
      return readStretch(runId, { index, seq: log?.digest.seqs[index - 1] ?? 0, length: LENGTH }, signal)
    }
  })
  return { isWanted, log: data, error: isWanted ? error : null, refetch }
}
