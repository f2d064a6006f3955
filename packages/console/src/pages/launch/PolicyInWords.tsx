import type { PolicyDescriptor } from "@runplane/api"
import { Reasons } from "../../ui/kit.tsx"
import { rulesInWords } from "../../view/policies/RegistryPolicy.ts"

/** The rules of a policy for sessions of a mode. */
export default function PolicyInWords({
  modeName,
  policy
}: {
  readonly policy: PolicyDescriptor
  readonly modeName: string
}) {
  const rules = rulesInWords({ ...policy, mode: modeName })
  if (rules.length === 0) return <p className="text-muted">The console cannot describe the rules of this mode.</p>
  return <Reasons texts={rules.map(({ text }) => text)} className="" />
}
