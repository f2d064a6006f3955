import type { ControlPlaneCalls } from "@runplane/api"
import { type QueryKey, type UseQueryResult, useQuery } from "@tanstack/react-query"
import type * as Effect from "effect/Effect"
import { call } from "../client/Client.ts"
import { isFailing } from "../view/Freshness.ts"

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
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    placeholderData: (before) => before
  })
