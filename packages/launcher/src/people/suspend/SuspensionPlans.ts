import {
  planSuspension,
  SUSPENSION_PAUSES,
  type SuspensionAct,
  type SuspensionPlan,
  seatMode,
  seatRules
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ItemRows } from "../ItemRows.ts"
import { type SeatRow, SeatRows } from "../SeatRows.ts"
import type { SeatSession } from "../SeatSession.ts"
import { SeatWork } from "../SeatWork.ts"
import { PAST, type Snapshot } from "./SuspensionCalls.ts"
import { SuspensionRows } from "./SuspensionRows.ts"

/** What the service waits for; tests wait less. */
export const SuspensionTimes = Context.Reference("runplane/launcher/SuspensionTimes", {
  defaultValue: () => SUSPENSION_PAUSES
})

/** Plans suspensions under the lock of all seats of a session, and stores each act before it is made. */
export class SuspensionPlans extends Context.Service<SuspensionPlans, Effect.Success<typeof make>>()(
  "runplane/launcher/SuspensionPlans"
) {
  static readonly layer = Layer.effect(
    SuspensionPlans,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const rows = yield* SuspensionRows
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const work = yield* SeatWork
  const pauses = yield* SuspensionTimes
  /** The sessions of which a fiber of this process makes a call: its result is on the way. */
  const calling = new Map<string, object>()

  const withItems = Effect.fnUntraced(function* ({ modeName, rules, seat, sessionId }: SeatRow) {
    const mode = seatMode(modeName)
    if (mode === undefined) return yield* Effect.die(new Error(`no seat can be in ${modeName}`))
    return { id: seat, rules: seatRules(mode, rules), items: yield* items.ofSeat(sessionId, seat) }
  })

  /** Stores what a step says of an act that was made. */
  const keep = Effect.fnUntraced(function* (
    sessionId: string,
    { expiresAtUnixMs }: Snapshot,
    acts: ReadonlyArray<SuspensionAct>,
    step: SuspensionPlan["step"]
  ) {
    const audit = (actor: string, kind: SuspensionAct["kind"]) =>
      items.audit(actor, `session.${PAST[kind]}`, undefined, { sessionId })
    if (step._tag === "observe") {
      yield* rows.observe(sessionId, acts.length + 1, step.kind, expiresAtUnixMs)
      yield* audit("other", step.kind)
    }
    if (step._tag === "settle") {
      yield* rows.settle(sessionId, step.n, step.outcome, undefined)
      const act = acts.find(({ n }) => n === step.n)
      if (act !== undefined && step.outcome === "done") yield* audit("service", act.kind)
    }
  })

  const plan = Effect.fnUntraced(function* (
    session: SeatSession,
    now: Snapshot,
    before: ReadonlyArray<SuspensionAct>,
    caller: object
  ) {
    const { sessionId } = session.row
    const all = yield* seats.lockAll(sessionId)
    const acts = yield* rows.of(sessionId)
    if (acts.length !== before.length || acts.at(-1)?.outcome !== before.at(-1)?.outcome) return undefined
    const nowUnixMs = yield* items.now
    const n = acts.length + 1
    if (calling.has(sessionId)) return { ...waitsForCall(nowUnixMs), n, nowUnixMs }
    const { facts, view } = session
    const planned = planSuspension(
      { view, sessionRules: facts.sessionRules, now, seats: yield* Effect.forEach(all, withItems), acts, pauses },
      nowUnixMs
    )
    const { state, step } = planned
    yield* keep(sessionId, now, acts, step)
    if (step._tag !== "call") return { ...planned, n, nowUnixMs }
    // A message that this seat has not read may be of an agent that is not finished.
    if (step.kind === "suspend" && acceptedIn(now) > view.messages.length) return { ...resting(state), n, nowUnixMs }
    yield* rows.intend(sessionId, n, step.kind, now.expiresAtUnixMs)
    calling.set(sessionId, caller)
    return { ...planned, n, nowUnixMs }
  })

  return {
    /**
     * The plan of a session, with the row of what it does. Undefined when there are other acts than before the session
     * was read: it is read again.
     */
    plan: (session: SeatSession, now: Snapshot, before: ReadonlyArray<SuspensionAct>, caller: object) =>
      work.inTransaction(plan(session, now, before, caller)),

    /** Whether a fiber of this process makes a call of the session. */
    isCalling: (sessionId: string) => calling.has(sessionId),

    /** The call of a caller has ended, or was never begun. */
    release: (sessionId: string, caller: object) =>
      Effect.sync(() => {
        if (calling.get(sessionId) === caller) calling.delete(sessionId)
      })
  }
})

const resting = (state: SuspensionPlan["state"], wakeAtUnixMs?: number): SuspensionPlan => ({
  step: { _tag: "rest", wakeAtUnixMs },
  state
})

/** How soon a fiber reads a session again of which another one makes a call. Milliseconds. */
const CALLING_MS = 100

const waitsForCall = (nowUnixMs: number): SuspensionPlan => resting({ _tag: "open" }, nowUnixMs + CALLING_MS)

/** The accepted messages of the participants; SessionStart is not among their activity. */
const acceptedIn = ({ participantActivity }: Snapshot): number =>
  participantActivity.reduce((total, { messageCount }) => total + messageCount, 1)
