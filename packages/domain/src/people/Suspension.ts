import type { SessionRules } from "../insight/ActivePolicy.ts"
import { type Backoff, backoffMs } from "../values/Backoff.ts"
import { BARRIER_MS } from "./Barrier.ts"
import { isClosed } from "./ItemLife.ts"
import type { StoredItem } from "./SeatPlan.ts"
import type { SeatRules } from "./SeatRules.ts"
import type { SeatView } from "./SeatView.ts"
import { quietAt } from "./SuspensionQuiet.ts"

/** Suspensions of one session that a runtime resumes, from release 0.8.0 on: the resume of one more expires it. */
export const MAX_SUSPENSIONS = 1_024

/** How long a runtime lets a session be suspended in all, when the session does not say. */
const DEFAULT_MAX_SUSPEND_MS = 7 * 86_400_000

/** How long a session can be suspended in all. Zero is the runtime's word for its default. */
export const longestSuspendMs = (maxSuspendMs: number | undefined): number =>
  maxSuspendMs === undefined || maxSuspendMs === 0 ? DEFAULT_MAX_SUSPEND_MS : maxSuspendMs

/** What the plan waits for. Milliseconds. */
export interface SuspensionPauses {
  /** After the last message, when each agent has acted: a reaction to it comes within this time. */
  readonly reactionMs: number
  /** After the last message, when an agent has not acted or may commit; and after a resume by another party. */
  readonly agentsMs: number
  /** How long a call whose result is not known may still take effect. */
  readonly callMs: number
}

export const SUSPENSION_PAUSES: SuspensionPauses = { reactionMs: 2_000, agentsMs: BARRIER_MS, callMs: 15_000 }

/** Pauses after refusals of the runtime. */
const RETRIES: Readonly<Record<SuspensionAct["kind"], Backoff>> = {
  suspend: { firstMs: 10_000, longestMs: 600_000 },
  resume: { firstMs: 1_000, longestMs: 60_000 }
}

/** A suspension or a resume of a session: one of the service, stored before its call, or one that it has observed. */
export interface SuspensionAct {
  readonly n: number
  readonly kind: "suspend" | "resume"
  readonly by: "service" | "other"
  /**
   * The end of the session, as it was read before the act. A suspension keeps it and a resume moves it, so it is the
   * same for as long as one suspension lasts.
   */
  readonly expiresAtUnixMs: number
  /** When it was stored. */
  readonly atUnixMs: number
  /** Whether the call may have been made. */
  readonly isCalled: boolean
  /** Undefined while the result of the call is not known. */
  readonly outcome: "done" | "refused" | "not-made" | undefined
  /** Why the runtime refused it. */
  readonly reason: string | undefined
}

/** A session as the runtime has it now. */
export interface SessionNow {
  readonly state: string
  readonly expiresAtUnixMs: number
}

/** A seat with its items. */
export interface SuspendableSeat {
  readonly id: string
  readonly rules: SeatRules
  readonly items: ReadonlyArray<StoredItem>
}

export interface SuspendableSession {
  readonly view: SeatView
  readonly sessionRules: SessionRules | undefined
  readonly now: SessionNow
  /** All seats of the session. */
  readonly seats: ReadonlyArray<SuspendableSeat>
  /** Of the session, the first one first. */
  readonly acts: ReadonlyArray<SuspensionAct>
  readonly pauses: SuspensionPauses
}

/** What the service does next. */
export type SuspensionStep =
  | { readonly _tag: "rest"; readonly wakeAtUnixMs: number | undefined }
  /** The result of a call that is not known follows from the session. */
  | { readonly _tag: "settle"; readonly n: number; readonly outcome: "done" | "not-made" }
  /** Another party has done it. */
  | { readonly _tag: "observe"; readonly kind: SuspensionAct["kind"] }
  | { readonly _tag: "call"; readonly kind: SuspensionAct["kind"] }

/** What holds of the session for the people whose answers it waits for. */
export type SuspensionState =
  /** It is open, and nothing hinders its suspension. */
  | { readonly _tag: "open" }
  /** The service has suspended it, and resumes it for an answer. */
  | { readonly _tag: "suspended" }
  /** Another party has suspended it: the service does not resume it. */
  | { readonly _tag: "held" }
  /** It is open although it waits for people alone, and its time goes on. */
  | { readonly _tag: "running"; readonly why: string }
  /** It is suspended, and the runtime does not resume it. */
  | { readonly _tag: "stuck"; readonly why: string }

