import type { Sliced } from "../values/Sliced.ts"
import { type Half, keeps } from "./SearchHalf.ts"

/** Seats up to which all subsets are tried. */
export const MAX_TRIED_SEATS = 12
/** Recounts up to which all subsets are tried: more than those of 12 seats over the runs of one search. */
const MAX_RECOUNTS = 50_000_000

/** Whether all subsets of the seats can be tried under each policy. */
export const canTryAll = ({ groups }: Half, seats: number, policies: number): boolean =>
  seats <= MAX_TRIED_SEATS && 2 ** seats * policies * groups.length <= MAX_RECOUNTS

/** A subset of the seats under a policy: 0 is that of each run. */
export interface Candidate {
  readonly kept: ReadonlyArray<number>
  readonly policy: number
  /** Of the kept seats on the choosing half. */
  readonly costUsd: number
}

/** What a search of subsets may try. */
export interface Bounds {
  readonly seats: ReadonlyArray<string>
  readonly costs: ReadonlyArray<number>
  readonly maxSeats: number
  readonly keepAgreement: number
  /** By the policy: seats that no subset can leave out. */
  readonly needed: ReadonlyArray<ReadonlySet<string>>
}

/** What was found, and how many subsets were tried or excluded. */
export interface Chosen {
  readonly candidate: Candidate | undefined
  readonly candidates: number
  readonly excluded: number
}

export const removedBy = ({ kept }: Pick<Candidate, "kept">, seats: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(seats.filter((_, seat) => !kept.includes(seat)))

const candidateOf = (kept: ReadonlyArray<number>, policy: number, costs: ReadonlyArray<number>): Candidate => ({
  kept,
  policy,
  costUsd: kept.reduce((sum, seat) => sum + (costs[seat] ?? 0), 0)
})

/** The cheapest first; of equal costs the one with fewer seats, then the policy of the runs, then the first seats. */
const inOrder = (one: Candidate, other: Candidate): number =>
  one.costUsd - other.costUsd ||
  one.kept.length - other.kept.length ||
  one.policy - other.policy ||
  one.kept.reduce((order, seat, at) => order || seat - (other.kept[at] ?? 0), 0)

/** The cheapest of all subsets that keeps the outcomes of a half; each subset is a slice. */
export function* cheapestInSlices(half: Half, bounds: Bounds): Sliced<Chosen> {
  const { costs, keepAgreement, maxSeats, needed, seats } = bounds
  const candidates: Array<Candidate> = []
  let excluded = 0
  for (const [policy, own] of needed.entries()) {
    for (let mask = 1; mask < 2 ** seats.length - 1; mask++) {
      const kept = seats.flatMap((_, seat) => ((mask >> seat) & 1 ? [seat] : []))
      if (kept.length > maxSeats) continue
      if (seats.some((seat, at) => own.has(seat) && ((mask >> at) & 1) === 0)) excluded += 1
      else candidates.push(candidateOf(kept, policy, costs))
    }
    yield
  }
  candidates.sort(inOrder)
  for (const [tried, candidate] of candidates.entries()) {
    yield
    if (keeps(half, candidate.policy, removedBy(candidate, seats), keepAgreement)) {
      return { candidate, candidates: tried + 1, excluded }
    }
  }
  return { candidate: undefined, candidates: candidates.length, excluded }
}

/** Leaves out one seat after the other, the most expensive that can go first, until none can. */
export function* greedyInSlices(half: Half, bounds: Bounds): Sliced<Chosen> {
  const { costs, keepAgreement, maxSeats, needed, seats } = bounds
  const found: Array<Candidate> = []
  let [candidates, excluded] = [0, 0]
  for (const [policy, own] of needed.entries()) {
    let kept: ReadonlyArray<number> = [...seats.keys()]
    for (let isShorter = true; isShorter; ) {
      const next = kept
        .map((seat) =>
          candidateOf(
            kept.filter((one) => one !== seat),
            policy,
            costs
          )
        )
        .toSorted(inOrder)
      isShorter = false
      for (const candidate of next) {
        yield
        const removed = removedBy(candidate, seats)
        if (candidate.kept.length === 0) continue
        if ([...removed].some((seat) => own.has(seat))) {
          excluded += 1
          continue
        }
        candidates += 1
        if (!keeps(half, policy, removed, keepAgreement)) continue
        kept = candidate.kept
        isShorter = true
        break
      }
    }
    if (kept.length < seats.length && kept.length <= maxSeats) found.push(candidateOf(kept, policy, costs))
  }
  return { candidate: found.toSorted(inOrder)[0], candidates, excluded }
}
