import { patternColumns } from "../statistics/CasePatterns.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import type { CommitteeRun } from "./CommitteeRun.ts"
import { addRun, type Committee, emptyCommittee, pairsOfLast, seatErrors } from "./Independence.ts"
import type { ResampleOptions, SeatErrors, SeatPair } from "./IndependenceTypes.ts"
import type { ShadowInRun, ShadowSeat } from "./ShadowInRun.ts"
import { noShadows, shadowsOf, sumsOfShadow, type TriedShadows } from "./TriedShadows.ts"

/** The errors of the shadows of a committee so far. */
export interface ShadowCommittees {
  readonly seats: ReadonlyArray<string>
  /** Shadows of others are not compared. */
  readonly participants: ReadonlyArray<string>
  readonly tried: TriedShadows<Committee>
}

/** How often a shadow erred, and with which seats. It is not a seat: no figure of the committee has it. */
export interface ShadowErrors extends ShadowSeat, Omit<SeatErrors, "seat"> {
  /** Ended runs with its acts, or with the reason why it did not act. */
  readonly tried: number
  /** With each seat, also its own participant, which is `left` or `right` beside the name of the shadow. */
  readonly pairs: ReadonlyArray<SeatPair>
}

export const emptyShadowCommittees = (
  seats: ReadonlyArray<string>,
  participants: ReadonlyArray<string> = seats
): ShadowCommittees => ({ seats, participants, tried: noShadows() })

/** Adds a run with its shadows, in place. */
export const addShadowVotes = (
  { participants, seats, tried }: ShadowCommittees,
  run: CommitteeRun,
  shadows: ReadonlyArray<Pick<ShadowInRun, "agent" | "as" | "shadow" | "vote">>
): void => {
  for (const one of shadows) {
    if (!participants.includes(one.as)) continue
    const sums = sumsOfShadow(tried, one, () => emptyCommittee([...seats, one.shadow]))
    if (sums !== undefined) addRun(sums, { ...run, votes: [...seats.map((_, at) => run.votes[at]), one.vote] })
  }
}

/** The errors of each shadow, by name, and how many shadows have no figures. */
export const shadowErrors = (
  committees: ShadowCommittees,
  options: ResampleOptions = {}
): { readonly shadows: ReadonlyArray<ShadowErrors>; readonly leftOut: number } =>
  runSliced(shadowErrorsInSlices(committees, options))

/** The same in slices. */
export function* shadowErrorsInSlices(
  { seats, tried }: ShadowCommittees,
  options: ResampleOptions = {}
): Sliced<{ readonly shadows: ReadonlyArray<ShadowErrors>; readonly leftOut: number }> {
  const { leftOut, shadows } = shadowsOf(tried)
  const found: Array<ShadowErrors> = []
  for (const { shadow, sums } of shadows) {
    const columns = patternColumns(sums.patterns)
    yield
    const { seat: _, ...errors } = seatErrors(columns, shadow.shadow, seats.length)
    const runs = columns.count.reduce((sum, count) => sum + count, 0)
    found.push({ ...shadow, tried: runs, ...errors, pairs: yield* pairsOfLast(columns, sums.seats, options) })
  }
  return { shadows: found, leftOut }
}
