import { type CanonicalEvent, isTerminal, reasonedCard } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { call, callFor } from "../../../client/Client.ts"
import { OFTEN_MS } from "../../../view/live/Polls.ts"
import { useActivePolicy } from "../decision/useActivePolicy.ts"
import type { ShownRun } from "../useShown.ts"

/** The card of these events, by the same code as the service. */
export const useCardOf = (events: ReadonlyArray<CanonicalEvent>) => {
  const { by, run } = useActivePolicy(events)
  return { run, by, ...useMemo(() => reasonedCard(run, by), [run, by]) }
}

/** The card of a run now, and its reasons, by the service: for a run of which not all events are loaded. */
export const useServedCard = ({ run, state }: ShownRun) => {
  const isOver = isTerminal(run.status)
  // A receipt arrives after the end.
  const key = [run.id, run.status, isOver ? state.timeline.latestIndex : 0]
  const refetchInterval = isOver ? (false as const) : OFTEN_MS
  const card = useQuery({
    queryKey: ["card", ...key],
    refetchInterval,
    queryFn: ({ signal }) => call((api) => api.decisions.card({ params: { id: run.id }, query: {} }), signal)
  })
  const why = useQuery({
    queryKey: ["why", ...key],
    refetchInterval,
    queryFn: ({ signal }) => callFor("application/json", (api) => api.decisions.why({ params: { id: run.id } }), signal)
  })
  return { card, why }
}
