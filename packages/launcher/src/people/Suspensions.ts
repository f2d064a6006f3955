import {
  planSuspension,
  SUSPENSION_PAUSES,
  type SuspensionAct,
  type SuspensionPlan,
  type SuspensionState,
  seatMode,
  seatRules,
  suspensionText
} from "@runplane/domain"
import { type ParticipantCalls, ParticipantClient } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { AgentTokens } from "../agents/AgentTokens.ts"
import { ItemRows } from "./ItemRows.ts"
import { SeatRows } from "./SeatRows.ts"
import type { SeatSession } from "./SeatSession.ts"
import { SeatWork } from "./SeatWork.ts"
import { SuspensionRows } from "./SuspensionRows.ts"

/** A session comes to rest after a few acts; more are a fault of the program. */
const MAX_ROUNDS = 20

/** Failures of a call after which the runtime has certainly not done it. */
const REFUSALS: ReadonlySet<string> = new Set([
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "NOT_FOUND",
  "INVALID_ARGUMENT",
  "UNIMPLEMENTED",
  "RESOURCE_EXHAUSTED"
])

/** What the service waits for; tests wait less. */
export const SuspensionTimes = Context.Reference("runplane/launcher/SuspensionTimes", {
  defaultValue: () => SUSPENSION_PAUSES
})

/** Whether messages of a session can be sent now, and when time alone changes that. */
export interface Passage {
  readonly isSuspended: boolean
  readonly wakeAtUnixMs: number | undefined
  /** The service has just resumed it: what other seats have to send can be sent. */
  readonly isResumed: boolean
}

const OPEN: Passage = { isSuspended: false, wakeAtUnixMs: undefined, isResumed: false }

/**
 * Suspends the sessions that wait for people alone, and resumes each to deliver an answer, with the token of its
 * initiator. The fibers of the seats of a session all work on it; the lock of its seats lets them plan one after the
 * other, and an act whose result is not known keeps all of them from another one.
 */
