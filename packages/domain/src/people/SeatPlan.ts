import type { SessionRules } from "../insight/ActivePolicy.ts"
import { isoTime } from "../values/IsoTime.ts"
import { type AnswerAct, deadlineAct, isLastWord, noAnswerBy } from "./AnswerAct.ts"
import { type Barrier, barrierOf } from "./Barrier.ts"
import type { Basis } from "./Basis.ts"
import { dueSteps } from "./escalate/Escalation.ts"
import type { ItemState } from "./ItemLife.ts"
import { seatInfluence } from "./SeatInfluence.ts"
import type { SeatRules } from "./SeatRules.ts"
import { ballotBy, isCommitted, type SeatView, type SeenMessage, subjectsFor, unseenBetween } from "./SeatView.ts"
import { staleSince } from "./Staleness.ts"

/** An item as it is stored. */
export interface StoredItem {
  readonly id: string
  /** Ordinal of the message that it is about. */
  readonly subject: number
  readonly state: ItemState
  /** Since it is open: what the person was shown first. */
  readonly basisOrdinal: number | undefined
  readonly deadlineUnixMs: number | undefined
  /** Since it is open. */
  readonly openedAtUnixMs?: number | undefined
  /** The steps of `escalate` that were made, by their index; absent: none. */
  readonly escalated?: ReadonlyArray<number> | undefined
  /** Since it is answered: the message that goes into the session. */
  readonly answer: StoredAct | undefined
}

export interface StoredAct {
  readonly act: AnswerAct
  readonly messageId: string
  readonly payloadSha256: string
  readonly basis: Basis
}

/** A seat in a session. */
export interface Seat {
  readonly id: string
  /** Participants that are people, this one among them. */
  readonly seats: ReadonlySet<string>
  readonly rules: SeatRules
  /** The rules that the session is bound to; undefined while they are not known. */
  readonly sessionRules: SessionRules | undefined
}

/** One change of the stored items. */
export type ItemChange =
  | {
      readonly _tag: "create"
      readonly subject: SeenMessage
      readonly replaces?: string
      readonly follows?: string
    }
  | {
      readonly _tag: "open"
      readonly id: string
      readonly basisOrdinal: number
      readonly deadlineUnixMs: number | undefined
    }
  | {
      readonly _tag: "close"
      readonly id: string
      readonly state: "stale" | "not-needed" | "expired" | "withdrawn"
      readonly reason: string
      /** The seat has a ballot that is not an answer to an item. */
      readonly hasActed?: true
    }
  /** A step of `escalate` is due: it adds who may answer, and takes the item from no person. */
  | { readonly _tag: "escalate"; readonly id: string; readonly step: number }
  /** The deadline acts for the seat. */
  | { readonly _tag: "answer"; readonly id: string; readonly act: AnswerAct; readonly reason: string }
  | { readonly _tag: "accept"; readonly id: string; readonly ordinal: number; readonly unseen: ReadonlyArray<number> }
  /** Another message has the id of the answer: it needs a new one. */
  | { readonly _tag: "id-taken"; readonly id: string; readonly by: SeenMessage }

export interface SeatPlan {
  readonly changes: ReadonlyArray<ItemChange>
  /** When time alone changes the plan; undefined: only a message does. */
  readonly wakeAtUnixMs: number | undefined
}

/**
 * The changes that bring the items of a seat up to its view of the session. It depends on nothing but its arguments, so
 * a service that restarts goes on from the rows. `ended` is the state of a session that is over.
 */
export const planSeat = (
  view: SeatView,
  seat: Seat,
  items: ReadonlyArray<StoredItem>,
  now: {
    readonly unixMs: number
    readonly ended: string | undefined
    /** Why a session has expired that its seats suspend: then an open item expires too, with this reason. */
    readonly expiry?: string | undefined
  }
): SeatPlan => {
  const ended = isCommitted(view) ? "RESOLVED" : now.ended
  const changes: Array<ItemChange> = []
  const wakes: Array<number> = []
  const latest = new Map(items.map((item) => [item.subject, item]))
  for (const item of items) {
    if (item.state === "answered" || item.state === "sent") changes.push(...readBack(view, seat, item))
    if (item.state !== "waiting" && item.state !== "open") continue
    const expiry = ended === "EXPIRED" ? now.expiry : undefined
    const step = stepOf(view, seat, item, { unixMs: now.unixMs, ended, expiry })
    if (typeof step === "number") wakes.push(step)
    else if (step !== undefined) changes.push(step)
  }
  if (ended === undefined) {
    for (const subject of subjectsFor(view, seat.id)) {
      if (ballotBy(view, seat.id, subject.statement.proposalId) !== undefined) continue
      const before = latest.get(subject.ordinal)
      const link = linkTo(view, seat, subject, before)
      if (link !== undefined) changes.push({ _tag: "create", subject, ...link })
    }
  }
  return { changes, wakeAtUnixMs: earliest(...wakes) }
}

