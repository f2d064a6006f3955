import type { CanonicalEvent } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import { isShortened } from "./EventSize.ts"

/** Loads the code that reads dropped events, which is rarely used. */
export const loadReader = () => import("./readEvents.ts")

/** Whole events are cached for a short time, because each may be large. */
const CACHED_MS = 5_000

/** The whole event at a `seq`; until it is read, the shortened one in memory. */
export const useWhole = (
  runId: string,
  seq: number | undefined,
  inMemory: CanonicalEvent | undefined
): { readonly event: CanonicalEvent | undefined; readonly error: Error | null; readonly retry: () => void } => {
  const isWanted = seq !== undefined && (inMemory === undefined || isShortened(inMemory))
  const { data, error, refetch } = useQuery({
    queryKey: ["event", runId, seq],
    enabled: isWanted,
    gcTime: CACHED_MS,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await loadReader()).readEvent(runId, seq ?? 0, signal)
  })
  return {
    event: isWanted ? (data ?? inMemory) : inMemory,
    error: isWanted ? error : null,
    retry: () => void refetch()
  }
}
