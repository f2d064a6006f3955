import type { PolicyDescriptor } from "@runplane/api"
import { PINNED_RELEASE, parsePolicyRules, standardMode } from "@runplane/domain"
import * as Result from "effect/Result"
import { policyWords, type RuleWords } from "./PolicyWords.ts"

/** The rules of a policy of the registry in words; none for a mode that this console has no words for. */
export const rulesInWords = ({ mode, rules, schemaVersion }: PolicyDescriptor): ReadonlyArray<RuleWords> => {
  const standard = mode === "*" ? "decision" : standardMode(mode)
  if (standard === undefined) return []
  const parsed = parsePolicyRules(JSON.stringify(rules), schemaVersion, PINNED_RELEASE)
  return Result.isSuccess(parsed) ? policyWords(standard, parsed.success) : []
}