/** What becomes of the answer of an item: its message is on record, or its id is. */
const readBack = (view: SeatView, seat: Seat, { answer, id }: StoredItem): ReadonlyArray<ItemChange> => {
  const found = view.messages.find(({ messageId }) => messageId === answer?.messageId)
  if (answer === undefined || found === undefined) return []
  const isOwn = found.statement.by === seat.id && found.payloadSha256 === answer.payloadSha256
  const { ordinal } = found
  return isOwn
    ? [{ _tag: "accept", id, ordinal, unseen: unseenBetween(answer.basis, ordinal) }]
    : [{ _tag: "id-taken", id, by: found }]
}

/** The next change of an item without an answer; a number is the time of the next look. */
const stepOf = (
  view: SeatView,
  seat: Seat,
  item: StoredItem,
  {
    ended,
    expiry,
    unixMs
  }: { readonly unixMs: number; readonly ended: string | undefined; readonly expiry: string | undefined }
): ItemChange | number | undefined => {
  const { id } = item
  const { rules } = seat
  const subject = view.messages[item.subject - 1]
  // The view is shorter than the rows while it is read again from the start.
  if (subject === undefined) return undefined
  const close = (state: "stale" | "not-needed" | "expired" | "withdrawn", reason: string) =>
    ({ _tag: "close", id, state, reason }) satisfies ItemChange
  if (ended !== undefined) {
    if (expiry === undefined) return close("withdrawn", `the session is ${ended}`)
    return close(item.state === "open" ? "expired" : "withdrawn", expiry)
  }
  const ballot = ballotBy(view, seat.id, subject.statement.proposalId)
  if (ballot !== undefined) {
    return { ...close("withdrawn", `the seat has acted by message ${ballot.ordinal}`), hasActed: true }
  }
  if (!isNeeded(view, seat, subject)) return close("not-needed", "no act of this seat changes what can be decided")
  if (item.state === "waiting") {
    const barrier: Barrier = barrierOf(view, { seats: seat.seats, subject, when: rules.when }, unixMs)
    if (!barrier.isMet) return barrier.atUnixMs
    const deadlineUnixMs = rules.deadlineMs === undefined ? undefined : unixMs + rules.deadlineMs
    return { _tag: "open", id, basisOrdinal: view.messages.length, deadlineUnixMs }
  }
  const { basisOrdinal = item.subject, deadlineUnixMs } = item
  if (deadlineUnixMs !== undefined && unixMs >= deadlineUnixMs) {
    const reason = noAnswerBy(isoTime(deadlineUnixMs))
    const act = deadlineAct(view.mode, rules.onDeadline)
    return act === undefined ? close("expired", reason) : { _tag: "answer", id, act, reason }
  }
  const stale = staleSince(view, seat.id, item.subject, basisOrdinal, rules.stale)
  if (stale !== undefined) return close("stale", `${stale.reason} came in as message ${stale.by.ordinal}`)
  const { due, wakeAtUnixMs } = dueSteps(rules.escalate, item, unixMs)
  const [step] = due
  if (step !== undefined) return { _tag: "escalate", id, step }
  return earliest(deadlineUnixMs, wakeAtUnixMs)
}

const earliest = (...times: ReadonlyArray<number | undefined>): number | undefined => {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Why a subject gets an item now, after `before`; undefined when it needs none. */
const linkTo = (
  view: SeatView,
  seat: Seat,
  subject: SeenMessage,
  before: StoredItem | undefined
): { readonly replaces?: string; readonly follows?: string } | undefined => {
  if (before === undefined) return isNeeded(view, seat, subject) ? {} : undefined
  switch (before.state) {
    case "stale":
      return { replaces: before.id }
    case "not-needed":
      return isNeeded(view, seat, subject) ? { replaces: before.id } : undefined
    case "accepted":
    case "refused":
    case "unknown":
      return before.answer !== undefined && !isLastWord(before.answer.act) ? { follows: before.id } : undefined
    default:
      return undefined
  }
}

const isNeeded = (view: SeatView, { id, rules, sessionRules }: Seat, subject: SeenMessage): boolean => {
  if (rules.ask === "always" || sessionRules === undefined) return true
  const acts = view.messages.map(({ statement }) => statement)
  return seatInfluence(sessionRules, acts, id, rules.acts, subject.statement.proposalId) !== "no"
}
