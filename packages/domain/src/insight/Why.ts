import type { RuleRefusal } from "../policies/SessionRecord.ts"
import type { ReceiptReport } from "../receipts/ReceiptReport.ts"
import { sumUsd } from "../values/Money.ts"
import { type Phrase, phrase, phraseText } from "../values/Phrase.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { type Act, counting, type LogPosition } from "./Act.ts"
import type { ActivePolicy, PolicySource } from "./ActivePolicy.ts"
import type { Commitment, Deliberation } from "./Deliberation.ts"
import { forecast } from "./Forecast.ts"
import { type Position, positionUnder, sideOf, trialsOf } from "./Position.ts"
import { decidingActs } from "./Proposals.ts"
import type { Spending } from "./Spending.ts"
import { type CountedVotes, type Tally, type Votes, votesOf } from "./Tally.ts"
import { type Voting, votingOf } from "./Waiting.ts"
import { type Claim, claimsOf, saysOf } from "./why/Claims.ts"
import type { Counterfactual } from "./why/Counterfactual.ts"
import { smallestCarrying } from "./why/MinimalSet.ts"
import { type RuleVerdict, ruleVerdicts } from "./why/Rules.ts"
import { summaryOf } from "./why/Summary.ts"
import { warningsOf } from "./why/Warnings.ts"

/** The commitment that counts. */
interface Outcome extends Pick<Commitment, "action" | "positive" | "by" | "seq"> {
  readonly reason?: string
  /** Commitments on record, of which this is the last; absent when it is the only one. */
  readonly commitments?: number
  /** Hash of the commitment; absent for runs without one. */
  readonly commitmentHash?: string
  /** The proposal that it is about; absent where it does not name one of several. */
  readonly proposalId?: string
  /** Whether the votes on that proposal say the opposite (`warnings`); absent when they do not. */
  readonly againstVotes?: true
}

/** The reasons of a decision, or of its absence. Each claim has the seqs of its events. */
export interface Why {
  readonly runId: string
  readonly modeName: string
  readonly policyVersion: string
  readonly policySource: PolicySource
  readonly participants: ReadonlyArray<string>
  readonly outcome: Outcome | null
  /** The runtime's receipt of the decision, checked; absent without one. */
  readonly receipt?: ReceiptReport
  /** The latest `MAX_CLAIMS`. */
  readonly claims: ReadonlyArray<Claim>
  readonly rules: ReadonlyArray<RuleVerdict>
  /**
   * A smallest set of events that carries the outcome, with all objections to it unchanged: without any one
   * of them, and the others of its kind, it would not have been allowed. Empty without a decision.
   */
  readonly minimalSet: ReadonlyArray<number>
  readonly counterfactuals: ReadonlyArray<Counterfactual>
  /** Since when the outcome was allowed without a break; absent when unknown. */
  readonly decidedAt?: LogPosition & { readonly msBeforeCommitment: number }
  /** The objections to a positive and a negative outcome; only for a run without decision. */
  readonly missing: ReadonlyArray<string>
  readonly cost: {
    readonly totalTokens: number
    readonly costUsd: number
    /** Part of `costUsd` that is a guess; absent when there is none. */
    readonly guessedCostUsd?: number
    /** Calls without counts, which the sums lack; absent when there are none. */
    readonly callsWithoutUsage?: number
    readonly byParticipant: ReadonlyArray<Spending>
  }
  /** Who has voted and who has not, by proposal; absent where that is not known. */
  readonly voting?: ReadonlyArray<Voting>
  /** The ballots by proposal; absent without any proposal that is voted on. */
  readonly tallies?: ReadonlyArray<Tally>
  /** The votes as the policy counts them; absent where it counts none, and for other modes. */
  readonly counted?: CountedVotes
  /** What the outcome hides: that the voters on its proposal said the opposite. */
  readonly warnings: ReadonlyArray<string>
  /** All of it in one line. */
  readonly summary: string
  /** The same line, with the texts of others in it set apart. */
  readonly summaryParts: Phrase
  readonly notes: ReadonlyArray<string>
}

/** Claims of one answer. */
export const MAX_CLAIMS = 500
/** Votes whose absence is tried, the latest ones. */
const MAX_COUNTERFACTUALS = 200
/** Acts before the commitment that are searched for the turning point. */
const MAX_EARLIER_STEPS = 200

