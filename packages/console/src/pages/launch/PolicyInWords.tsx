import type { PolicyDescriptor } from "@runplane/api"
import { PINNED_RELEASE, readPolicy, type StandardMode } from "@runplane/domain"
import * as Result from "effect/Result"
import { useMemo } from "react"
import { Said } from "../../ui/basics.tsx"
import { modeLabel } from "../../view/Format.ts"
import { policyWords } from "../../view/PolicyWords.ts"

interface PolicyInWordsProps {
  readonly policy: PolicyDescriptor
  readonly modeName: string
}

const MODES: ReadonlyArray<StandardMode> = ["decision", "proposal", "task", "handoff", "quorum"]

/** The rules under which a session will be decided. */
export default function PolicyInWords({ modeName, policy }: PolicyInWordsProps) {
  const { mode: governed, policyId, rules, schemaVersion } = policy
  const read = useMemo(
    () => readPolicy({ policyId, mode: governed, schemaVersion, rules: JSON.stringify(rules) }, PINNED_RELEASE),
    [policyId, governed, schemaVersion, rules]
  )
  const mode = MODES.find((one) => one === modeLabel(modeName))
  if (mode === undefined || Result.isFailure(read)) {
    return <p className="text-muted">{mode === undefined ? "The mode has no rules of its own." : "Cannot be read."}</p>
  }
  return (
    <ul className="list-disc pl-5 text-soft">
      {policyWords(mode, read.success.rules).map(({ rule, text }) => (
        <li key={rule}>
          <Said text={text} />
        </li>
      ))}
    </ul>
  )
}
