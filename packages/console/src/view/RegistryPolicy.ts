import type { PolicyDescriptor } from "@runplane/api"
import { PINNED_RELEASE, parsePolicyRules, type StandardMode } from "@runplane/domain"
import * as Result from "effect/Result"
import { modeLabel } from "./Format.ts"
import { policyWords, type RuleWords } from "./PolicyWords.ts"

const STANDARD_MODES: ReadonlyArray<StandardMode> = ["decision", "proposal", "task", "handoff", "quorum"]

/** The rules of a policy of the registry in words; none for a mode that this console has no words for. */
export const rulesInWords = ({ mode, rules, schemaVersion }: PolicyDescriptor): ReadonlyArray<RuleWords> => {
  const standard = STANDARD_MODES.find((name) => name === (mode === "*" ? "decision" : modeLabel(mode)))
  if (standard === undefined) return []
  const parsed = parsePolicyRules(JSON.stringify(rules), schemaVersion, PINNED_RELEASE)
  return Result.isSuccess(parsed) ? policyWords(standard, parsed.success) : []
}