export interface SuspensionPlan {
  readonly step: SuspensionStep
  readonly state: SuspensionState
}

const OPEN: SuspensionState = { _tag: "open" }
const rest = (state: SuspensionState, wakeAtUnixMs?: number): SuspensionPlan => ({
  step: { _tag: "rest", wakeAtUnixMs },
  state
})
const call = (kind: SuspensionAct["kind"], state: SuspensionState): SuspensionPlan => ({
  step: { _tag: "call", kind },
  state
})

/** The act that the session is in: the last one that was made. */
export const lastMade = (acts: ReadonlyArray<SuspensionAct>): SuspensionAct | undefined =>
  acts.findLast(({ outcome }) => outcome === "done")

/** Suspensions that are known of the session. */
export const suspensionsOf = (acts: ReadonlyArray<SuspensionAct>): number =>
  acts.filter(({ kind, outcome }) => kind === "suspend" && outcome === "done").length

/**
 * What the service does about the suspension of a session, from the rows of its acts and the session as the runtime has
 * it. The runtime does not tell who has suspended a session, so each act is a row before its call. A suspension that no
 * row has is of another party, and is never resumed.
 */
export const planSuspension = (session: SuspendableSession, nowUnixMs: number): SuspensionPlan => {
  const { acts, now } = session
  if (now.state !== "OPEN" && now.state !== "SUSPENDED") return rest(OPEN)
  const last = acts.at(-1)
  if (last !== undefined && last.outcome === undefined) return settling(last, session, nowUnixMs)
  const made = lastMade(acts)
  return now.state === "SUSPENDED" ? whileSuspended(session, made, nowUnixMs) : whileOpen(session, made, nowUnixMs)
}

/** The result of a call that was made before a restart, or whose answer was lost. */
const settling = (act: SuspensionAct, { now, pauses }: SuspendableSession, nowUnixMs: number): SuspensionPlan => {
  const settle = (outcome: "done" | "not-made"): SuspensionPlan => ({
    step: { _tag: "settle", n: act.n, outcome },
    state: OPEN
  })
  if (!act.isCalled) return settle("not-made")
  const settlesAt = act.atUnixMs + pauses.callMs
  if (nowUnixMs < settlesAt) return rest(OPEN, settlesAt)
  const isSame = now.expiresAtUnixMs === act.expiresAtUnixMs
  if (act.kind === "suspend") return settle(now.state === "SUSPENDED" || !isSame ? "done" : "not-made")
  return settle(now.state === "SUSPENDED" && isSame ? "not-made" : "done")
}

const observe = (kind: SuspensionAct["kind"]): SuspensionPlan => ({ step: { _tag: "observe", kind }, state: OPEN })

const whileSuspended = (
  { acts, now, seats }: SuspendableSession,
  made: SuspensionAct | undefined,
  nowUnixMs: number
): SuspensionPlan => {
  if (made?.kind !== "suspend") return observe("suspend")
  // A resume has moved the end: this is another suspension.
  if (made.expiresAtUnixMs !== now.expiresAtUnixMs) return observe("resume")
  if (made.by === "other") return rest({ _tag: "held" })
  if (isForPeople(seats)) return rest({ _tag: "suspended" })
  const refused = retryOf("resume", acts)
  if (refused === undefined) return call("resume", { _tag: "suspended" })
  const state: SuspensionState = { _tag: "stuck", why: refused.why }
  return nowUnixMs < refused.atUnixMs ? rest(state, refused.atUnixMs) : call("resume", state)
}

