import type { ControlPlaneCalls } from "@runplane/api"
import { type Query, type QueryKey, type UseQueryResult, useQuery } from "@tanstack/react-query"
import type * as Effect from "effect/Effect"
import { call } from "../client/Client.ts"
import { isPassing, problemOf } from "../client/Problem.ts"
import { isFailing } from "../view/live/Freshness.ts"

/** Longest time between two attempts while the service is away, milliseconds. */
const AWAY_MS = 10_000

interface ReadOptions {
  /** Poll interval, milliseconds; without it the read is repeated only while the service is away. */
  readonly everyMs?: number
  /** Not read while false. */
  readonly enabled?: boolean
}

/** Whether the data of a read could not be refreshed. */
export const isOld = ({ failureCount, isError }: Pick<UseQueryResult, "failureCount" | "isError">): boolean =>
  isError || isFailing(failureCount)

/** A read of the control plane, repeated from time to time; the previous answer stays until the next one. */
export const useRead = <A>(
  key: QueryKey,
  make: (api: ControlPlaneCalls) => Effect.Effect<A, unknown>,
  { enabled = true, everyMs }: ReadOptions = {}
): UseQueryResult<A> =>
  useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call(make, signal),
    enabled,
    ...(everyMs !== undefined && {
      // While the service is away it is tried more often than a slow poll would.
      refetchInterval: ({ state: { error } }: Query<A>) =>
        error !== null && isPassing(problemOf(error, "")) ? Math.min(everyMs, AWAY_MS) : everyMs
    }),
    placeholderData: (before) => before
  })