/** The decision record of a run. A run without decision has the missing conditions. */
export const why = (run: Deliberation, by: ActivePolicy): Why => runSliced(whyInSlices(run, by))

/** The same in slices, for long runs. */
export function* whyInSlices(run: Deliberation, by: ActivePolicy): Sliced<Why> {
  const { commitment } = run
  const { sessionRules } = by
  const claims = claimsOf(run)
  yield
  const voting = votingOf(run, by)
  yield
  const votes = votesOf(run, sessionRules)
  const warnings = warningsOf(commitment, sessionRules, votes)
  yield
  const answer = {
    runId: run.runId,
    modeName: run.modeName,
    policyVersion: by.policyVersion,
    policySource: by.policySource,
    participants: run.participants,
    outcome: commitment === undefined ? null : outcomeOf(commitment, run.commitments, votes, warnings.length > 0),
    ...(run.receipt !== undefined && { receipt: run.receipt }),
    claims: claims.slice(-MAX_CLAIMS),
    ...(voting.length > 0 && { voting }),
    ...(votes.tallies.length > 0 && { tallies: votes.tallies }),
    ...(votes.counted !== undefined && { counted: votes.counted }),
    warnings,
    cost: costOf(run.spending)
  }
  const notes = [...run.notes, ...(by.fault === undefined ? [] : [by.fault]), ...notesOf(votes)]
  if (claims.length > MAX_CLAIMS) notes.push(`${claims.length - MAX_CLAIMS} earlier claims are left out`)
  if (sessionRules === undefined || commitment === undefined || commitment.positive === null) {
    if (commitment?.positive === null) notes.push("the commitment does not say whether it was a yes")
    const missing = commitment === undefined && run.unopened === undefined ? missingFor(run, by) : []
    const rules =
      sessionRules === undefined ? [] : ruleVerdicts(run, sessionRules, commitment?.positive ?? true, votes.counted)
    const summary =
      commitment === undefined
        ? undecided(run.state, missing, run.unopened ?? by.fault)
        : phrase`${named(commitment)} committed ${commitment.action}`
    return { ...answer, rules, minimalSet: [], counterfactuals: [], missing, ...summed(summary), notes }
  }
  const { positive } = commitment
  const acts = decidingActs(run)
  const position = positionUnder(run, sessionRules)
  yield
  const isExplained = position.isAllowed(acts, positive)
  if (!isExplained) notes.push("under these rules the acts on record do not allow the outcome")
  const counterfactuals = isExplained ? yield* counterfactualsOf(acts, position, positive) : []
  const minimalSet = isExplained ? yield* smallestCarrying(acts, sessionRules.mode, position, positive) : []
  if (minimalSet === undefined) notes.push("there are too many acts to find a smallest set that carries the outcome")
  const untried = isExplained ? ballotsOf(acts, positive).length - counterfactuals.length : 0
  if (untried > 0)
    notes.push(`the absence of the ${counterfactuals.length} latest votes was tried, ${untried} are left out`)
  const turning = isExplained ? yield* turningPoint(acts, position, commitment, positive) : undefined
  yield
  return {
    ...answer,
    rules: ruleVerdicts(run, sessionRules, positive, votes.counted),
    minimalSet: minimalSet ?? [],
    counterfactuals,
    ...(turning !== undefined && { decidedAt: turning }),
    missing: [],
    ...summed(
      isExplained
        ? summaryOf({ run, sessionRules, position, acts, votes, counterfactuals, positive })
        : phrase`${named(commitment)} committed ${commitment.action}, which the acts on record do not allow`
    ),
    notes
  }
}

const summed = (parts: Phrase): Pick<Why, "summary" | "summaryParts"> => ({
  summary: phraseText(parts),
  summaryParts: parts
})

const outcomeOf = (
  { action, by, commitmentHash, positive, reason, seq }: Commitment,
  commitments: number,
  { committed }: Votes,
  againstVotes: boolean
): Outcome => ({
  action,
  positive,
  by,
  ...(reason !== undefined && { reason }),
  seq,
  ...(commitments > 1 && { commitments }),
  ...(commitmentHash !== undefined && { commitmentHash }),
  ...(committed !== undefined && { proposalId: committed }),
  ...(againstVotes && { againstVotes })
})

