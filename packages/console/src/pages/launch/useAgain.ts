import type { CanonicalEvent } from "@runplane/domain"
import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { callRuns } from "../../client/Client.ts"
import { type Origin, originOf } from "../../view/launch/Again.ts"

/** A run that is to be launched once more. */
export interface Again {
  readonly runId: string
  /** Undefined for a run that no launch service made. */
  readonly origin: Origin | undefined
  /** Its first events, which contain the initiator's context of the session. */
  readonly events: ReadonlyArray<CanonicalEvent>
}

/** The context is among the first messages of a session. */
const FIRST_EVENTS = 200

export const useAgain = (runId: string): UseQueryResult<Again> =>
  useQuery({
    queryKey: ["again", runId],
    enabled: runId !== "",
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Again> => {
      const params = { id: runId }
      const run = await callRuns((api) => api.runs.get({ params, query: {} }), signal)
      const query = { afterSeq: 0, limit: FIRST_EVENTS }
      const answer = await callRuns((api) => api.events.list({ params, query }), signal)
      return { runId: run.id, origin: originOf(run.metadata), events: "data" in answer ? answer.data : answer }
    }
  })
