import { vetoOn } from "../../policies/DecisionEvaluation.ts"
import type { SessionTerms } from "../../policies/SessionRecord.ts"
import { listed, type Phrase, phrase } from "../../values/Phrase.ts"
import type { Act } from "../Act.ts"
import type { SessionRules } from "../ActivePolicy.ts"
import type { Deliberation } from "../Deliberation.ts"
import { type Position, sideOf } from "../Position.ts"
import { ballotsText, type CountedVotes, isOutvoted, ruleText, type Votes } from "../Tally.ts"
import { authorityText } from "./Authority.ts"
import type { Counterfactual } from "./Counterfactual.ts"
import { acceptanceFigures, approvalFigures, plural } from "./Figures.ts"
import { handoffText, taskText } from "./Work.ts"

/** Names in one sentence. */
const MAX_NAMES = 10

/** What a sentence about an allowed outcome is made of. */
export interface Decided {
  readonly run: Deliberation
  readonly sessionRules: SessionRules
  readonly position: Position
  /** Before the commitment, judged. */
  readonly acts: ReadonlyArray<Act>
  readonly votes: Votes
  readonly counterfactuals: ReadonlyArray<Counterfactual>
  readonly positive: boolean
}

/**
 * Why an outcome is allowed, in one line: "carried by 3 of 4; without c it would still stand". Participants are counted
 * against each other only where each of them voted for or against, and each vote weighs the same; else the sentence has
 * the figures of the rule.
 */
export const summaryOf = (decided: Decided): Phrase => joined([...backingOf(decided), ...decisiveOf(decided)])

const joined = (clauses: ReadonlyArray<Phrase>): Phrase =>
  clauses.flatMap((clause, at): Phrase => (at === 0 ? clause : [...own("; "), ...clause]))

/** A text of the service itself. */
const own = (text: string): Phrase => [{ text, isQuoted: false }]

/** Names with commas; beyond ten the others are counted. */
const some = (names: ReadonlyArray<string>): Phrase =>
  names.length > MAX_NAMES
    ? phrase`${listed(names.slice(0, MAX_NAMES))} and ${names.length - MAX_NAMES} more`
    : listed(names)

const backingOf = (decided: Decided): ReadonlyArray<Phrase> => {
  const { acts, position, positive, run, sessionRules, votes } = decided
  const { terms } = sessionRules
  const record = position.recordOf(acts)
  const counted = position.counted(acts)
  switch (record.mode) {
    case "decision": {
      const veto = vetoOn(terms, record, positive)
      if (veto.suffices) return vetoed(veto.objectors, terms)
      if (votes.counted === undefined) {
        const outvoted = votes.tallies.some((tally) => tally.isCommitted && isOutvoted(tally)) ? ownTally(votes) : []
        return [...outvoted, own("the policy counts no votes"), authorityText(run.commitment?.by ?? "", terms)]
      }
      return [...carriedBy(decided, votes.counted), ...silentIn(decided)]
    }
    case "proposal":
      return [own(acceptanceFigures(terms, record).text)].map(quotedWhole)
    case "task":
      return [quotedWhole(own(taskText(counted, record) ?? "the task is reported as ended"))]
    case "handoff":
      return [quotedWhole(own(handoffText(counted, positive) ?? "the offer is answered"))]
    case "quorum": {
      const rejections = counted.filter(({ type }) => type === "Reject").length
      return [own(approvalFigures(terms, record, rejections, positive).text), ...silentIn(decided)]
    }
  }
}

/** A sentence in which participants chose ids and names: a reader for whom these are data alone gets it as data. */
const quotedWhole = (sentence: Phrase): Phrase => sentence.map((part) => ({ ...part, isQuoted: true }))

const vetoed = (objectors: ReadonlyArray<string>, terms: SessionTerms): ReadonlyArray<Phrase> => {
  const { veto_threshold: need } = terms.policy.rules.objection_handling
  const names = [...new Set(objectors)]
  const by = names.length === 0 ? own("a participant") : some(names)
  return [
    phrase`vetoed by ${by} (${own(plural(objectors.length, "critical objection"))}, ${need} needed), no vote was needed`
  ]
}

