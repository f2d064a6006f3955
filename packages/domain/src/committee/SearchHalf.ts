import { allowsOpposite, type NotCounted, type Recount, recountWithout } from "../insight/Recount.ts"
import type { BoundPolicy } from "../policies/Policy.ts"
import { type CaseShare, shareOfCases } from "../statistics/CasePatterns.ts"
import { savedMs } from "./CriticalPath.ts"

/** A decided run that can be counted again. */
export interface SearchRun {
  readonly caseId: string
  readonly isRight?: boolean | undefined
  /** Under the policy that governed the run. */
  readonly recount: Recount
  /** The same run under each policy that is tried beside its own; undefined where it cannot be counted. */
  readonly underPolicies?: ReadonlyArray<Recount | undefined>
  /** By the index of the seat (`CommitteeFacts`). */
  readonly costUsd: ReadonlyArray<number>
  readonly atMs: ReadonlyArray<number | undefined>
}

/** Runs that every recount counts alike. */
interface Group {
  /** By the policy: its own, then those that are tried beside it. */
  readonly recounts: ReadonlyArray<Recount | undefined>
  /** A case weighs 1, divided among its runs. */
  weight: number
}

/** One half of the cases. */
export interface Half {
  readonly runs: ReadonlyArray<SearchRun>
  readonly cases: number
  /** The heaviest first, so that a subset that changes many outcomes is given up soon. */
  readonly groups: ReadonlyArray<Group>
  readonly groupOf: ReadonlyMap<SearchRun, Group>
}

/**
 * Groups the runs of a half. Without this: each subset counts the votes of each run again; costs minutes for 10,000
 * runs of 12 seats, because few committees vote in more than a few hundred ways.
 */
export const halfOfRuns = (runs: ReadonlyArray<SearchRun>): Half => {
  const runsOf = new Map<string, number>()
  for (const { caseId } of runs) runsOf.set(caseId, (runsOf.get(caseId) ?? 0) + 1)
  const groups = new Map<string, Group>()
  const groupOf = new Map<SearchRun, Group>()
  const policies = new Map<BoundPolicy, string>()
  const policyText = (policy: BoundPolicy) => {
    const text = policies.get(policy) ?? JSON.stringify(policy)
    policies.set(policy, text)
    return text
  }
  for (const run of runs) {
    const recounts = [run.recount, ...(run.underPolicies ?? [])]
    const key = recounts.map((recount) => (recount === undefined ? "" : recountKey(recount, policyText))).join("\n")
    const group = groups.get(key) ?? { recounts, weight: 0 }
    group.weight += 1 / (runsOf.get(run.caseId) ?? 1)
    groups.set(key, group)
    groupOf.set(run, group)
  }
  const ordered = [...groups].toSorted(
    ([oneKey, one], [otherKey, other]) => other.weight - one.weight || (oneKey < otherKey ? -1 : 1)
  )
  return { runs, cases: runsOf.size, groups: ordered.map(([, group]) => group), groupOf }
}

/** Equal for runs that every recount counts alike: ids of proposals are replaced by their order. */
const recountKey = (
  { acts, decided, mode, positive, terms }: Recount,
  policyText: (policy: BoundPolicy) => string
): string => {
  const ids = new Map<string, number>()
  const idOf = (proposalId: string) => {
    const known = ids.get(proposalId) ?? ids.size
    ids.set(proposalId, known)
    return known
  }
  const said = acts.map(({ proposalId, ...act }) => [idOf(proposalId), act])
  const { initiator, participants, policy, release } = terms
  const about = [mode, positive, decided.map(idOf), said, initiator, participants, release]
  return JSON.stringify(about) + policyText(policy)
}

const isSame = ({ recounts }: Group, policy: number, removed: ReadonlySet<string>): boolean => {
  const recount = recounts[policy]
  const result = recount === undefined ? undefined : recountWithout(recount, removed)
  return result?.kind === "counted" && result.outcome === "same"
}

