import type { ShadowFact } from "../events/ShadowFact.ts"
import { type Act, isOpening } from "./Act.ts"
import type { Deliberation } from "./Deliberation.ts"

/**
 * The run as if the shadow had acted instead of its participant: for questions about the shadow alone. The others have
 * answered the participant, so the acts of the shadow are the last before the commitment, and the proposals of the
 * participant stay.
 */
export const withShadow = (run: Deliberation, { acts, as, shadow }: ShadowFact): Deliberation => {
  const spent = run.shadowSpending.get(shadow)
  const { mode } = run
  const others = run.acts.filter(({ by, type }) => by !== as || (mode !== undefined && isOpening(mode, type)))
  const before = run.acts.findLast(({ index }) => run.commitment === undefined || index < run.commitment.index)
  const position = { seq: before?.seq ?? 0, index: before?.index ?? 0, ts: before?.ts ?? "" }
  const own = acts.map(
    ({ confidence, recommendation, severity, subject, type, vote }): Act => ({
      ...position,
      by: as,
      type,
      proposalId: subject,
      vote,
      recommendation,
      severity,
      confidence
    })
  )
  const isBefore = ({ index }: Act) => run.commitment === undefined || index < run.commitment.index
  return {
    ...run,
    acts: [...others.filter(isBefore), ...own, ...others.filter((act) => !isBefore(act))],
    spending: [
      ...run.spending.filter(({ participantId }) => participantId !== as),
      ...(spent === undefined ? [] : [{ ...spent, participantId: as }])
    ]
  }
}
