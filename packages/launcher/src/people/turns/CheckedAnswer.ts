import {
  checkAnswer,
  type SeatMode,
  type SeatRules,
  type SubmittedAnswer,
  staleSince,
  takesEvaluations
} from "@runplane/domain"
import type { ItemRow } from "../ItemRows.ts"
import type { SeatSession } from "../SeatSession.ts"

/** What an answer is checked against, beside its item. */
interface Checked {
  readonly seat: string
  readonly mode: SeatMode
  readonly rules: SeatRules
  /** Undefined while it is not read. */
  readonly session: SeatSession | undefined
  /** The last message that the answer rests on. */
  readonly basisOrdinal: number
}

/** The verdict on an answer, of a person or of an agent. The caller has the lock of the seat. */
export const verdictOn = (
  item: ItemRow,
  { basisOrdinal, mode, rules, seat, session }: Checked,
  submitted: SubmittedAnswer,
  nowUnixMs: number
) =>
  checkAnswer(
    {
      state: item.state,
      mode,
      rules,
      proposalHash: item.proposalHash,
      deadlineUnixMs: item.deadlineUnixMs,
      given: item.given,
      staleness: session && staleSince(session.view, seat, item.subject, basisOrdinal, rules.stale),
      takesEvaluations: session !== undefined && takesEvaluations(session.view)
    },
    submitted,
    nowUnixMs
  )