const carriedBy = (decided: Decided, counted: CountedVotes): ReadonlyArray<Phrase> => {
  const { positive, run, sessionRules, votes } = decided
  const { terms } = sessionRules
  const rule = own(ruleText(terms.policy.rules.voting))
  const [approve, reject] = amountsOf(counted)
  const allowed = !positive && counted.passes ? ", and the policy allows a decline over it" : ""
  const verdict = phrase`which ${own(counted.passes ? "passes" : "does not pass")} (${rule})${own(allowed)}`
  if (approve + reject === 0) {
    const cast = counted.approve + counted.reject + counted.abstain
    const passes = own("no vote was needed: an empty tally passes")
    return cast === 0 ? [passes] : [passes, own(ballotsText(counted, counted.weights))]
  }
  const figures = own(ballotsText(counted, counted.weights))
  if (counted.proposals > 1) {
    const tie = approve === reject ? "a tie, " : ""
    return [
      ...ownTally(votes),
      phrase`the policy counts the votes on ${counted.proposals} proposals together: ${own(tie)}${figures}, ${verdict}`
    ]
  }
  if (approve === reject || positive !== approve > reject || positive !== counted.passes) {
    return [phrase`${own(approve === reject ? "a tie, " : "")}${figures}, ${verdict}`]
  }
  const verb = own(positive ? "carried" : "rejected")
  if (counted.weights !== undefined) {
    return [phrase`${verb} by weight: ${own(sidesText(counted))}`]
  }
  const [won, lost] = positive ? [approve, reject] : [reject, approve]
  const all = run.participants.length
  const isWhole = run.areDeclared && votes.silent.length === 0 && won + lost === all
  const abstained =
    counted.abstain === 0 ? [] : [own(`${counted.abstain} ${counted.abstain === 1 ? "abstains" : "abstain"}`)]
  return isWhole
    ? [phrase`${verb} by ${won} of ${all}`]
    : [phrase`${verb} by ${own(plural(won, "vote"))} to ${lost}`, ...abstained]
}

const amountsOf = ({ approve, reject, weights }: CountedVotes): readonly [number, number] =>
  weights === undefined ? [approve, reject] : [weights.for, weights.against]

/** "5 for, 2 against (1 approve, 2 reject)" */
const sidesText = (counted: CountedVotes): string => ballotsText(counted, counted.weights).replace(/^weights /, "")

/** The tally of the proposal of the commitment, or that this proposal is not known. */
const ownTally = ({ names, tallies }: Votes): ReadonlyArray<Phrase> => {
  const tally = tallies.find(({ isCommitted }) => isCommitted)
  if (tally === undefined) return [own("the commitment does not name its proposal")]
  const figures = own(ballotsText(tally, tally.weights))
  const name = names.get(tally.proposalId) ?? tally.proposalId
  return [isOutvoted(tally) ? phrase`the voters rejected ${name} (${figures})` : phrase`on ${name} ${figures}`]
}

/** Participants without a vote, the sender of the commitment by its name. */
const silentIn = ({ run, votes: { silent } }: Decided): ReadonlyArray<Phrase> => {
  if (silent.length === 0) return []
  const by = run.commitment?.by ?? ""
  const all = run.participants.length
  if (!silent.includes(by)) return [phrase`${silent.length} of ${all} did not vote`]
  return silent.length === 1
    ? [phrase`${by}, who committed, did not vote`]
    : [phrase`${silent.length} of ${all} did not vote, among them ${by}, who committed`]
}

/** Whose vote decides, or that one more vote than needed was cast. */
const decisiveOf = ({ counterfactuals, acts, positive, votes }: Decided): ReadonlyArray<Phrase> => {
  const decisive = [...new Set(counterfactuals.flatMap((one) => (one.stillAllowed ? [] : [one.participantId])))]
  // A participant can have a vote on each of several proposals, and only one of them may decide.
  const vote = own(votes.names.size > 1 ? "one vote of " : "")
  if (decisive.length === 1) return [phrase`without ${vote}${listed(decisive)} it would not stand`]
  if (decisive.length > 1)
    return [
      phrase`without ${own(votes.names.size > 1 ? "one vote of any of " : "any one of ")}${some(decisive)} it would not stand`
    ]
  const supporters = new Set(acts.flatMap((act) => (sideOf(act, positive) === "for" ? [act.by] : [])))
  const last = counterfactuals.findLast(({ participantId }) => supporters.has(participantId))
  return last === undefined || votes.counted === undefined
    ? []
    : [phrase`without ${vote}${last.participantId} it would still stand`]
}