/** Weights are sums of fractions. */
const ROUNDING = 1e-9

/** Whether the decision stays the same in at least this share of the cases. */
export const keeps = (half: Half, policy: number, removed: ReadonlySet<string>, share: number): boolean => {
  const most = (1 - share) * half.cases + ROUNDING
  let changed = 0
  for (const group of half.groups) {
    if (!isSame(group, policy, removed)) changed += group.weight
    if (changed > most) return false
  }
  return true
}

/** The number of cases with the same decision; a case whose runs differ counts by their share. */
export const sameCases = (half: Half, policy: number, removed: ReadonlySet<string>): number => {
  const same = half.groups.reduce((sum, group) => sum + (isSame(group, policy, removed) ? group.weight : 0), 0)
  return wholeIfClose(same, half.cases)
}

const wholeIfClose = (sum: number, cases: number): number =>
  Math.abs(sum - Math.round(sum)) < ROUNDING * (1 + cases) ? Math.round(sum) : sum

/** Of the cases with the same decision, those whose votes would also have allowed the opposite one. */
export const undecidedCases = (half: Half, policy: number, removed: ReadonlySet<string>): number => {
  const undecided = half.groups.reduce((sum, group) => {
    const recount = group.recounts[policy]
    const isUndecided = recount !== undefined && isSame(group, policy, removed) && allowsOpposite(recount, removed)
    return sum + (isUndecided ? group.weight : 0)
  }, 0)
  return wholeIfClose(undecided, half.cases)
}

const EXCLUDES: ReadonlySet<NotCounted> = new Set([
  "not a participant",
  "opened the session",
  "the policy names it",
  "the policy cannot be met without it"
])

/** Seats that no subset can leave out under a policy, because a run cannot be counted without them. */
export const neededSeats = (half: Half, policy: number, seats: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(
    seats.filter((seat) =>
      half.groups.some(({ recounts }) => {
        const recount = recounts[policy]
        const result = recount === undefined ? undefined : recountWithout(recount, new Set([seat]))
        return result?.kind === "not counted" && EXCLUDES.has(result.reason)
      })
    )
  )

/** Right decisions of the runs with a truth, of all seats and without some; undefined without a truth. */
export const accuracies = (
  half: Half,
  policy: number,
  removed: ReadonlySet<string>
): { readonly all: CaseShare; readonly named: CaseShare } | undefined => {
  const indexes = new Map<string, number>()
  const [runs, right, kept]: [Array<number>, Array<number>, Array<number>] = [[], [], []]
  const results = new Map(half.groups.map((group) => [group, isSame(group, policy, removed)]))
  for (const run of half.runs) {
    if (run.isRight === undefined) continue
    const at = indexes.get(run.caseId) ?? indexes.size
    indexes.set(run.caseId, at)
    const group = half.groupOf.get(run)
    const isKept = run.isRight && group !== undefined && results.get(group) === true
    runs[at] = (runs[at] ?? 0) + 1
    right[at] = (right[at] ?? 0) + (run.isRight ? 1 : 0)
    kept[at] = (kept[at] ?? 0) + (isKept ? 1 : 0)
  }
  return runs.length === 0 ? undefined : { all: shareOfCases(runs, right), named: shareOfCases(runs, kept) }
}

/** US dollars of each seat over all runs. */
export const costsOf = ({ runs }: Half, seats: number): ReadonlyArray<number> =>
  Array.from({ length: seats }, (_, seat) => runs.reduce((sum, { costUsd }) => sum + (costUsd[seat] ?? 0), 0))

/** How much sooner the last act of a subset came, on average over the runs with times; undefined without any. */
export const meanSaved = ({ runs }: Half, isKept: (seat: number) => boolean): number | undefined => {
  const saved = runs.flatMap(({ atMs }) => savedMs(atMs, isKept) ?? [])
  return saved.length === 0 ? undefined : saved.reduce((sum, one) => sum + one / saved.length, 0)
}
