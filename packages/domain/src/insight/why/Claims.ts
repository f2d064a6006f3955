import type { DenialReason } from "../../run/Denials.ts"
import type { Act } from "../Act.ts"
import type { Deliberation } from "../Deliberation.ts"
import { isOfDeadline, noAnswerText, personText, withoutLine } from "./Persons.ts"

/** One fact of the record in words, with its events. */
export interface Claim {
  readonly kind:
    | "proposal"
    | "evaluation"
    | "objection"
    | "vote"
    | "answer"
    | "change-of-mind"
    | "not-counted"
    | "denial"
    | "commitment"
  readonly text: string
  readonly participantId?: string
  /** The person whose answer it is, by the record of the answer; absent without one. */
  readonly person?: string
  /** It is an act of the deadline of a seat, to which no person gave an answer. */
  readonly unanswered?: true
  readonly seqs: ReadonlyArray<number>
  /** Only of a denial whose reasons have codes. */
  readonly denials?: ReadonlyArray<DenialReason>
}

/** Characters of a sender's own words in a claim. */
const MAX_QUOTED = 300

/** All acts in order, with the refusals and the commitment. */
export const claimsOf = (run: Deliberation): ReadonlyArray<Claim> => {
  const later = laterActs(run.acts)
  const claims: Array<Claim> = [
    ...run.acts.map((act) => claimOf(act, later.get(act))),
    ...run.denials.map(({ by, denials, seq, text }): Claim => {
      const refused = by === "" ? "a message" : `a message of ${by}`
      return {
        kind: "denial",
        text: `the policy refused ${refused}: ${cut(text)}`,
        ...named(by),
        seqs: [seq],
        ...(denials.length > 0 && { denials })
      }
    })
  ]
  const { commitment } = run
  if (commitment !== undefined) {
    const { action, by, reason, seq } = commitment
    const text = `${by || "an unnamed participant"} committed ${action}${quoted(reason)}`
    claims.push({ kind: "commitment", text, ...named(by), seqs: [seq] })
  }
  return claims.sort((left, right) => (left.seqs[0] ?? 0) - (right.seqs[0] ?? 0))
}

const named = (by: string) => (by === "" ? {} : { participantId: by })

/** Of each act the next one of the same sender and type. */
const laterActs = (acts: ReadonlyArray<Act>): ReadonlyMap<Act, Act> => {
  const next = new Map<string, Act>()
  const later = new Map<Act, Act>()
  for (const act of acts.toReversed()) {
    const key = `${act.by.length} ${act.by} ${act.type}`
    const found = next.get(key)
    if (found !== undefined) later.set(act, found)
    next.set(key, act)
  }
  return later
}

const claimOf = (act: Act, later: Act | undefined): Claim => {
  const { answer, by, skipped, seq, type } = act
  const text = personText(act, bareSaysOf(act)) ?? `${by} ${saysOf(act)}`
  const from = {
    ...named(by),
    ...(answer?.person !== undefined && { person: answer.person }),
    ...(isOfDeadline(act) && { unanswered: true as const })
  }
  if (skipped === "changed later") {
    const seqs = later === undefined ? [seq] : [seq, later.seq]
    return { kind: "change-of-mind", text: `${text}, and changed it later`, ...from, seqs }
  }
  if (skipped !== undefined) {
    return { kind: "not-counted", text: `${text}; not counted: ${skipped}`, ...from, seqs: [seq] }
  }
  // The reason of a deadline says what the sentence says.
  const reason = isOfDeadline(act) ? undefined : withoutLine(act)
  return { kind: kindOf(type), text: `${text}${quoted(reason)}`, ...from, seqs: [seq] }
}

const kindOf = (type: string): Claim["kind"] => {
  switch (type) {
    case "Proposal":
    case "CounterProposal":
    case "TaskRequest":
    case "HandoffOffer":
    case "ApprovalRequest":
      return "proposal"
    case "Evaluation":
      return "evaluation"
    case "Objection":
      return "objection"
    case "Vote":
    case "Approve":
    case "Abstain":
      return "vote"
    default:
      return "answer"
  }
}

/** An act as the predicate of a sentence about its sender; an act of the deadline is not its answer. */
export const saysOf = (act: Act): string => noAnswerText(act, bareSaysOf(act)) ?? bareSaysOf(act)

const bareSaysOf = (act: Act): string => {
  const { confidence, option, outputBytes, proposalId, recommendation, severity, target, terminal, type, vote } = act
  const what = option === undefined ? proposalId : `${proposalId} (${cut(option)})`
  switch (type) {
    case "Proposal":
      return `proposed ${what}`
    case "CounterProposal":
      return `proposed ${what} instead`
    case "Evaluation":
      return `evaluated ${proposalId}: ${cut(recommendation ?? "nothing")}${confidence === undefined ? "" : `, confidence ${confidence}`}`
    case "Objection":
      return `objected to ${proposalId}, ${cut(severity ?? "medium")}`
    case "Vote":
      return `voted ${vote ?? "something unreadable"} on ${proposalId}`
    case "Accept":
      return `accepted ${proposalId}`
    case "Reject":
      return `rejected ${proposalId}${terminal === true ? " for good" : ""}`
    case "Withdraw":
      return `withdrew ${proposalId}`
    case "Approve":
      return `approved ${proposalId}`
    case "Abstain":
      return `abstained on ${proposalId}`
    case "ApprovalRequest":
      return `requested approval of ${what}`
    case "TaskRequest":
      return `requested ${what}${target === undefined ? "" : ` from ${target}`}`
    case "HandoffOffer":
      return `offered ${what}${target === undefined ? "" : ` to ${target}`}`
    case "TaskAccept":
      return `accepted ${proposalId}`
    case "TaskReject":
      return `refused ${proposalId}`
    case "TaskComplete":
      return `completed ${proposalId} ${(outputBytes ?? 0) > 0 ? "with" : "without"} an output`
    case "TaskFail":
      return `failed at ${proposalId}`
    case "HandoffAccept":
      return `accepted ${proposalId}`
    case "HandoffDecline":
      return `declined ${proposalId}`
    default:
      return `sent ${cut(type)} on ${proposalId}`
  }
}

const quoted = (reason: string | undefined): string => (reason === undefined ? "" : `: "${cut(reason)}"`)

const cut = (text: string): string => {
  const letters = Array.from(text.slice(0, 2 * MAX_QUOTED))
  return letters.length > MAX_QUOTED ? `${letters.slice(0, MAX_QUOTED).join("")}...` : text
}
