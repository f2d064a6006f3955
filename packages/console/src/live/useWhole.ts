import type { CanonicalEvent } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import { isShortened } from "./EventSize.ts"

/** What reads again is loaded when something is to be read again, which is rare. */
export const loadReader = () => import("./readEvents.ts")

/** Whole events are not kept: each may be as large as the runtime lets through. */
const KEPT_MS = 5_000

/**
 * The event at a `seq` with everything that was recorded of it. What is `here` of it is shown until then, and for good
 * when it is whole.
 */
export const useWhole = (
  runId: string,
  seq: number | undefined,
  here: CanonicalEvent | undefined
): { readonly event: CanonicalEvent | undefined; readonly error: Error | null; readonly retry: () => void } => {
  const isWanted = seq !== undefined && (here === undefined || isShortened(here))
  const { data, error, refetch } = useQuery({
    queryKey: ["event", runId, seq],
    enabled: isWanted,
    gcTime: KEPT_MS,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await loadReader()).readEvent(runId, seq ?? 0, signal)
  })
  return { event: isWanted ? (data ?? here) : here, error: isWanted ? error : null, retry: () => void refetch() }
}