export class Suspensions extends Context.Service<Suspensions, Effect.Success<typeof make>>()(
  "runplane/launcher/Suspensions"
) {
  static readonly layer = Layer.effect(
    Suspensions,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const rows = yield* SuspensionRows
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const work = yield* SeatWork
  const tokens = yield* AgentTokens
  const client = yield* ParticipantClient
  const pauses = yield* SuspensionTimes
  /** The sessions that the service works on, by their ids. */
  const states = new Map<string, SuspensionState>()

  /** A change that an operator has to know is logged once. */
  const note = Effect.fnUntraced(function* (sessionId: string, state: SuspensionState) {
    const before = states.get(sessionId)
    states.set(sessionId, state)
    if (isTrouble(state) && suspensionText(state) !== (before && suspensionText(before))) {
      yield* Effect.logWarning(`session ${sessionId}: ${suspensionText(state)}`)
    }
  })

  /**
   * The plan of a session, and the row of what it does, in one transaction. Undefined when there are other acts than
   * before the session was read: it is read again.
   */
  const plan = Effect.fnUntraced(function* (session: SeatSession, now: Snapshot, before: ReadonlyArray<SuspensionAct>) {
    const { sessionId } = session.row
    const all = yield* seats.lockAll(sessionId)
    const acts = yield* rows.of(sessionId)
    if (acts.length !== before.length || acts.at(-1)?.outcome !== before.at(-1)?.outcome) return undefined
    const nowUnixMs = yield* items.now
    const withItems = yield* Effect.forEach(all, (row) =>
      Effect.gen(function* () {
        const mode = seatMode(row.modeName)
        if (mode === undefined) return yield* Effect.die(new Error(`no seat can be in ${row.modeName}`))
        const rules = seatRules(mode, row.rules)
        return { id: row.seat, rules, items: yield* items.ofSeat(sessionId, row.seat) }
      })
    )
    const planned = planSuspension(
      { view: session.view, sessionRules: session.facts.sessionRules, now, seats: withItems, acts, pauses },
      nowUnixMs
    )
    const n = acts.length + 1
    const { step } = planned
    if (step._tag === "settle") yield* settle(sessionId, acts, step)
    if (step._tag === "observe") {
      yield* rows.observe(sessionId, n, step.kind, now.expiresAtUnixMs)
      yield* items.audit("other", `session.${PAST[step.kind]}`, undefined, { sessionId })
    }
    // A message that this seat has not read may be of an agent that is not finished.
    const isBehind = acceptedIn(now) > session.view.messages.length
    if (step._tag === "call" && step.kind === "suspend" && isBehind) {
      return { ...planned, step: { _tag: "rest", wakeAtUnixMs: undefined } as const, n }
    }
    if (step._tag === "call") yield* rows.intend(sessionId, n, step.kind, now.expiresAtUnixMs)
    return { ...planned, n }
  })

  /** The result of a call of before is known now. */
  const settle = Effect.fnUntraced(function* (
    sessionId: string,
    acts: ReadonlyArray<SuspensionAct>,
    { n, outcome }: Extract<SuspensionPlan["step"], { _tag: "settle" }>
  ) {
    yield* rows.settle(sessionId, n, outcome, undefined)
    const act = acts.find((one) => one.n === n)
    if (act !== undefined && outcome === "done") {
      yield* items.audit("service", `session.${PAST[act.kind]}`, undefined, { sessionId })
    }
  })

  /** Why the runtime has not done it; undefined once it has; no result while that is not known. */
  const request = Effect.fnUntraced(function* (
    { row }: Pick<SeatSession, "row">,
    { initiator }: Pick<Snapshot, "initiator">,
    { kind, n }: { readonly kind: SuspensionAct["kind"]; readonly n: number }
  ) {
    const { modeName, sessionId } = row
    const token = yield* Effect.result(
      tokens.tokenFor({ participantId: initiator, modeName, isInitiator: false, isControl: true, minLifeMs: 0 })
    )
    if (Result.isFailure(token)) return Result.succeed(`no token for ${initiator}: ${token.failure.message}`)
    yield* rows.called(sessionId, n)
    const calls = client.as(Redacted.make(token.success))
    const control = { sessionId, reason: REASONS[kind] }
    const answer = yield* Effect.result(
      kind === "suspend" ? calls.suspendSession(control) : calls.resumeSession(control)
    )
    if (Result.isFailure(answer)) {
      const { message, reason } = answer.failure
      return REFUSALS.has(reason) ? Result.succeed(`${reason}: ${message}`) : Result.fail(message)
    }
    const { error, ok } = answer.success
    return Result.succeed(ok ? undefined : `${error?.code ?? ""}: ${error?.message ?? "the runtime gave no reason"}`)
  })

  /** Makes the call of a row, and stores its result. False when the result is not known. */
  const carryOut = Effect.fnUntraced(function* (
    session: Pick<SeatSession, "row">,
    now: Snapshot,
    act: { readonly kind: SuspensionAct["kind"]; readonly n: number }
  ) {
    const { sessionId } = session.row
    const { kind, n } = act
    const result = yield* request(session, now, act)
    if (Result.isFailure(result)) {
      yield* Effect.logWarning(`session ${sessionId}: it is not known whether it is ${PAST[kind]}: ${result.failure}`)
      return false
    }
    const refusal = result.success
    yield* work.inTransaction(
      Effect.andThen(
        rows.settle(sessionId, n, refusal === undefined ? "done" : "refused", refusal),
        items.audit(
          "service",
          refusal === undefined ? `session.${PAST[kind]}` : `session.${kind}-refused`,
          undefined,
          refusal === undefined ? { sessionId } : { sessionId, reason: refusal }
        )
      )
    )
    return true
  })

  /** Brings the suspension of a session up to its items, and says whether messages can be sent into it. */
  const advance = Effect.fn("Suspensions.advance")(function* (session: SeatSession, calls: ParticipantCalls) {
    if (session.rules.wait === "open") return OPEN
    const { sessionId } = session.row
    let isResumed = false
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const before = yield* rows.of(sessionId)
      const now = yield* calls.getSession(sessionId)
      const planned = yield* work.inTransaction(plan(session, now, before))
      if (planned === undefined) continue
      const { n, state, step } = planned
      if (step._tag === "rest") {
        yield* note(sessionId, state)
        const passage: Passage = { isSuspended: now.state === "SUSPENDED", wakeAtUnixMs: step.wakeAtUnixMs, isResumed }
        return passage
      }
      if (step._tag !== "call") continue
      // The result belongs to the call: a stream that breaks meanwhile ends neither.
      yield* Effect.uninterruptible(carryOut(session, now, { kind: step.kind, n }))
      isResumed ||= step.kind === "resume"
    }
    return yield* Effect.die(new Error(`the suspension of ${sessionId} does not come to rest`))
  })

  const count = (tags: ReadonlyArray<SuspensionState["_tag"]>) =>
    [...states.values()].filter(({ _tag }) => tags.includes(_tag)).length

  return {
    advance,

    /** The session of a seat is over. */
    forget: (sessionId: string) => Effect.sync(() => states.delete(sessionId)),

    /** What a person has to know of the session of an item that is not closed. */
    textOf: (sessionId: string) => {
      const state = states.get(sessionId)
      return state && suspensionText(state)
    },

    /** How many sessions are suspended by the service, by another party, and open though they wait for people. */
    counts: () => ({ service: count(["suspended", "stuck"]), other: count(["held"]), refused: count(["running"]) })
  }
})

type Snapshot = Effect.Success<ReturnType<ParticipantCalls["getSession"]>>

/** The accepted messages of the participants; SessionStart is not among their activity. */
const acceptedIn = ({ participantActivity }: Snapshot): number =>
  participantActivity.reduce((total, { messageCount }) => total + messageCount, 1)

const PAST: Readonly<Record<SuspensionAct["kind"], string>> = { suspend: "suspended", resume: "resumed" }

/** What the runtime records as the reason. */
const REASONS: Readonly<Record<SuspensionAct["kind"], string>> = {
  suspend: "only people are waited for",
  resume: "an answer of a person is delivered"
}

/** States in which an answer may come too late. */
const isTrouble = ({ _tag }: SuspensionState): boolean => _tag === "held" || _tag === "running" || _tag === "stuck"
