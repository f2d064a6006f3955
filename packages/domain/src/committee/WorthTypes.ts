import type { NotCounted, SeatRecount } from "../insight/Recount.ts"
import type { ShareInterval } from "../statistics/Wilson.ts"

/** One seat in one run. */
export interface SeatInRun {
  readonly recount: SeatRecount
  /** Whether the opposite vote would have turned the outcome; undefined without a vote for or against. */
  readonly isPivotal: boolean | undefined
  readonly costUsd: number
  /** Milliseconds from the first act of the run to the last one of the seat; undefined without an act. */
  readonly timeMs: number | undefined
  /** Milliseconds that the last act would come sooner without the seat; undefined where `timeMs` is. */
  readonly savedMs: number | undefined
}

/** One ended run with all its seats, for `addWorth`. */
export interface WorthRun {
  readonly caseId: string
  readonly isRight?: boolean | undefined
  /** By the index of the seat. */
  readonly seats: ReadonlyArray<SeatInRun>
}

/** A number of runs out of others, with the interval of 95 % of the share. */
export interface CountedShare extends ShareInterval {
  readonly count: number
  readonly n: number
}

/** What one seat is worth, by recounts without it. */
export interface SeatWorth {
  readonly seat: string
  /** Runs that were recounted, and their cases. */
  readonly runs: number
  readonly cases: number
  /** Runs that say nothing about its removal, by reason. */
  readonly notCounted: Readonly<Partial<Record<NotCounted, number>>>
  /** Runs whose decision would be refused without the seat: no decision. */
  readonly changed: CountedShare
  /** Of all recounted runs with a truth: right decisions that would be refused without the seat. */
  readonly rightLost: CountedShare
  /** The same of wrong decisions. */
  readonly wrongPrevented: CountedShare
  /** Of the changed runs, those where the opposite outcome would have been allowed. */
  readonly oppositeAllowed: number
  /** Of the runs in which it voted for or against. */
  readonly pivotal: CountedShare
  readonly costUsd: number
  readonly costPerRunUsd: number
  /** From the first act of a run to the last act of the seat before the decision; absent where no run has one. */
  readonly meanTimeMs?: number
  /** How much sooner the last act of the others came: an estimate of what its removal saves. Absent with the other. */
  readonly meanSavedMs?: number
  /** Its cost in the recounted runs with a truth, for each right decision that needed it; absent without one. */
  readonly costPerRightUsd?: number
  /** Present for a seat whose removal changes nothing in at least `LEAST_IDLE_CASES` cases. */
  readonly idle?: {
    /** The true share of changed outcomes is at most this, at 95 % (one-sided, exact). */
    readonly atMost: number
  }
}

/** A subset of seats, the policy it was tried under, and its figures on the confirming half. */
export interface NamedCommittee {
  readonly seats: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  /** Index into the policies of the request; undefined for each run's own policy. */
  readonly policy?: number
  /** Share of the cases with the same outcome as the full committee; `lowerBound` is one-sided and exact. */
  readonly agreement: ShareInterval & {
    readonly lowerBound: number
    /** Cases with the same outcome whose votes would have allowed the opposite one, too: their votes do not decide. */
    readonly undecided: number
  }
  /** Right decisions of the runs with a truth, with all seats and with these; no decision is not right. */
  readonly accuracy?: { readonly all: CountedShare; readonly named: CountedShare }
  readonly saved: {
    readonly costUsd: number
    /** Of the cost of all seats; absent where that is 0. */
    readonly costShare?: number
    /** An estimate, by the critical path of the remaining seats; absent where no run has times. */
    readonly meanMs?: number
  }
}

/** What a search says. Cases count, because repeats of one case are one. */
export type CommitteeSearch =
  | {
      readonly kind: "refused"
      readonly reason: "too few runs"
      /** Cases on the confirming half, and how many it needs. */
      readonly cases: number
      readonly needed: number
      /** Further cases that the confirming half needs; about twice as many runs of new cases bring them. */
      readonly missing: number
    }
  | {
      readonly kind: "none"
      /** No cheaper subset agrees on the first half; or the one that was chosen there failed on the other. */
      readonly reason: "none chosen" | "not confirmed"
      readonly search: SearchEffort
    }
  | { readonly kind: "named"; readonly committee: NamedCommittee; readonly search: SearchEffort }

/** How a search went. */
export interface SearchEffort {
  /** `all` subsets were candidates; `greedy`: one seat after the other, so a cheaper one may exist. */
  readonly method: "all" | "greedy"
  readonly candidates: number
  /** Policies that were tried beside the own one of each run. */
  readonly policies: number
  /** Candidates without a seat that a run cannot be counted without: its policy names it or cannot be met. */
  readonly excluded: number
  readonly choosing: { readonly runs: number; readonly cases: number }
  readonly confirming: { readonly runs: number; readonly cases: number }
}
