import { type CanonicalEvent, type DecisionCard, decisionCard, forecast, why } from "@runplane/domain"
import { useMemo } from "react"
import { useActivePolicy } from "../decision/useActivePolicy.ts"

/** The card of the events up to now, by the same code as the service. */
export const useCardOf = (events: ReadonlyArray<CanonicalEvent>) => {
  const { by, run } = useActivePolicy(events)
  const answer = useMemo(() => why(run, by), [run, by])
  const card = useMemo((): DecisionCard => {
    const ahead = answer.outcome === null ? forecast(run, by) : undefined
    return decisionCard(run, by, { why: answer, forecast: ahead })
  }, [run, by, answer])
  return { run, by, answer, card }
}
