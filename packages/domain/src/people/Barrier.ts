import type { SeatRules } from "./SeatRules.ts"
import { isBallot, type SeatView, type SeenMessage } from "./SeatView.ts"

/** How long a seat waits for another participant after the last one has acted. */
export const BARRIER_MS = 60_000

/** Whether an item may open; `atUnixMs` is when it may at the latest, if nothing happens before. */
export type Barrier = { readonly isMet: true } | { readonly isMet: false; readonly atUnixMs: number }

const MET: Barrier = { isMet: true }

/**
 * Whether the others have acted on a subject as the seat waits for. Seats do not wait for each other: `seats` are the
 * participants that are people. A vote is also an evaluation, because after it no evaluation follows. The sender of a
 * proposal has given its opinion with it, so no evaluation of its own is due.
 */
export const barrierOf = (
  view: SeatView,
  {
    seats,
    subject,
    when
  }: { readonly seats: ReadonlySet<string>; readonly subject: SeenMessage; readonly when: SeatRules["when"] },
  nowUnixMs: number
): Barrier => {
  if (when === "proposed") return MET
  const counts = (message: SeenMessage) =>
    message.statement.proposalId === subject.statement.proposalId &&
    (isBallot(message) || (when === "evaluated" && EVALUATES.has(message.statement.type)))
  const acts = view.messages.filter((one) => counts(one) && !seats.has(one.statement.by))
  const have = new Set(acts.map(({ statement }) => statement.by))
  const isDue = (one: string) => !seats.has(one) && (when !== "evaluated" || one !== subject.statement.by)
  const others = (view.opening?.participants ?? []).filter(isDue)
  if (others.every((one) => have.has(one))) return MET
  const last = acts.reduce((latest, one) => Math.max(latest, one.receivedAtUnixMs), subject.receivedAtUnixMs)
  const atUnixMs = last + BARRIER_MS
  return nowUnixMs >= atUnixMs ? MET : { isMet: false, atUnixMs }
}

const EVALUATES: ReadonlySet<string> = new Set(["Evaluation", "Objection"])

/** Whether the session still takes evaluations and objections: after the first vote a runtime refuses them. */
export const takesEvaluations = ({ messages, mode }: SeatView): boolean =>
  mode === "decision" && !messages.some(({ statement: { type } }) => type === "Vote")
