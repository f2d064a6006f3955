import { MAX_SEARCHED_POLICIES } from "@runplane/api"
import { useState } from "react"
import { UserText } from "../../ui/basics.tsx"
import { Failure } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { canDecideByVotes } from "../../view/committee/Committee.ts"

interface OtherPoliciesProps {
  readonly chosen: ReadonlyArray<string>
  readonly onChange: (policies: ReadonlyArray<string>) => void
}

/** Registered policies under which a smaller committee is tried, too. */
export const OtherPolicies = ({ chosen, onChange }: OtherPoliciesProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="border-b border-line px-3 py-2" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer text-soft">
        Other policies{chosen.length === 0 ? "" : `: ${chosen.length} of at most ${MAX_SEARCHED_POLICIES}`}
      </summary>
      {isOpen ? <Choices chosen={chosen} onChange={onChange} /> : null}
    </details>
  )
}

const Choices = ({ chosen, onChange }: OtherPoliciesProps) => {
  const policies = useRead(["policies"], (api) => api.policies.list({ query: {} }))
  if (policies.data === undefined) {
    return policies.isError ? (
      <Failure what="The policies were not read" error={policies.error} retry={() => void policies.refetch()} />
    ) : (
      <p className="pt-2 text-muted">Reading the policies</p>
    )
  }
  const fitting = policies.data.filter(({ mode }) => canDecideByVotes(mode))
  return (
    <fieldset className="grid gap-x-4 gap-y-1 pt-2 sm:grid-cols-2 xl:grid-cols-3">
      <legend className="sr-only">Policies that are tried beside the own one of each run</legend>
      {fitting.length === 0 ? <p className="text-muted">No registered policy is for a mode with votes.</p> : null}
      {fitting.map(({ policyId }) => {
        const isChosen = chosen.includes(policyId)
        return (
          <label key={policyId} className="flex min-h-6 items-center gap-2">
            <input
              type="checkbox"
              checked={isChosen}
              disabled={!isChosen && chosen.length >= MAX_SEARCHED_POLICIES}
              onChange={() => onChange(isChosen ? chosen.filter((one) => one !== policyId) : [...chosen, policyId])}
            />
            <UserText text={policyId} className="wrap-anywhere" />
          </label>
        )
      })}
    </fieldset>
  )
}
