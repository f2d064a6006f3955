import type { SessionRecord } from "../../policies/SessionRecord.ts"
import { runSliced, type Sliced } from "../../values/Sliced.ts"
import type { Statement } from "../Act.ts"

/** Up to this many open acts every set of them is tried; beyond it the heaviest come first. */
export const MAX_ENUMERATED = 12

/** An act by so many of these participants. */
export interface Step {
  readonly count: number
  readonly of: ReadonlyArray<string>
  /** Message type. */
  readonly act: string
  /** A vote, or the confidence that an evaluation must reach. */
  readonly value?: string
  readonly proposalId?: string
}

/** Who can still act, and with which message types. */
export interface Outstanding {
  readonly participantId: string
  readonly acts: ReadonlyArray<string>
}

/** One act that is open now. Moves of one `kind` have the same consequence. */
export interface Move {
  readonly statement: Statement
  readonly kind: string
}

/** The outcomes that one mode can still reach from its acts. */
export interface ModeForecast {
  readonly record: SessionRecord
  /**
   * These records bound every record that the session can end with, once all outstanding participants have acted: an
   * outcome that all of them allow is certain, one that all of them refuse is impossible. Empty when there are too
   * many.
   */
  readonly ends: ReadonlyArray<SessionRecord>
  readonly outstanding: ReadonlyArray<Outstanding>
  readonly moves: ReadonlyArray<Move>
  /** The smallest sets of acts after which the outcome is allowed; each is a list of steps, all of them needed. */
  readonly needs: (positive: boolean) => ReadonlyArray<ReadonlyArray<Step>>
  /** Whether `needs` has tried every set. */
  readonly isExact: boolean
}

export const statement = (by: string, type: string, proposalId: string, rest: Partial<Statement> = {}): Statement => ({
  by,
  type,
  proposalId,
  ...rest
})

/** A step in words: "1 of a, b votes APPROVE". */
export const stepText = ({ act, count, of, proposalId, value }: Step): string => {
  const actors = count === of.length ? of.join(" and ") : `${count} of ${of.join(", ")}`
  const isOne = count === 1
  const about = proposalId === undefined ? "" : ` on ${proposalId}`
  if (act === "Vote") return `${actors} ${isOne ? "votes" : "vote"} ${value}${about}`
  return `${actors} ${isOne ? "sends" : "send"} ${act}${value === undefined ? "" : ` (${value})`}${about}`
}

/** The smallest sets of items that satisfy, by trying all sets by size; at most `MAX_ENUMERATED` items. */
export const smallestSets = <A>(
  items: ReadonlyArray<A>,
  satisfies: (chosen: ReadonlyArray<A>) => boolean
): ReadonlyArray<ReadonlyArray<A>> => runSliced(smallestSetsInSlices(items, satisfies))

/** The same; each trial is a slice. */
export function* smallestSetsInSlices<A>(
  items: ReadonlyArray<A>,
  satisfies: (chosen: ReadonlyArray<A>) => boolean
): Sliced<ReadonlyArray<ReadonlyArray<A>>> {
  for (let size = 0; size <= items.length; size += 1) {
    const found: Array<ReadonlyArray<A>> = []
    for (const chosen of combinations(items, size)) {
      yield
      if (satisfies(chosen)) found.push(chosen)
    }
    if (found.length > 0) return found
  }
  return []
}

const combinations = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> => {
  if (size === 0) return [[]]
  return items.flatMap((item, at) => combinations(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]))
}

/** The number of sets of a size. */
export const choose = (items: number, size: number): number => {
  let ways = 1
  for (let at = 1; at <= size; at += 1) ways = (ways * (items - size + at)) / at
  return Math.round(ways)
}
