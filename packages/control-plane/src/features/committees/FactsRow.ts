import type {
  CommitteeFacts,
  CommitteeOutcome,
  NotCounted,
  Recount,
  RecountedOutcome,
  SeatVote,
  ShadowInRun
} from "@runplane/domain"

/** The facts of some participants of a run, with its case and its truth. */
export interface CaseFacts extends CommitteeFacts {
  readonly caseId: string
  readonly isRight: boolean | undefined
}

/** The facts of a run as its row has them, by the index of the participant; null for what is not there. */
export interface StoredFacts {
  readonly recount?: Recount
  readonly notCounted?: NotCounted
  readonly pivotal: ReadonlyArray<boolean | null>
  readonly costUsd: ReadonlyArray<number>
  /** Part of `costUsd` that is a guess. */
  readonly guessedUsd: ReadonlyArray<number>
  readonly atMs: ReadonlyArray<number | null>
}

/** A shadow of a run as its row has it; null for what is not there. */
export interface StoredShadow {
  readonly shadow: string
  readonly as: string
  readonly agent: string
  /** One letter, as in `votes`. */
  readonly vote: string
  readonly outcome?: RecountedOutcome
  readonly notCounted?: NotCounted
  readonly costUsd: number | null
  readonly guessedUsd: number
}

/** The row of a run as a count of its votes reads it. */
export interface VotesRow {
  readonly committee: string
  readonly case_key: string
  readonly outcome: CommitteeOutcome
  readonly is_right: boolean | null
  readonly votes: string
  readonly shadows: ReadonlyArray<StoredShadow> | null
}

/** The same with the facts of the run. */
export interface FactsRow extends VotesRow {
  readonly facts: StoredFacts
}

/** Bytes of a recount that a row keeps: some hundred acts. */
const MAX_RECOUNT = 64 * 1024

const orNull = <A>(value: A | undefined): A | null => value ?? null
const orUndefined = <A>(value: A | null | undefined): A | undefined => value ?? undefined

export const storedFacts = (facts: CommitteeFacts, guessedUsd: ReadonlyArray<number>): StoredFacts => {
  const { atMs, costUsd, notCounted, pivotal, recount } = facts
  const isKept = recount !== undefined && JSON.stringify(recount).length <= MAX_RECOUNT
  return {
    ...(isKept ? { recount } : { notCounted: notCounted ?? "too many acts" }),
    ...{ costUsd, guessedUsd, pivotal: pivotal.map(orNull), atMs: atMs.map(orNull) }
  }
}

const VOTES: Readonly<Record<SeatVote, string>> = { for: "f", against: "a", abstain: "x" }
const voteBy: ReadonlyMap<string, SeatVote> = new Map([
  ["f", "for"],
  ["a", "against"],
  ["x", "abstain"]
])

/** Votes as a letter each: 100,000 rows of short texts are read in a part of the time that JSON takes. */
export const voteLetters = (votes: ReadonlyArray<SeatVote | undefined>): string => votes.map(letterOf).join("")

const letterOf = (vote: SeatVote | undefined): string => (vote === undefined ? "-" : VOTES[vote])

/** The votes of these participants. */
export const votesAt = (letters: string, seats: ReadonlyArray<number>): ReadonlyArray<SeatVote | undefined> =>
  seats.map((at) => voteBy.get(letters.charAt(at)))

/** The facts of these participants of a run. */
export const caseFacts = (
  { case_key, facts, is_right, outcome, votes }: Omit<FactsRow, "shadows">,
  seats: ReadonlyArray<number>
): CaseFacts => ({
  caseId: case_key,
  outcome,
  isRight: orUndefined(is_right),
  votes: votesAt(votes, seats),
  ...(facts.recount !== undefined && { recount: facts.recount }),
  ...(facts.notCounted !== undefined && { notCounted: facts.notCounted }),
  pivotal: seats.map((at) => orUndefined(facts.pivotal[at])),
  costUsd: seats.map((at) => facts.costUsd[at] ?? 0),
  atMs: seats.map((at) => orUndefined(facts.atMs[at]))
})

export const storedShadow = ({
  agent,
  as,
  costUsd,
  guessedCostUsd,
  recount,
  shadow,
  vote
}: ShadowInRun): StoredShadow => ({
  ...{ shadow, as, agent, vote: letterOf(vote), costUsd: orNull(costUsd), guessedUsd: guessedCostUsd },
  ...(recount.kind === "counted" ? { outcome: recount.outcome } : { notCounted: recount.reason })
})

/** The shadows of a run. */
export const shadowsOf = ({ shadows }: Pick<VotesRow, "shadows">): ReadonlyArray<ShadowInRun> =>
  (shadows ?? []).map(({ agent, as, costUsd, guessedUsd, notCounted, outcome, shadow, vote }) => ({
    ...{ shadow, as, agent, vote: voteBy.get(vote), costUsd: orUndefined(costUsd), guessedCostUsd: guessedUsd },
    recount:
      outcome === undefined
        ? { kind: "not counted", reason: notCounted ?? "no vote of the shadow" }
        : { kind: "counted", outcome }
  }))
