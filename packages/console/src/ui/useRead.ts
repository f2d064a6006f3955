import type { ControlPlaneCalls } from "@runplane/api"
import { type QueryKey, type UseQueryResult, useQuery } from "@tanstack/react-query"
import type * as Effect from "effect/Effect"
import { call } from "../client/Client.ts"

interface ReadOptions {
  /** Asked again this often, milliseconds; without it only while the service is away. */
  readonly everyMs?: number
  /** Not asked while false. */
  readonly enabled?: boolean
}

/** Something that the control plane knows, read again from time to time; what was there stays until the next answer. */
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
