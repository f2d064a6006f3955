import { type SuspensionState, suspensionText } from "@runplane/domain"
import type { ParticipantCalls } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SeatSession } from "../SeatSession.ts"
import { SuspensionCalls } from "./SuspensionCalls.ts"
import { SuspensionPlans } from "./SuspensionPlans.ts"
import { SuspensionRows } from "./SuspensionRows.ts"

/** A session comes to rest after a few acts; more are a fault of the program. */
const MAX_ROUNDS = 20

/** Whether messages of a session have to wait, and how soon time alone changes that. */
export interface Passage {
  readonly isSuspended: boolean
  readonly wakeInMs: number | undefined
}

const OPEN: Passage = { isSuspended: false, wakeInMs: undefined }

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
  ).pipe(Layer.provide([SuspensionCalls.layer, SuspensionPlans.layer]))
}

const make = Effect.gen(function* () {
  const rows = yield* SuspensionRows
  const plans = yield* SuspensionPlans
  const { carryOut } = yield* SuspensionCalls
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

  /** One act, or none. Undefined when there may be another one. */
  const round = Effect.fnUntraced(function* (
    session: SeatSession,
    calls: ParticipantCalls,
    resumed: Effect.Effect<void>,
    caller: object
  ) {
    const { sessionId } = session.row
    const before = yield* rows.of(sessionId)
    const now = yield* calls.getSession(sessionId)
    const planned = yield* plans.plan(session, now, before, caller)
    if (planned === undefined) return undefined
    const { n, nowUnixMs, state, step } = planned
    if (step._tag === "call") {
      // The result belongs to the call: a stream that breaks meanwhile ends neither.
      yield* Effect.uninterruptible(carryOut(session, now, { kind: step.kind, n }))
      if (step.kind === "resume") yield* resumed
    }
    if (step._tag !== "rest") return undefined
    const isCalling = plans.isCalling(sessionId)
    if (!isCalling) yield* note(sessionId, state)
    const { wakeAtUnixMs } = step
    const passage: Passage = {
      isSuspended: isCalling || now.state === "SUSPENDED",
      wakeInMs: wakeAtUnixMs === undefined ? undefined : wakeAtUnixMs - nowUnixMs
    }
    return passage
  })

  /**
   * Brings the suspension of a session up to its items, and says whether messages have to wait. `resumed` wakes the
   * other seats of the session.
   */
  const advance = Effect.fn("Suspensions.advance")(function* (
    session: SeatSession,
    calls: ParticipantCalls,
    resumed: Effect.Effect<void>
  ) {
    if (session.rules.wait === "open") return OPEN
    const { sessionId } = session.row
    const caller = {}
    const next = Effect.ensuring(round(session, calls, resumed, caller), plans.release(sessionId, caller))
    for (let count = 0; count < MAX_ROUNDS; count += 1) {
      const passage = yield* next
      if (passage !== undefined) return passage
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
    counts: () => ({ service: count(["suspended", "stuck"]), other: count(["held"]), no: count(["running"]) })
  }
})

/** States in which an answer may come too late. */
const isTrouble = ({ _tag }: SuspensionState): boolean => _tag === "held" || _tag === "running" || _tag === "stuck"