const whileOpen = (session: SuspendableSession, made: SuspensionAct | undefined, nowUnixMs: number): SuspensionPlan => {
  const { acts, pauses, seats } = session
  if (made?.kind === "suspend") return observe("resume")
  if (!isForPeople(seats)) return rest(OPEN)
  if (suspensionsOf(acts) >= MAX_SUSPENSIONS) return rest({ _tag: "running", why: tooManyText(suspensionsOf(acts)) })
  const refused = retryOf("suspend", acts)
  const isResumedByOther = made?.by === "other"
  const state: SuspensionState =
    refused !== undefined
      ? { _tag: "running", why: `the runtime refused to suspend it: ${refused.why}` }
      : isResumedByOther
        ? { _tag: "running", why: "another party has resumed it" }
        : OPEN
  const atUnixMs = Math.max(
    quietAt(session),
    refused?.atUnixMs ?? 0,
    isResumedByOther ? made.atUnixMs + pauses.agentsMs : 0
  )
  return nowUnixMs < atUnixMs ? rest(state, atUnixMs) : call("suspend", state)
}

/**
 * Whether the session waits for nothing but people whose seats suspend it: an open item of such a seat, and no item of
 * another state before its end. An answer is first delivered.
 */
const isForPeople = (seats: ReadonlyArray<SuspendableSeat>): boolean => {
  const left = seats.flatMap(({ items, rules }) =>
    items.filter(({ state }) => !isClosed(state)).map(({ state }) => ({ state, wait: rules.wait }))
  )
  return left.length > 0 && left.every(({ state, wait }) => state === "open" && wait === "suspend")
}

/** The refusals since the last act that was made: when the next try is due, and what the runtime said last. */
const retryOf = (kind: SuspensionAct["kind"], acts: ReadonlyArray<SuspensionAct>) => {
  const since = acts.slice(acts.findLastIndex(({ outcome }) => outcome === "done") + 1)
  const refusals = since.filter((act) => act.kind === kind && act.outcome === "refused")
  const last = refusals.at(-1)
  if (last === undefined) return undefined
  return { atUnixMs: last.atUnixMs + backoffMs(RETRIES[kind], refusals.length - 1), why: last.reason ?? "" }
}

const tooManyText = (count: number): string =>
  `it has been suspended ${count} times, and a runtime resumes no session more often`

/** Why a session whose seats suspend it has expired. */
export const whyExpired = (
  acts: ReadonlyArray<SuspensionAct>,
  { maxSuspendMs: given, ttlMs }: { readonly maxSuspendMs: number; readonly ttlMs: number },
  nowUnixMs: number
): string => {
  const maxSuspendMs = longestSuspendMs(given)
  const made = lastMade(acts)
  const known = suspensionsOf(acts)
  // A call whose result is not known, or that the runtime refused, has met the end.
  const isSuspended = made?.kind === "suspend"
  if (!isSuspended) {
    const refused = retryOf("suspend", acts)
    const beside =
      known >= MAX_SUSPENSIONS
        ? `; ${tooManyText(known)}`
        : refused === undefined
          ? ""
          : `; the runtime refused to suspend it: ${refused.why}`
    return `the session has expired: its time of ${ttlMs} ms was over${beside}`
  }
  if (suspendedMs(acts, nowUnixMs) >= maxSuspendMs) {
    return `the session has expired: it was suspended for longer than it may be (maxSuspendMs ${maxSuspendMs})`
  }
  return acts.at(-1)?.kind === "resume"
    ? `the session has expired when it was resumed: a runtime resumes a session ${MAX_SUSPENSIONS} times, and ${known} suspensions are known`
    : "the session has expired while it was suspended"
}

/** How long the session has been suspended, as far as it is known. */
const suspendedMs = (acts: ReadonlyArray<SuspensionAct>, nowUnixMs: number): number => {
  let total = 0
  let since: number | undefined
  for (const { atUnixMs, kind, outcome } of acts) {
    if (outcome !== "done") continue
    if (kind === "suspend") since ??= atUnixMs
    else if (since !== undefined) {
      total += atUnixMs - since
      since = undefined
    }
  }
  return since === undefined ? total : total + nowUnixMs - since
}

/** What a person reads about the session of an open item; undefined when there is nothing to know. */
export const suspensionText = (state: SuspensionState): string | undefined => {
  switch (state._tag) {
    case "open":
      return undefined
    case "suspended":
      return "the session is suspended until it has an answer"
    case "held":
      return "the session was suspended by another party; your answer waits until that party resumes it"
    case "running":
      return `the session is not suspended, and takes answers until its time is over: ${state.why}`
    case "stuck":
      return `the session is suspended, and the runtime does not resume it; your answer waits: ${state.why}`
  }
}
