import { awaitsSession, isTerminal } from "@runplane/domain"
import { type Action, log, type Quiet, type Write } from "./decide/Action.ts"
import { follow, followSession } from "./decide/Bound.ts"
import { received } from "./decide/Counts.ts"
import type { Input } from "./decide/Input.ts"
import type { ObservedRun } from "./decide/ObservedRun.ts"
import { lookDeadline } from "./decide/SessionLook.ts"
import { streamDeadline } from "./decide/SessionStream.ts"
import { type Bound, type Decision, over, type Phase, stay } from "./decide/State.ts"
import { awaitSession, unbound } from "./decide/Unbound.ts"
import type { ObserverOptions } from "./ObserverSettings.ts"

/**
 * What makes the next alarm needless: the session goes on, its stream stands and is not doubted, and all that the alarm
 * is for is to ask whether that is still so (docs/internals/runtime.md#quiet).
 */
const quietUntil = (state: Bound, at: number): Quiet | undefined => {
  const { drain, look, stream } = state
  const { announced, deadline, endCheckAt, question, suspended } = look
  const isStanding = stream.connection._tag === "Open" && stream.connection.silence !== "asked"
  const isSettled = drain === undefined && question === undefined && announced === undefined
  // While suspended the runtime's clock stands still, so the deadline says nothing.
  const isOverdue = deadline !== undefined && deadline <= at && !suspended
  const isEndExpected = endCheckAt !== undefined || isOverdue
  return isStanding && isSettled && !isEndExpected ? { received: received(state), suspended } : undefined
}

/** Where an observation stands: what it waits for, and when it wants to be woken. */
export interface ObserverState {
  readonly phase: Phase
  /** The earliest `WakeAt` that has not been answered by a `Tick`. */
  readonly wakeAt: number | undefined
  /** Whether that one may never be answered. */
  readonly isResting: boolean
}

/** An observation of a run that is not over, before its first input, `Started`. */
export const observing = (run: ObservedRun, options: ObserverOptions): ObserverState => ({
  phase: unbound(run, options),
  wakeAt: undefined,
  isResting: false
})

/**
 * What an observer does about its run: await the session, bind, follow its stream and its state, drain, end
 * (docs/internals/runtime.md#observing). Pure and total: the clock and chance come with the input, all effects are
 * actions, and an input that nobody waits for changes nothing.
 */
export const decide = (state: ObserverState, input: Input): readonly [ObserverState, ReadonlyArray<Action>] => {
  const [phase, actions] = decidePhase(state.phase, input)
  const armed = input._tag === "Tick" || state.isResting ? undefined : state.wakeAt
  const next = deadlineOf(phase)
  const unless = next !== undefined && phase._tag === "Bound" ? quietUntil(phase, next) : undefined
  // A tick that comes too early is harmless: the next one is asked for then.
  if (next === undefined || (unless === undefined && armed !== undefined && armed <= next)) {
    return [{ phase, wakeAt: armed, isResting: false }, actions]
  }
  const wake: Action = { _tag: "WakeAt", at: next, ...(unless !== undefined && { unless }) }
  return [{ phase, wakeAt: next, isResting: unless !== undefined }, [...actions, wake]]
}

const decidePhase = (phase: Phase, input: Input): Decision => {
  if (phase._tag === "Over") return stay(phase)
  if (input._tag === "RunDeleted") return over(log("Info", "the run was deleted while it was observed"))
  if (input._tag === "CursorLost") return over(log("Warn", `another observer follows this run: ${input.reason}`))
  if (phase._tag === "Bound") return followSession(phase, input)
  return input._tag === "Started" && isBound(phase.run)
    ? follow(phase.run, phase.options, { ...input, cursor: phase.run.cursor })
    : awaitSession(phase, input)
}

const deadlineOf = (phase: Phase): number | undefined => {
  switch (phase._tag) {
    case "Unbound":
      return phase.pollAt
    case "Bound": {
      const deadlines = [streamDeadline(phase), lookDeadline(phase), phase.drain?.sliceAt]
      const earliest = Math.min(...deadlines.filter((deadline) => deadline !== undefined))
      return Number.isFinite(earliest) ? earliest : undefined
    }
    case "Over":
      return undefined
  }
}

/**
 * Why an observer starts: for a new run, for one found unfinished when the service started, or again after it failed.
 */
export type Adoption = "created" | "recovered" | "restarted"

/**
 * What is written of a run before it is observed again: a half-done binding is completed, a recovery is announced
 * (docs/internals/runtime.md#recovery).
 */
export const takeUp = (run: ObservedRun, adoption: Adoption): ReadonlyArray<Write> => [
  ...(run.status === "binding_session" ? [{ _tag: "Run", session: undefined } as const] : []),
  ...(adoption === "recovered" && isBound(run) ? [{ _tag: "Recovered" } as const] : [])
]

const isBound = ({ status }: ObservedRun): boolean => !awaitsSession(status) && !isTerminal(status)
