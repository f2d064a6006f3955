import { mcNemar } from "../statistics/McNemar.ts"
import { sumUsd } from "../values/Money.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { type CommitteeRun, erred } from "./CommitteeRun.ts"
import { LEAST_SHARED_RUNS } from "./Independence.ts"
import { addWorth, emptyWorth, seatWorthsInSlices, type Worth } from "./SeatWorth.ts"
import type { ShadowInRun, ShadowSeat } from "./ShadowInRun.ts"
import { noShadows, shadowsOf, sumsOfShadow, type TriedShadows } from "./TriedShadows.ts"
import type { SeatWorth } from "./WorthTypes.ts"

/** Right votes of a shadow and of its participant, over the runs with a truth in which both voted for or against. */
export interface PairedRight {
  readonly runs: number
  readonly cases: number
  readonly participantRight: number
  readonly shadowRight: number
  /** Runs in which one of them is right and the other is not. */
  readonly participantOnly: number
  readonly shadowOnly: number
  /** McNemar's exact test, two-sided. A case counts once, for the one that is right in more of its runs. */
  readonly p: number
  /** Fewer than `LEAST_SHARED_RUNS` of these cases: the two are not compared yet. */
  readonly isTooFew: boolean
}

/** What other decisions there had been with the shadow in place of its participant, by recounts. */
export interface ShadowWorth
  extends ShadowSeat,
    Omit<
      SeatWorth,
      "seat" | "pivotal" | "costUsd" | "costPerRunUsd" | "costPerRightUsd" | "meanTimeMs" | "meanSavedMs"
    > {
  /** Ended runs with its acts, or with the reason why it did not act. */
  readonly tried: number
  /** Of its model calls; absent where the log has none. */
  readonly cost?: {
    readonly runs: number
    readonly costUsd: number
    readonly costPerRunUsd: number
    readonly guessedCostUsd: number
  }
  readonly paired: PairedRight
}

interface ShadowSums {
  readonly worth: Worth
  readonly cost: { runs: number; usd: number; guessedUsd: number }
  tried: number
  readonly cases: Map<string, { lead: number }>
  readonly right: { runs: number; participant: number; shadow: number; both: number }
}

/** The recounts with the shadows of a committee so far. */
export interface ShadowWorths {
  readonly seats: ReadonlyArray<string>
  /** Shadows of others are not counted. */
  readonly participants: ReadonlyArray<string>
  readonly tried: TriedShadows<ShadowSums>
}

export const emptyShadowWorths = (
  seats: ReadonlyArray<string>,
  participants: ReadonlyArray<string> = seats
): ShadowWorths => ({ seats, participants, tried: noShadows() })

const emptySums = (): ShadowSums => ({
  worth: emptyWorth([""]),
  cost: { runs: 0, usd: 0, guessedUsd: 0 },
  tried: 0,
  cases: new Map(),
  right: { runs: 0, participant: 0, shadow: 0, both: 0 }
})

/** Adds a run with its shadows, in place. */
export const addShadowWorths = (
  { participants, seats, tried }: ShadowWorths,
  run: CommitteeRun,
  shadows: ReadonlyArray<ShadowInRun>
): void => {
  const { caseId, isRight } = run
  for (const one of shadows) {
    if (!participants.includes(one.as)) continue
    const sums = sumsOfShadow(tried, one, emptySums)
    if (sums === undefined) continue
    const { costUsd, guessedCostUsd, recount } = one
    addWorth(sums.worth, {
      ...{ caseId, isRight },
      seats: [{ recount, costUsd: 0, isPivotal: undefined, timeMs: undefined, savedMs: undefined }]
    })
    sums.tried += 1
    if (costUsd !== undefined) {
      sums.cost.runs += 1
      sums.cost.usd = sumUsd([sums.cost.usd, costUsd])
      sums.cost.guessedUsd = sumUsd([sums.cost.guessedUsd, guessedCostUsd])
    }
    addPaired(sums, caseId, erred(run.votes[seats.indexOf(one.as)], run), erred(one.vote, run))
  }
}

const addPaired = (
  { cases, right }: ShadowSums,
  caseId: string,
  participant: boolean | undefined,
  shadow: boolean | undefined
): void => {
  if (participant === undefined || shadow === undefined) return
  const own = cases.get(caseId) ?? { lead: 0 }
  cases.set(caseId, own)
  own.lead += Number(participant) - Number(shadow)
  right.runs += 1
  if (!participant) right.participant += 1
  if (!shadow) right.shadow += 1
  if (!participant && !shadow) right.both += 1
}

const pairedOf = ({ cases, right: { both, participant, runs, shadow } }: ShadowSums): PairedRight => {
  const leads = [...cases.values()]
  return {
    ...{ runs, cases: cases.size, participantRight: participant, shadowRight: shadow },
    participantOnly: participant - both,
    shadowOnly: shadow - both,
    p: mcNemar({
      firstOnly: leads.filter(({ lead }) => lead < 0).length,
      secondOnly: leads.filter(({ lead }) => lead > 0).length
    }),
    isTooFew: cases.size < LEAST_SHARED_RUNS
  }
}

/** What each shadow is worth, by name, and how many shadows have no figures. */
export const shadowWorths = (
  worths: ShadowWorths
): { readonly shadows: ReadonlyArray<ShadowWorth>; readonly leftOut: number } => runSliced(shadowWorthsInSlices(worths))

/** The same in slices. */
export function* shadowWorthsInSlices({
  tried
}: ShadowWorths): Sliced<{ readonly shadows: ReadonlyArray<ShadowWorth>; readonly leftOut: number }> {
  const { leftOut, shadows } = shadowsOf(tried)
  const found: Array<ShadowWorth> = []
  for (const { shadow, sums } of shadows) {
    const [worth] = yield* seatWorthsInSlices(sums.worth)
    if (worth === undefined) continue
    const { cases, changed, idle, notCounted, oppositeAllowed, rightLost, runs, wrongPrevented } = worth
    const { cost, tried } = sums
    found.push({
      ...{ ...shadow, tried, runs, cases, notCounted, changed, rightLost, wrongPrevented, oppositeAllowed },
      ...(idle !== undefined && { idle }),
      ...(cost.runs > 0 && {
        cost: {
          ...{ runs: cost.runs, costUsd: cost.usd, costPerRunUsd: cost.usd / cost.runs },
          guessedCostUsd: cost.guessedUsd
        }
      }),
      paired: pairedOf(sums)
    })
  }
  return { shadows: found, leftOut }
}
