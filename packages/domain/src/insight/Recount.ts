import * as Result from "effect/Result"
import type { ShadowFact } from "../events/ShadowFact.ts"
import { weigherOf } from "../policies/DecisionEvaluation.ts"
import { policyThreshold } from "../policies/Evaluation.ts"
import { type PolicyText, readPolicy } from "../policies/Policy.ts"
import { policyFitsMode } from "../policies/PolicyMode.ts"
import type { SessionTerms } from "../policies/SessionRecord.ts"
import { isOpening, type Statement } from "./Act.ts"
import { actionLog } from "./ActionLog.ts"
import { type ActivePolicy, isAllowed } from "./ActivePolicy.ts"
import type { Deliberation } from "./Deliberation.ts"
import { positionUnder } from "./Position.ts"
import { withShadow } from "./WithShadow.ts"

/**
 * What a recount without some participants says: the decision is still allowed, or it would be refused, which is no
 * decision. `opposite` is refused too, and then the opposite outcome would have been allowed.
 */
export type RecountedOutcome = "same" | "none" | "opposite"

/** Why a run says nothing about a removal. */
export type NotCounted =
  | "no decision"
  | "an outcome that is not stated"
  | "a mode without votes"
  | "no rules are known"
  | "refused as recorded"
  | "not a participant"
  | "opened the session"
  | "made the decided proposal"
  | "the policy names it"
  | "the policy cannot be met without it"
  | "too many acts"
  | "no vote of the shadow"

export type SeatRecount =
  | { readonly kind: "counted"; readonly outcome: RecountedOutcome }
  | { readonly kind: "not counted"; readonly reason: NotCounted }

/** All that a recount of one decided run needs, as plain data. Equal runs have equal texts. */
export interface Recount {
  readonly mode: "decision" | "quorum"
  /** Under which the votes are counted: those of the run, or of another policy for it. */
  readonly terms: SessionTerms
  /** The acts that count, before the decision. */
  readonly acts: ReadonlyArray<Statement>
  readonly positive: boolean
  /** The proposals that the decision may be about: one, or all where it names none. */
  readonly decided: ReadonlyArray<string>
}

/**
 * The recount of a run under the policy that governed it, or under `other`. A run whose own policy refuses its decision
 * as it is recorded is not counted, because a part of it is missing.
 */
export const recountOf = (
  run: Deliberation,
  by: ActivePolicy,
  other: ActivePolicy = by
): Result.Result<Recount, NotCounted> => {
  const { commitment, mode } = run
  if (commitment === undefined) return Result.fail("no decision")
  if (commitment.positive === null) return Result.fail("an outcome that is not stated")
  if (mode === undefined || (mode !== "decision" && mode !== "quorum")) return Result.fail("a mode without votes")
  if (by.sessionRules === undefined || other.sessionRules === undefined) return Result.fail("no rules are known")
  const { positive } = commitment
  const before = run.acts.filter(({ index }) => index < commitment.index)
  const acts = positionUnder(run, by.sessionRules).counted(before).map(statementOf)
  if (!isStillAllowed(mode, by.sessionRules.terms, acts, positive)) return Result.fail("refused as recorded")
  const opened = acts.flatMap(({ proposalId, type }) => (isOpening(mode, type) ? [proposalId] : []))
  const { proposalId } = commitment
  const decided = proposalId !== undefined && opened.includes(proposalId) ? [proposalId] : opened
  return Result.succeed({ mode, terms: other.sessionRules.terms, acts, positive, decided })
}

/**
 * The votes of a run counted again as if the shadow had acted in place of its participant, whose proposals stay. The
 * acts of the others stay as they were: they answered the participant.
 */
export const recountWithShadow = (run: Deliberation, by: ActivePolicy, shadow: ShadowFact): SeatRecount => {
  const recorded = recountOf(run, by)
  if (Result.isFailure(recorded)) return { kind: "not counted", reason: recorded.failure }
  const { mode, positive, terms } = recorded.success
  const { acts, commitment } = withShadow(run, shadow)
  const before = acts.filter(({ index }) => commitment === undefined || index < commitment.index)
  const counted = positionUnder(run, { mode, terms }).counted(before).map(statementOf)
  return { kind: "counted", outcome: outcomeUnder(mode, terms, counted, positive) }
}

const outcomeUnder = (
  mode: Recount["mode"],
  terms: SessionTerms,
  acts: ReadonlyArray<Statement>,
  positive: boolean
): RecountedOutcome => {
  if (isStillAllowed(mode, terms, acts, positive)) return "same"
  return isStillAllowed(mode, terms, acts, !positive) ? "opposite" : "none"
}

/** What rules read of an act, without its position, so that equal runs are equal. */
const statementOf = ({
  by,
  confidence,
  proposalId,
  recommendation,
  requiredApprovals,
  severity,
  type,
  vote
}: Statement): Statement => ({ by, type, proposalId, vote, recommendation, confidence, severity, requiredApprovals })

