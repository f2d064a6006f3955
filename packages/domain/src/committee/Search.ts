import { leastWithoutFailure, lowestRate } from "../statistics/Binomial.ts"
import type { CaseShare } from "../statistics/CasePatterns.ts"
import { wilson } from "../statistics/Wilson.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { type Candidate, canTryAll, cheapestInSlices, greedyInSlices, removedBy } from "./SearchCandidates.ts"
import {
  accuracies,
  costsOf,
  type Half,
  halfOfRuns,
  meanSaved,
  neededSeats,
  type SearchRun,
  sameCases,
  undecidedCases
} from "./SearchHalf.ts"
import type { CommitteeSearch, CountedShare, NamedCommittee, SearchEffort } from "./WorthTypes.ts"

export interface SearchOptions {
  readonly seats: ReadonlyArray<string>
  readonly runs: ReadonlyArray<SearchRun>
  readonly sha256: Sha256
  /** Most seats of a subset. */
  readonly maxSeats?: number
  /** Policies of `underPolicies` that are tried. */
  readonly policies?: number
  readonly keepAgreement?: number
  readonly alpha?: number
}

/** The half of a case: the lowest bit of SHA-256 over it, so all its repeats and a later search have the same. */
export const halfOf = (sha256: Sha256, caseId: string): 0 | 1 =>
  ((sha256(new TextEncoder().encode(caseId)).at(-1) ?? 0) & 1) === 0 ? 0 : 1

/**
 * The cheapest subset of seats with the same decisions. It is chosen on one half of the cases, and only this one is
 * tried on the other half, because the best of many looks better than it is. Nothing is named that fails there.
 */
export const searchCommittee = (options: SearchOptions): CommitteeSearch => runSliced(searchInSlices(options))

/** The same in slices. */
export function* searchInSlices({
  alpha = 0.05,
  keepAgreement = 0.98,
  maxSeats,
  policies = 0,
  runs,
  seats,
  sha256
}: SearchOptions): Sliced<CommitteeSearch> {
  const halves = [...Map.groupBy(runs, ({ caseId }) => caseId)].map(
    ([caseId, own]) => [halfOf(sha256, caseId), own] as const
  )
  const halfWith = (bit: 0 | 1) => halfOfRuns(halves.flatMap(([half, own]) => (half === bit ? own : [])))
  yield
  const choosing = halfWith(0)
  yield
  const confirming = halfWith(1)
  yield
  const needed = leastWithoutFailure(keepAgreement, alpha)
  const { cases } = confirming
  if (cases < needed) return { kind: "refused", reason: "too few runs", cases, needed, missing: needed - cases }
  const isTried = canTryAll(choosing, seats.length, policies + 1)
  const bounds = {
    seats,
    costs: costsOf(choosing, seats.length),
    maxSeats: Math.min(maxSeats ?? seats.length, seats.length - 1),
    keepAgreement,
    needed: Array.from({ length: policies + 1 }, (_, policy) => neededSeats(choosing, policy, seats))
  }
  yield
  const { candidate, candidates, excluded } = yield* (isTried ? cheapestInSlices : greedyInSlices)(choosing, bounds)
  const search: SearchEffort = {
    method: isTried ? "all" : "greedy",
    ...{ candidates, policies, excluded },
    choosing: { runs: choosing.runs.length, cases: choosing.cases },
    confirming: { runs: confirming.runs.length, cases }
  }
  if (candidate === undefined || choosing.cases === 0) return { kind: "none", reason: "none chosen", search }
  const committee = confirmed(confirming, candidate, seats, alpha)
  return committee.agreement.lowerBound >= keepAgreement
    ? { kind: "named", committee, search }
    : { kind: "none", reason: "not confirmed", search }
}

const confirmed = (
  half: Half,
  { kept, policy }: Candidate,
  seats: ReadonlyArray<string>,
  alpha: number
): NamedCommittee => {
  const removed = removedBy({ kept }, seats)
  const same = sameCases(half, policy, removed)
  const accuracy = accuracies(half, policy, removed)
  const costs = costsOf(half, seats.length)
  const [all, left] = [costs, kept.map((seat) => costs[seat] ?? 0)].map((list) =>
    list.reduce((sum, one) => sum + one, 0)
  )
  const costUsd = (all ?? 0) - (left ?? 0)
  const meanMs = meanSaved(half, (seat) => kept.includes(seat))
  return {
    seats: kept.map((seat) => seats[seat] ?? ""),
    removed: [...removed],
    ...(policy > 0 && { policy: policy - 1 }),
    // A part of a case counts as none for the bound, which is exact for whole cases and safe for parts.
    agreement: {
      ...wilson(same, half.cases),
      lowerBound: lowestRate(Math.floor(same), half.cases, alpha),
      undecided: undecidedCases(half, policy, removed)
    },
    ...(accuracy !== undefined && { accuracy: { all: countedOf(accuracy.all), named: countedOf(accuracy.named) } }),
    saved: {
      costUsd,
      ...(all !== undefined && all > 0 && { costShare: costUsd / all }),
      ...(meanMs !== undefined && { meanMs })
    }
  }
}

const countedOf = ({ count, high, low, n, rate }: CaseShare): CountedShare => ({ count, n, rate, low, high })
