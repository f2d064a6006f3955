import type { ActivePolicy } from "../insight/ActivePolicy.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { agentVotes } from "../marks/AgentVote.ts"
import { mcNemar, pairedRunsNeeded } from "../statistics/McNemar.ts"
import { DEFAULT_MIN_DROP, type Expectations } from "./CaseFile.ts"
import type { GateCheck, Plan } from "./Verdict.ts"

/** The votes of a participant and of its shadow in one session: whether each is a vote for the expected outcome. */
export interface ShadowPair {
  readonly runId: string
  /** Undefined without a vote. */
  readonly participant: boolean | undefined
  readonly shadow: boolean | undefined
}

/** The share of the runs in which a difference of the two is wanted to be found. */
const POWER = 0.8
const ALPHA = 0.05

/** Whether the outcome that a case expects is the positive one; undefined where the case does not say. */
export const expectedSide = ({ positive }: Expectations): boolean | undefined => positive ?? undefined

/** The pair of one run; `expected` is the side of the outcome that is right. Undefined without the shadow's acts. */
export const shadowPair = (
  run: Deliberation,
  by: ActivePolicy,
  shadow: string,
  expected: boolean
): ShadowPair | undefined => {
  const fact = run.shadows.get(shadow)
  const positive = run.commitment?.positive
  if (fact === undefined) return undefined
  const voteOf = agentVotes(run, by)
  // A vote for the outcome of the run is a right one where that outcome is the expected one.
  const isRight = (name: string) => {
    const vote = voteOf(name)
    return vote === undefined ? undefined : vote.isForOutcome === (positive === expected)
  }
  return { runId: run.runId, participant: isRight(fact.as), shadow: isRight(shadow) }
}

/** How the votes of two voters differ over the same sessions. */
export interface PairedVotes {
  /** Sessions in which both have voted. */
  readonly n: number
  readonly participantRight: number
  readonly shadowRight: number
  /** Right votes of the one where the other's is wrong. */
  readonly participantOnly: number
  readonly shadowOnly: number
}

export const pairedVotes = (pairs: ReadonlyArray<ShadowPair>): PairedVotes => {
  const both = pairs.filter(({ participant, shadow }) => participant !== undefined && shadow !== undefined)
  const count = (test: (pair: ShadowPair) => boolean) => both.filter(test).length
  return {
    n: both.length,
    participantRight: count(({ participant }) => participant === true),
    shadowRight: count(({ shadow }) => shadow === true),
    participantOnly: count(({ participant, shadow }) => participant === true && shadow === false),
    shadowOnly: count(({ participant, shadow }) => participant === false && shadow === true)
  }
}

const of = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** What the first half of the runs says about the number that is needed, in words. */
export const shadowPlanText = (
  pairs: ReadonlyArray<ShadowPair>,
  { maxRuns }: Plan,
  difference = DEFAULT_MIN_DROP
): string => {
  const { n, participantOnly, shadowOnly } = pairedVotes(pairs)
  const apart = participantOnly + shadowOnly
  if (n === 0)
    return "the participant and its shadow have voted in no run of the first half: the needed runs are not known"
  const said = `the participant and its shadow differ in ${apart} of ${of(n, "run")}`
  if (apart === 0) return `${said}: no number of runs follows from that; one more difference would need more`
  const discordance = apart / n
  const wanted = Math.min(difference, discordance)
  const needed = pairedRunsNeeded({ discordance, difference: wanted, alpha: ALPHA, power: POWER })
  const found = `to find a difference of ${Math.round(100 * wanted)} points in 80 of 100 gates`
  if (needed === undefined) return `${said}: ${found} needs more than 5,000 runs`
  const limit = needed > maxRuns ? `, and --max-runs allows ${maxRuns}` : ""
  return `${said}: ${found} needs ${of(needed, "run")}${limit}`
}

/** Whether the shadow votes as well as its participant over the same sessions: McNemar's exact test, two-sided. */
export const shadowCheck = (shadow: string, pairs: ReadonlyArray<ShadowPair>, looks: number): GateCheck => {
  const votes = pairedVotes(pairs)
  const { n, participantOnly, participantRight, shadowOnly, shadowRight } = votes
  const lacking = pairs.length - n
  const left = lacking === 0 ? "" : `; ${of(lacking, "run")} without a vote of both`
  if (n === 0) {
    return {
      name: "shadow",
      verdict: "inconclusive",
      message: `${shadow} and its participant have voted together in no run${left}`
    }
  }
  const p = mcNemar({ firstOnly: participantOnly, secondOnly: shadowOnly })
  const figures = `${shadow} is right in ${shadowRight} of ${of(n, "run")}, its participant in ${participantRight}`
  const split = `${shadowOnly} against ${participantOnly} where they differ, p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`}`
  const isClear = p <= ALPHA / looks
  const verdict = !isClear ? "inconclusive" : shadowOnly > participantOnly ? "pass" : "fail"
  const word = !isClear
    ? "may be chance"
    : shadowOnly > participantOnly
      ? "the shadow is better"
      : "the shadow is worse"
  return { name: "shadow", verdict, message: `${figures}: ${split}, ${word}${left}` }
}