/**
 * The votes of a run counted again as if these participants had not been declared: their acts are gone, and they leave
 * the participants and the weights, so a quorum in per cent and `unanimous` do not count them. No participant decides
 * anew: what the others would have said without them is not known. `without` of `whatIf` keeps them as declared.
 */
export const recountWithout = (recount: Recount, removed: ReadonlySet<string>): SeatRecount => {
  const { mode, positive, terms } = recount
  const rest = termsWithout(terms, removed)
  const fault = faultOf(recount, removed, rest)
  if (fault !== undefined) return { kind: "not counted", reason: fault }
  const { isDecidable, left } = actsWithout(recount, removed)
  if (!isDecidable) return { kind: "not counted", reason: "made the decided proposal" }
  return { kind: "counted", outcome: outcomeUnder(mode, rest, left, positive) }
}

/** The acts that remain, and whether the decided proposal is still among them. */
const actsWithout = ({ acts, decided, mode }: Recount, removed: ReadonlySet<string>) => {
  const said = acts.filter(({ by }) => !removed.has(by))
  const opened = new Set(said.flatMap(({ proposalId, type }) => (isOpening(mode, type) ? [proposalId] : [])))
  return {
    isDecidable: decided.some((proposalId) => opened.has(proposalId)),
    left: said.filter(({ proposalId }) => opened.has(proposalId))
  }
}

/** Whether the opposite outcome would be allowed without these participants, too: then the votes do not decide. */
export const allowsOpposite = (recount: Recount, removed: ReadonlySet<string>): boolean => {
  const { mode, positive, terms } = recount
  return isStillAllowed(mode, termsWithout(terms, removed), actsWithout(recount, removed).left, !positive)
}

/** The same run under another policy; a text where this is for another mode, or where its rules cannot be read. */
export const recountUnder = (
  recount: Recount,
  policy: PolicyText,
  read = readPolicy
): Result.Result<Recount, string> => {
  const { mode, terms } = recount
  const modeName = `macp.mode.${mode}.v1`
  if (!policyFitsMode(policy.mode, modeName))
    return Result.fail(`it is for ${policy.mode}, the runs are of ${modeName}`)
  return Result.map(read(policy, terms.release), (bound) => ({ ...recount, terms: { ...terms, policy: bound } }))
}

/** A quorum has the outcome that its approvals say, also where a runtime would take either. */
const isStillAllowed = (
  mode: Recount["mode"],
  terms: SessionTerms,
  acts: ReadonlyArray<Statement>,
  positive: boolean
): boolean => {
  const record = actionLog(mode, acts, terms.policy.rules)
  if (!isAllowed(terms, record, positive)) return false
  if (record.mode !== "quorum") return true
  const needed = policyThreshold(terms) ?? record.requiredApprovals ?? Number.POSITIVE_INFINITY
  return record.approvals >= needed === positive
}

const termsWithout = (terms: SessionTerms, removed: ReadonlySet<string>): SessionTerms => {
  const participants = terms.participants.filter((participant) => !removed.has(participant))
  const { policy } = terms
  const { voting } = policy.rules
  const weights = Object.entries(voting.weights)
  if (!weights.some(([participant]) => removed.has(participant))) return { ...terms, participants }
  const left = Object.fromEntries(weights.filter(([participant]) => !removed.has(participant)))
  return {
    ...terms,
    participants,
    policy: { ...policy, rules: { ...policy.rules, voting: { ...voting, weights: left } } }
  }
}

const faultOf = (recount: Recount, removed: ReadonlySet<string>, rest: SessionTerms): NotCounted | undefined => {
  const { initiator, participants, policy } = recount.terms
  const { authority, designated_roles } = policy.rules.commitment
  if (participants.length - rest.participants.length < removed.size) return "not a participant"
  if (removed.has(initiator)) return "opened the session"
  if (authority === "designated_role" && designated_roles.some((role) => removed.has(role))) {
    return "the policy names it"
  }
  return canBeMet(recount, recount.terms) && !canBeMet(recount, rest)
    ? "the policy cannot be met without it"
    : undefined
}

/** Whether the demands of a policy on numbers of voters are within the number of its participants. */
const canBeMet = ({ acts, mode }: Recount, terms: SessionTerms): boolean => {
  const { participants, policy } = terms
  const voters = participants.length
  if (voters === 0) return false
  if (mode === "quorum") {
    const requested = acts.find(({ type }) => type === "ApprovalRequest")?.requiredApprovals
    return (policyThreshold(terms) ?? requested ?? 0) <= voters
  }
  const { commitment, voting } = policy.rules
  if (commitment.require_vote_quorum && voting.quorum.type === "count" && voting.quorum.value > voters) return false
  return voting.algorithm !== "weighted" || participants.some((participant) => weigherOf(terms)(participant) > 0)
}
