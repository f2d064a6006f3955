import { useQuery } from "@tanstack/react-query"
import { call } from "../../../client/Client.ts"
import { isOffline } from "../../../client/Offline.ts"
import type { RunPageState } from "../RunParams.ts"

interface OtherPolicySelectProps {
  readonly modeName: string
  /** The chosen policy; empty for the one of the run. */
  readonly policy: string
  readonly current: string
  readonly set: (patch: Partial<Pick<RunPageState, "event" | "policy" | "votes">>) => void
}

/** The policies of the registry that fit the mode, to be tried in place of the run's. */
export const OtherPolicySelect = ({ current, modeName, policy, set }: OtherPolicySelectProps) => {
  const policies = useQuery({
    queryKey: ["policies", modeName],
    enabled: !isOffline,
    queryFn: ({ signal }) => call((api) => api.policies.list({ query: {} }), signal),
    staleTime: 60_000
  })
  const fitting = (policies.data ?? []).filter(
    ({ mode, policyId }) => (mode === "*" || mode === modeName) && policyId !== current
  )
  if (isOffline) return null
  if (policies.isError) return <span className="text-warn">The other policies cannot be read.</span>
  if (fitting.length === 0) return null
  return (
    <label className="flex min-w-0 items-center gap-2">
      <span>Try another policy</span>
      <select
        className="field min-w-0 max-w-[260px]"
        value={fitting.some(({ policyId }) => policyId === policy) ? policy : ""}
        onChange={({ target }) => set({ policy: target.value })}
      >
        <option value="">{current || "policy of the run"} (in force)</option>
        {fitting.map(({ policyId }) => (
          <option key={policyId} value={policyId}>
            {policyId}
          </option>
        ))}
      </select>
    </label>
  )
}
