import type { Run } from "@runplane/api"
import { type ListedDecision, standardMode, type VerdictState, type VoteSide, verdictWord } from "@runplane/domain"
import { verdictTone } from "../decision/VerdictTone.ts"
import { counted, cut, TITLE_LENGTH, whole } from "../format/Format.ts"
import type { Tone } from "../format/Status.ts"
import { queryValue } from "../query/QueryCompletion.ts"
import { runFacts } from "../run/RunFacts.ts"

/** A decided run as a glyph of the overview. */
export interface DecidedRun {
  readonly id: string
  /** Milliseconds. */
  readonly at: number
  readonly question: string
  readonly scenario: string
  readonly verdict: VerdictState
  readonly word: string
  readonly tone: Tone
  readonly voters: ReadonlyArray<readonly [vote: VoteSide, weight: number]>
  /** `5 for, 1 against, 6 of 7 voted`. */
  readonly counts: string
  readonly case: string | undefined
  readonly isFlip: boolean
}

/** Runs without a scenario. */
export const NO_SCENARIO = "Without a scenario"

/** Verdicts that say an outcome; a refusal is none. */
const OUTCOMES: ReadonlySet<VerdictState> = new Set<VerdictState>(["for", "against", "decided"])

const decisionOf = ({ decision }: Run): ListedDecision | undefined => decision

/** The outcome of a run, equal for equal ones; undefined without one. */
const outcomeOf = (run: Run): string | undefined => {
  const decision = decisionOf(run)
  return decision === undefined || !OUTCOMES.has(decision.verdict)
    ? undefined
    : JSON.stringify([decision.verdict, decision.verdict === "decided" ? decision.action : undefined])
}

/** The runs with a decision, the oldest first. `flipped`: ids of those that came out otherwise than before. */
export const decidedRuns = (runs: ReadonlyArray<Run>, flipped: ReadonlySet<string>): ReadonlyArray<DecidedRun> =>
  runs
    .flatMap((run) => {
      const decision = decisionOf(run)
      if (decision === undefined) return []
      const { scenario, title } = runFacts(run)
      const { counts, question, seats: voters = [], verdict } = decision
      return [
        {
          id: run.id,
          at: Date.parse(run.endedAt ?? run.createdAt),
          question: cut(question ?? title, TITLE_LENGTH),
          scenario: scenario ?? NO_SCENARIO,
          verdict,
          word: verdictWord(verdict, standardMode(run.modeName ?? "")),
          tone: verdictTone(verdict),
          voters: voters.map(([, vote, weight]) => [vote, weight] as const),
          counts,
          case: decision.case,
          isFlip: flipped.has(run.id)
        }
      ]
    })
    .toSorted((one, other) => one.at - other.at)

/** The decided runs of one scenario, the oldest first. */
export interface DecidedRow {
  readonly scenario: string
  readonly runs: ReadonlyArray<DecidedRun>
  /** `8 approved, 2 declined, 1 stopped by the policy`. */
  readonly summary: string
}

/** The runs by scenario: those with flips first, then by the number of runs. */
export const decidedRows = (decided: ReadonlyArray<DecidedRun>): ReadonlyArray<DecidedRow> =>
  [...Map.groupBy(decided, ({ scenario }) => scenario)]
    .map(([scenario, runs]) => ({ scenario, runs, summary: summaryOf(runs) }))
    .toSorted(
      (one, other) =>
        flipsIn(other.runs) - flipsIn(one.runs) ||
        other.runs.length - one.runs.length ||
        (one.scenario < other.scenario ? -1 : 1)
    )

const flipsIn = (runs: ReadonlyArray<DecidedRun>) => runs.filter(({ isFlip }) => isFlip).length

const summaryOf = (runs: ReadonlyArray<DecidedRun>): string =>
  [...Map.groupBy(runs, ({ word }) => word)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([word, some]) => `${whole(some.length)} ${word.toLowerCase()}`)
    .join(", ")

