import type { NotCounted } from "../insight/Recount.ts"
import { highestRate } from "../statistics/Binomial.ts"
import {
  addPattern,
  type CasePatterns,
  caseShare,
  emptyCasePatterns,
  patternColumns
} from "../statistics/CasePatterns.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import type { SeatInRun, SeatWorth, WorthRun } from "./WorthTypes.ts"

/** Cases without a change from which on a seat is named as idle. */
export const LEAST_IDLE_CASES = 300

/** The recounts of a committee so far; the sums are by the index of the seat. */
export interface Worth {
  readonly seats: ReadonlyArray<string>
  readonly patterns: CasePatterns
  readonly sums: ReadonlyArray<SeatSums>
}

interface SeatSums {
  runs: number
  costUsd: number
  /** Of recounted runs with a truth. */
  judgedCostUsd: number
  timeMs: number
  savedMs: number
  timed: number
  readonly notCounted: Map<NotCounted, number>
}

export const emptyWorth = (seats: ReadonlyArray<string>): Worth => ({
  seats,
  patterns: emptyCasePatterns(),
  sums: seats.map(() => ({
    runs: 0,
    costUsd: 0,
    judgedCostUsd: 0,
    timeMs: 0,
    savedMs: 0,
    timed: 0,
    notCounted: new Map()
  }))
})

const OUTCOMES = { same: "s", none: "n", opposite: "o" } as const
/** Letters of one seat in a pattern: the recount, and whether the vote was pivotal. */
const LETTERS = 2
const NO_LETTERS = "--"

/** Adds a run, in place. */
export const addWorth = ({ patterns, seats, sums }: Worth, run: WorthRun): void => {
  const { caseId, isRight } = run
  const letters = seats.map((_, index) => {
    const seat = run.seats[index]
    if (seat === undefined) return NO_LETTERS
    const { isPivotal, recount } = seat
    const own = sums[index]
    if (own !== undefined) addSums(own, seat, isRight !== undefined)
    const turned = isPivotal === undefined ? "-" : isPivotal ? "p" : "q"
    return `${recount.kind === "counted" ? OUTCOMES[recount.outcome] : "-"}${turned}`
  })
  addPattern(patterns, caseId, `${letters.join("")}${isRight === undefined ? "-" : isRight ? "r" : "w"}`)
}

const addSums = (own: SeatSums, { costUsd, recount, savedMs, timeMs }: SeatInRun, isJudged: boolean): void => {
  own.runs += 1
  own.costUsd += costUsd
  if (recount.kind === "not counted") {
    own.notCounted.set(recount.reason, (own.notCounted.get(recount.reason) ?? 0) + 1)
  } else if (isJudged) own.judgedCostUsd += costUsd
  if (timeMs === undefined || savedMs === undefined) return
  own.timed += 1
  own.timeMs += timeMs
  own.savedMs += savedMs
}

/** What each seat is worth, in the order of the seats. */
export const seatWorths = (worth: Worth): ReadonlyArray<SeatWorth> => runSliced(seatWorthsInSlices(worth))

/** The same; each seat is a slice. */
export function* seatWorthsInSlices({ patterns, seats, sums }: Worth): Sliced<ReadonlyArray<SeatWorth>> {
  const columns = patternColumns(patterns)
  const worths: Array<SeatWorth> = []
  for (const [index, seat] of seats.entries()) {
    yield
    const at = index * LETTERS
    const share = (featureOf: (recount: string, truth: string, turned: string) => boolean | undefined) => {
      const { count, high, low, n, rate } = caseShare(columns, (pattern) =>
        featureOf(pattern.charAt(at), pattern.charAt(pattern.length - 1), pattern.charAt(at + 1))
      )
      return { count, n, rate, low, high }
    }
    const judged = (wanted: string) =>
      share((recount, truth) => (recount === "-" || truth === "-" ? undefined : recount !== "s" && truth === wanted))
    const changed = share((recount) => (recount === "-" ? undefined : recount !== "s"))
    const { cases } = caseShare(columns, (pattern) => (pattern.charAt(at) === "-" ? undefined : true))
    const [rightLost, wrongPrevented] = [judged("r"), judged("w")]
    const own = sums[index]
    if (own === undefined) continue
    worths.push({
      seat,
      runs: changed.n,
      cases,
      notCounted: Object.fromEntries(own.notCounted),
      changed,
      rightLost,
      wrongPrevented,
      oppositeAllowed: share((recount) => (recount === "-" ? undefined : recount === "o")).count,
      pivotal: share((_recount, _truth, turned) => (turned === "-" ? undefined : turned === "p")),
      costUsd: own.costUsd,
      costPerRunUsd: own.runs === 0 ? 0 : own.costUsd / own.runs,
      ...(own.timed > 0 && { meanTimeMs: own.timeMs / own.timed, meanSavedMs: own.savedMs / own.timed }),
      ...(rightLost.count > 0 && { costPerRightUsd: own.judgedCostUsd / rightLost.count }),
      ...(changed.count === 0 && cases >= LEAST_IDLE_CASES && { idle: { atMost: highestRate(0, cases) } })
    })
  }
  return worths
}
