import {
  type ActivePolicy,
  activePolicy,
  type CanonicalEvent,
  type Deliberation,
  decisionRecord,
  type PolicyText
} from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { call } from "../../../client/Client.ts"

/** The policy of the registry, read only when the log does not hold its rules. */
const usePolicy = (policyId: string, isWanted: boolean): PolicyText | undefined =>
  useQuery({
    queryKey: ["policy", policyId],
    enabled: isWanted && policyId !== "",
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => call((api) => api.policies.get({ params: { policyId } }), signal),
    select: policyText
  }).data

/** A policy of the registry as the domain reads it. */
export const policyText = (policy: {
  readonly policyId: string
  readonly mode: string
  readonly schemaVersion: number
  readonly rules: object
}): PolicyText => ({
  policyId: policy.policyId,
  mode: policy.mode,
  schemaVersion: policy.schemaVersion,
  rules: JSON.stringify(policy.rules)
})

/** The record of the decision, and the policy that applies. */
export const useActivePolicy = (
  events: ReadonlyArray<CanonicalEvent>
): { readonly run: Deliberation; readonly by: ActivePolicy } => {
  const run = useMemo(() => decisionRecord(events), [events])
  const recorded = useMemo(() => activePolicy(run), [run])
  const policy = usePolicy(recorded.policyVersion, recorded.sessionRules === undefined)
  const by = useMemo(
    () =>
      recorded.sessionRules === undefined
        ? activePolicy(run, (id) => (policy?.policyId === id ? policy : undefined))
        : recorded,
    [run, recorded, policy]
  )
  return { run, by }
}