/** A case that came out otherwise than in the week before. */
export interface Flip {
  readonly case: string
  readonly question: string
  readonly scenario: string
  /** The newest run with the other outcome, and the newest of the week before with the usual one. */
  readonly run: string
  readonly earlier: string
  readonly earlierAt: number
  readonly isNow: Outcomes
  readonly was: Outcomes
  /** All runs of the time that came out otherwise. */
  readonly runs: ReadonlyArray<string>
}

interface Outcomes {
  readonly word: string
  readonly tone: Tone
  /** `3 of 4`; empty for the only run. */
  readonly share: string
}

const outcomesOf = (run: Run, count: number, all: number): Outcomes => {
  const verdict = decisionOf(run)?.verdict ?? "none"
  return {
    word: verdictWord(verdict, standardMode(run.modeName ?? "")),
    tone: verdictTone(verdict),
    share: all === 1 ? "" : `${whole(count)} of ${whole(all)}`
  }
}

const newestFirst = (runs: ReadonlyArray<Run>): ReadonlyArray<Run> =>
  runs.toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))

/** The most frequent outcome, of equally frequent ones that of the newest run. */
const usualOutcome = (newest: ReadonlyArray<Run>): string | undefined =>
  [...Map.groupBy(newest, outcomeOf)].toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0]

/**
 * The cases of which runs came out otherwise than most of their runs of the week before, the newest first. A case that
 * was not decided in that week is none.
 */
export const flipsOf = (runs: ReadonlyArray<Run>, before: ReadonlyArray<Run>): ReadonlyArray<Flip> => {
  const withOutcome = (some: ReadonlyArray<Run>) => newestFirst(some.filter((run) => outcomeOf(run) !== undefined))
  const earlier = Map.groupBy(withOutcome(before), (run) => decisionOf(run)?.case)
  return [...Map.groupBy(withOutcome(runs), (run) => decisionOf(run)?.case)].flatMap(([key, now]) => {
    const then = key === undefined ? undefined : earlier.get(key)
    if (key === undefined || then === undefined) return []
    const usual = usualOutcome(then)
    const others = now.filter((run) => outcomeOf(run) !== usual)
    const alike = then.filter((run) => outcomeOf(run) === usual)
    const [run] = others
    const [last] = alike
    if (run === undefined || last === undefined) return []
    const { scenario, title } = runFacts(run)
    return [
      {
        case: key,
        question: cut(decisionOf(run)?.question ?? title, TITLE_LENGTH),
        scenario: scenario ?? NO_SCENARIO,
        run: run.id,
        earlier: last.id,
        earlierAt: Date.parse(last.endedAt ?? last.createdAt),
        isNow: outcomesOf(run, others.length, now.length),
        was: outcomesOf(last, alike.length, then.length),
        runs: others.map(({ id }) => id)
      }
    ]
  })
}

/** Cases of one search: a search has at most 2,000 characters. */
const CASES_PER_SEARCH = 40

/** The searches for earlier runs of the cases of these runs. */
export const caseSearches = (runs: ReadonlyArray<Run>): ReadonlyArray<string> => {
  const cases = [...new Set(runs.flatMap((run) => decisionOf(run)?.case ?? []))].toSorted()
  return Array.from({ length: Math.ceil(cases.length / CASES_PER_SEARCH) }, (_, at) => {
    const some = cases.slice(at * CASES_PER_SEARCH, (at + 1) * CASES_PER_SEARCH)
    return `case:(${some.map(queryValue).join(",")}) outcome:(for,against,decided)`
  })
}

/** What a glyph says to a pointer and to a screen reader: question, verdict, votes. */
export const decidedTitle = ({ counts, isFlip, question, word }: DecidedRun): string =>
  `${question}: ${word}${isFlip ? ", other than in the week before" : ""}${counts === "" ? "" : ` (${counts})`}`

/** The note beside the band: how many decisions it shows. */
export const decidedNote = (shown: number, total: number): string =>
  shown < total ? `the latest ${whole(shown)} of ${counted(total, "decision")}` : counted(total, "decision")
