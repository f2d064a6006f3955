/** A vote on the proposal that was decided. */
export type SeatVote = "for" | "against" | "abstain"

/** How a run ended: by its decision, or `none` without one and where it does not say yes or no. */
export type CommitteeOutcome = "positive" | "negative" | "none"

/** One ended run of a committee, as the figures of independence read it. Plain data: a row can keep it. */
export interface CommitteeRun {
  /** Runs of one case are repeats of each other: they are resampled together. */
  readonly caseId: string
  /** By the index of the seat; undefined for a seat that cast no vote, also when only its deadline acted. */
  readonly votes: ReadonlyArray<SeatVote | undefined>
  readonly outcome: CommitteeOutcome
  /**
   * Whether the decision was right; undefined while no mark of a person, a rule or another system says so. A mark of a
   * judge is not a truth here, because a judge errs with the models that it judges.
   */
  readonly isRight?: boolean | undefined
}

/**
 * Whether a seat erred in a run: it voted for a wrong decision or against a right one. Undefined without a truth,
 * without a stated outcome, and for an abstention or no vote.
 */
export const erred = (
  vote: SeatVote | undefined,
  { isRight, outcome }: Pick<CommitteeRun, "isRight" | "outcome">
): boolean | undefined => {
  if (isRight === undefined || outcome === "none" || vote === undefined || vote === "abstain") return undefined
  const isForDecision = (vote === "for") === (outcome === "positive")
  return isForDecision !== isRight
}
