import * as Schema from "effect/Schema"
import type { Act } from "../insight/Act.ts"
import type { SessionRules } from "../insight/ActivePolicy.ts"
import { ballotOf } from "../insight/Ballots.ts"
import { vetoOn, weigherOf } from "../policies/DecisionEvaluation.ts"
import { Field } from "../values/Field.ts"

/** The last ballot of a participant; `none` without one. */
export const VoteSide = Schema.Literals(["for", "against", "abstained", "none"]).annotate({
  identifier: "VoteSide",
  description: "The last ballot of a participant; none without one"
})
export type VoteSide = typeof VoteSide.Type

const optional = Schema.optionalKey

/** A participant in the picture of a decision. */
export const CardVoter = Schema.Struct({
  participantId: Field.text("Id of the participant", "impact-analyst"),
  /** Only in modes without votes. */
  role: optional(Field.text("What it does in a session without votes", "asked to do it")),
  vote: VoteSide,
  /** Of a seat: the person whose vote it is, by the record of the answer. */
  person: optional(Field.text("Of a seat: the person whose vote it is", "ada")),
  answeredAt: optional(Field.time("When that person gave the vote")),
  noAnswerBy: optional(Field.time("Of a seat whose deadline acted: until when no person answered")),
  weight: Field.number("Weight of its vote; 1 unless the policy weighs votes", 1),
  confidence: optional(Field.number("0 to 1, of its last evaluation", 0.82)),
  opinion: optional(
    Schema.Literals(["for", "against", "unsure"]).annotate({
      description: "What the last evaluation of a participant without a ballot recommends"
    })
  ),
  objection: optional(
    Schema.Literals(["veto", "objection"]).annotate({
      description: "veto: an objection of the severity that the policy lets stop a decision"
    })
  ),
  pivotal: Field.flag("Whether the decision depends on its vote, as why and what-if find it")
}).annotate({ identifier: "CardVoter", description: "A participant in the picture of a decision" })
export type CardVoter = typeof CardVoter.Type

const ORDER: Readonly<Record<VoteSide, number>> = { for: 0, abstained: 1, none: 2, against: 3 }

/** The voters as the ring draws them: for, abstained, not voted, against; in the session's order within each. */
export const inOrder = <S extends Pick<CardVoter, "vote">>(voters: ReadonlyArray<S>): ReadonlyArray<S> =>
  voters.toSorted((one, other) => ORDER[one.vote] - ORDER[other.vote])

/** The ballots as the side that they take. */
export const SIDES = { APPROVE: "for", REJECT: "against", ABSTAIN: "abstained" } as const satisfies Record<
  string,
  VoteSide
>

const AGAINST: ReadonlySet<string> = new Set(["BLOCK", "REJECT", "DENY"])

const opinionOf = (recommendation: string | undefined): NonNullable<CardVoter["opinion"]> =>
  recommendation === "APPROVE" ? "for" : AGAINST.has(recommendation ?? "") ? "against" : "unsure"

/** Of a run with ballots: what each participant says on one proposal. `acts` are those that count. */
export const votersOn = (
  proposalId: string,
  participants: ReadonlyArray<string>,
  acts: ReadonlyArray<Act>,
  sessionRules: SessionRules | undefined,
  isPivotal: (participantId: string) => boolean
): ReadonlyArray<CardVoter> => {
  const weigh = sessionRules?.mode === "decision" ? weigherOf(sessionRules.terms) : () => 1
  const votes = new Map<string, VoteSide>()
  const evaluations = new Map<string, Act>()
  const objections = new Map<string, NonNullable<CardVoter["objection"]>>()
  const answers = new Map<string, Pick<CardVoter, "person" | "answeredAt" | "noAnswerBy">>()
  const isVeto = vetoes(sessionRules)
  for (const act of acts) {
    if (act.proposalId !== proposalId) continue
    const ballot = ballotOf(act)
    if (ballot !== undefined) {
      votes.set(act.by, SIDES[ballot])
      answers.set(act.by, answerOf(act))
    }
    if (act.type === "Evaluation") evaluations.set(act.by, act)
    if (act.type === "Objection" && objections.get(act.by) !== "veto")
      objections.set(act.by, isVeto(act.severity) ? "veto" : "objection")
  }
  return inOrder(
    participants.map((participantId): CardVoter => {
      const vote = votes.get(participantId) ?? "none"
      const evaluation = evaluations.get(participantId)
      const confidence = shareOf(evaluation?.confidence)
      const objection = objections.get(participantId)
      return {
        participantId,
        vote,
        ...answers.get(participantId),
        weight: weigh(participantId),
        ...(confidence !== undefined && { confidence }),
        ...(evaluation !== undefined && vote === "none" && { opinion: opinionOf(evaluation.recommendation) }),
        ...(objection !== undefined && { objection }),
        pivotal: isPivotal(participantId)
      }
    })
  )
}

const answerOf = ({ answer }: Act) => {
  if (answer === undefined) return {}
  const { answeredAt, deadline, person } = answer
  return person === undefined ? { noAnswerBy: deadline ?? answeredAt } : { person, answeredAt }
}

/** A confidence outside of 0 to 1 has no length to draw. */
const shareOf = (confidence: number | undefined): number | undefined =>
  confidence !== undefined && confidence >= 0 && confidence <= 1 ? confidence : undefined

const vetoes = (sessionRules: SessionRules | undefined): ((severity: string | undefined) => boolean) => {
  if (sessionRules?.mode !== "decision") return () => false
  return (severity = "") => {
    const objections = [{ by: "", severity }]
    return (
      sessionRules.terms.policy.rules.objection_handling.critical_severity_vetoes &&
      vetoOn(sessionRules.terms, { objections }, false).objectors.length > 0
    )
  }
}

const ROLES: Readonly<Record<string, string>> = {
  Proposal: "made an offer",
  CounterProposal: "made an offer",
  TaskRequest: "requested it",
  HandoffOffer: "offered it",
  TaskAccept: "took the task",
  TaskReject: "refused the task",
  TaskUpdate: "works on it",
  TaskComplete: "completed it",
  TaskFail: "failed at it",
  HandoffContext: "described it",
  HandoffAccept: "accepted it",
  HandoffDecline: "declined it",
  Accept: "accepted",
  Reject: "rejected",
  Withdraw: "withdrew"
}
const FOR: ReadonlySet<string> = new Set(["Accept", "TaskAccept", "TaskComplete", "HandoffAccept"])
const REFUSES: ReadonlySet<string> = new Set(["Reject", "Withdraw", "TaskReject", "TaskFail", "HandoffDecline"])

/** Of a run without ballots: the last act of each participant as its role; its side is that of an answer. */
export const votersByRole = (
  participants: ReadonlyArray<string>,
  acts: ReadonlyArray<Act>,
  isPivotal: (participantId: string) => boolean
): ReadonlyArray<CardVoter> => {
  const last = new Map<string, Act>()
  const targets = new Set<string>()
  for (const act of acts) {
    last.set(act.by, act)
    if (act.target !== undefined) targets.add(act.target)
  }
  return inOrder(
    participants.map((participantId): CardVoter => {
      const type = last.get(participantId)?.type ?? ""
      const role = ROLES[type] ?? (targets.has(participantId) ? "asked to do it" : undefined)
      return {
        participantId,
        ...(role !== undefined && { role }),
        vote: FOR.has(type) ? "for" : REFUSES.has(type) ? "against" : "none",
        weight: 1,
        pivotal: isPivotal(participantId)
      }
    })
  )
}