const named = ({ by }: Commitment): Phrase => (by === "" ? phrase`an unnamed participant` : phrase`${by}`)

const notesOf = ({ counted, leftOut }: Votes): ReadonlyArray<string> => [
  ...(counted !== undefined && counted.proposals > 1
    ? [`the policy counts the votes on ${counted.proposals} proposals together: ${counted.text}`]
    : []),
  ...(leftOut > 0 ? [`the tallies of ${leftOut} earlier proposals are left out`] : [])
]

const costOf = (byParticipant: ReadonlyArray<Spending>): Why["cost"] => {
  const callsWithoutUsage = byParticipant.reduce((total, { callsWithoutUsage: without = 0 }) => total + without, 0)
  const guessedCostUsd = sumUsd(byParticipant.map(({ guessedCostUsd = 0 }) => guessedCostUsd))
  return {
    totalTokens: byParticipant.reduce((total, { totalTokens }) => total + totalTokens, 0),
    costUsd: sumUsd(byParticipant.map(({ costUsd }) => costUsd)),
    ...(guessedCostUsd > 0 && { guessedCostUsd }),
    ...(callsWithoutUsage > 0 && { callsWithoutUsage }),
    byParticipant
  }
}

const missingFor = (run: Deliberation, by: ActivePolicy): ReadonlyArray<string> =>
  forecast({ ...run, state: "OPEN" }, by).outcomes.flatMap(({ blockers, outcome, proposalId }) =>
    proposalId === undefined ? blockers.map(({ text }) => `for a ${outcome} outcome: ${text}`) : []
  )

/** Ends of a session without a commitment, in words. */
const ENDS: ReadonlyMap<string, Phrase> = new Map([
  ["EXPIRED", phrase`, and the session has expired`],
  ["CANCELLED", phrase`, and the session is cancelled`]
])

const undecided = (state: string, missing: ReadonlyArray<string>, fault: string | undefined): Phrase => {
  const first = missing[0] ?? fault
  const nothing = phrase`nothing is decided${ENDS.get(state) ?? []}`
  return first === undefined ? phrase`${nothing}; no rule objects` : phrase`${nothing}; ${first}`
}

/** Acts that take a side, or abstain. */
const ballotsOf = (acts: ReadonlyArray<Act>, positive: boolean): ReadonlyArray<Act> =>
  counting(acts).filter((act) => sideOf(act, positive) !== "neither" || act.type === "Vote" || act.type === "Abstain")

function* counterfactualsOf(
  acts: ReadonlyArray<Act>,
  position: Position,
  positive: boolean
): Sliced<ReadonlyArray<Counterfactual>> {
  const tried: Array<Counterfactual> = []
  for (const ballot of ballotsOf(acts, positive).slice(-Math.min(MAX_COUNTERFACTUALS, trialsOf(acts)))) {
    yield
    const reasons = position.objections(
      acts.filter(({ seq }) => seq !== ballot.seq),
      positive
    )
    const stillAllowed = reasons.length === 0
    const text = `without ${ballot.by}, who ${saysOf(ballot)}, it would ${stillAllowed ? "still" : "not"} stand`
    tried.push({ seq: ballot.seq, participantId: ballot.by, text, stillAllowed, reasons: reasons.map(textOf) })
  }
  return tried
}

const textOf = ({ text }: RuleRefusal) => text

/** The act with which the outcome became allowed and stayed so up to the commitment. */
function* turningPoint(
  acts: ReadonlyArray<Act>,
  position: Position,
  { ts }: Commitment,
  positive: boolean
): Sliced<Why["decidedAt"]> {
  const farthest = Math.min(MAX_EARLIER_STEPS, trialsOf(acts))
  let from = acts.length
  while (from > 0 && acts.length - from < farthest && position.isAllowed(acts.slice(0, from - 1), positive)) {
    from -= 1
    yield
  }
  const act = acts[from - 1]
  if (act === undefined || acts.length - from >= farthest) return undefined
  const msBeforeCommitment = Date.parse(ts) - Date.parse(act.ts)
  if (!Number.isFinite(msBeforeCommitment)) return undefined
  return { seq: act.seq, index: act.index, ts: act.ts, msBeforeCommitment: Math.max(0, msBeforeCommitment) }
}
