import * as Result from "effect/Result"
import { isReadyToCommit, policyThreshold, refuseCommitment } from "../policies/Evaluation.ts"
import { DEFAULT_POLICY, DEFAULT_POLICY_ID, type PolicyText, readPolicy } from "../policies/Policy.ts"
import { policyFitsMode } from "../policies/PolicyMode.ts"
import { PINNED_RELEASE, RELEASES, type Release } from "../policies/Release.ts"
import type { RuleRefusal, SessionRecord, SessionTerms } from "../policies/SessionRecord.ts"
import { ruleModeName, type StandardMode } from "./Act.ts"
import type { Deliberation } from "./Deliberation.ts"

/** Where the rules come from: the run's own log, the registry as it is now, or nowhere. */
export type PolicySource = "recorded" | "registry" | "unknown"

/** What a run is evaluated against, or why it cannot be. */
export interface ActivePolicy {
  readonly policySource: PolicySource
  readonly policyVersion: string
  readonly sessionRules: SessionRules | undefined
  /** Why `sessionRules` is absent, in words. */
  readonly fault: string | undefined
}

export interface SessionRules {
  readonly mode: StandardMode
  readonly terms: SessionTerms
}

/** Looks up a policy of the registry by its id. */
export type Registry = (policyId: string) => PolicyText | undefined

/** The policy that governed a run: as recorded, else as the registry has it by the same id. */
export const activePolicy = (
  run: Deliberation,
  registry: Registry = () => undefined,
  read = readPolicy
): ActivePolicy => {
  const { descriptor, policyVersion } = run
  if (descriptor !== undefined) return bind(run, descriptor, "recorded", read)
  if (policyVersion === undefined) {
    const fault = "no event names the policy of the session"
    return { policySource: "unknown", policyVersion: "", sessionRules: undefined, fault }
  }
  // Every registry has the default policy, and none can replace it.
  if (policyVersion === DEFAULT_POLICY_ID) return withTerms(run, DEFAULT_POLICY, "registry")
  const registered = registry(policyVersion)
  if (registered !== undefined) return bind(run, registered, "registry", read)
  const fault = `the rules of ${policyVersion} were not recorded, and the registry does not have them`
  return { policySource: "unknown", policyVersion, sessionRules: undefined, fault }
}

/** A run under another policy than the one that governed it. */
export const underPolicy = (run: Deliberation, policy: PolicyText, read = readPolicy): ActivePolicy =>
  bind(run, policy, "registry", read)

const bind = (run: Deliberation, policy: PolicyText, policySource: PolicySource, read = readPolicy): ActivePolicy => {
  const { policyId: policyVersion } = policy
  const refused = (fault: string) => ({ policySource, policyVersion, sessionRules: undefined, fault })
  if (!policyFitsMode(policy.mode, ruleModeName(run.modeName))) {
    return refused(`${policyVersion} is for ${policy.mode}, the run is of ${run.modeName || "an unknown mode"}`)
  }
  return Result.match(read(policy, releaseOf(run.runtimeVersion)), {
    onFailure: (why) => refused(`the rules of ${policyVersion} cannot be read: ${why}`),
    onSuccess: (bound) => withTerms(run, bound, policySource)
  })
}

const withTerms = (run: Deliberation, policy: SessionTerms["policy"], policySource: PolicySource): ActivePolicy => {
  const { initiator, mode, modeName, participants, runtimeVersion } = run
  const about = { policySource, policyVersion: policy.policyId }
  if (mode === undefined) {
    const fault = modeName === "" ? "no event names the mode" : `no rules are known for ${modeName}`
    return { ...about, sessionRules: undefined, fault }
  }
  const terms = { initiator, participants, policy, release: releaseOf(runtimeVersion) }
  return { ...about, sessionRules: { mode, terms }, fault: undefined }
}

const VERSION = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/

/** The newest release that is not after a version; the pinned one for a text that names none. */
export const releaseOf = (version: string | undefined): Release => {
  const wanted = rankOf(version ?? "")
  if (wanted === undefined) return PINNED_RELEASE
  return RELEASES.findLast((release) => (rankOf(release) ?? 0) <= wanted) ?? RELEASES[0]
}

const rankOf = (version: string): number | undefined => {
  const parts = VERSION.exec(version)
  if (parts === null) return undefined
  const [, major, minor, patch = "0"] = parts
  return Number(major) * 1e12 + Number(minor) * 1e6 + Number(patch)
}

/** Every objection to a commitment with this outcome now, the mode's own first; empty when it is allowed. */
export const objectionsTo = (
  terms: SessionTerms,
  record: SessionRecord,
  positive: boolean
): ReadonlyArray<RuleRefusal> => {
  const refusals = refuseCommitment(terms, record, positive)
  if (isReadyToCommit(terms, record, positive)) return refusals
  const first = unready(terms, record)
  return [first, ...refusals.filter(({ rule }) => rule !== first.rule)]
}

/** Whether the runtime would accept a commitment with this outcome now. */
export const isAllowed = (terms: SessionTerms, record: SessionRecord, positive: boolean): boolean =>
  isReadyToCommit(terms, record, positive) && refuseCommitment(terms, record, positive).length === 0

const unready = (terms: SessionTerms, record: SessionRecord): RuleRefusal => {
  switch (record.mode) {
    case "decision":
      return { rule: "mode.proposal", have: 0, need: 1, text: "nothing is proposed" }
    case "proposal": {
      const { criterion } = terms.policy.rules.acceptance
      const text = `no proposal is accepted as ${criterion} requires, and no refusal is final`
      return { rule: "acceptance.criterion", have: "no agreement", need: criterion, text }
    }
    case "task": {
      const text = record.assignee === undefined ? "the task has no assignee" : "the task is not reported as ended"
      return { rule: "mode.report", have: 0, need: 1, text }
    }
    case "handoff":
      return record.isAnswered
        ? { rule: "mode.acceptance", have: 0, need: 1, text: "no offer is accepted" }
        : { rule: "mode.answer", have: 0, need: 1, text: "no offer is answered" }
    case "quorum": {
      const { approvals, requiredApprovals } = record
      if (requiredApprovals === undefined) {
        return { rule: "mode.request", have: 0, need: 1, text: "no approval is requested" }
      }
      const need = policyThreshold(terms) ?? requiredApprovals
      const text = `${approvals} of ${need} approvals, and the missing ones are still possible`
      return { rule: "threshold.value", have: approvals, need, text }
    }
  }
}
