import { awaitsSession, isTerminal } from "@runplane/domain"
import { type Action, type Idleness, log, type Write } from "./decide/Action.ts"
import { follow, followSession } from "./decide/Bound.ts"
import type { Input } from "./decide/Input.ts"
import type { ObservedRun } from "./decide/ObservedRun.ts"
import { checkDeadline } from "./decide/SessionCheck.ts"
import { streamDeadline } from "./decide/SessionStream.ts"
import { type Bound, type Decision, over, type Phase, received, stay } from "./decide/State.ts"
import { awaitSession, unbound } from "./decide/Unbound.ts"
import type { ObserverOptions } from "./ObserverSettings.ts"

/**
 * The condition under which the next alarm is not needed: the session goes on, its stream is open, and the alarm would
 * only check that (docs/internals/runtime.md#idle-sessions).
 */
const idlenessUntil = (state: Bound, at: number): Idleness | undefined => {
  const { check, drain, stream } = state
  const { announced, deadline, endCheckAt, query, suspended } = check
  const isOpen = stream.connection._tag === "Open" && stream.connection.silence !== "queried"
  const isSettled = drain === undefined && query === undefined && announced === undefined
  // The deadline does not pass while the session is suspended.
  const isOverdue = deadline !== undefined && deadline <= at && !suspended
  const isEndExpected = endCheckAt !== undefined || isOverdue
  return isOpen && isSettled && !isEndExpected ? { received: received(state), suspended } : undefined
}

/** The state of an observation: what it waits for, and its next alarm. */
export interface ObserverState {
  readonly phase: Phase
  /** The earliest `WakeAt` without its `Tick`. */
  readonly wakeAt: number | undefined
  /** Whether that `Tick` may never come, because the session is idle. */
  readonly isIdle: boolean
}

/** An observation of a run that is not over, before its first input, `Started`. */
export const observing = (run: ObservedRun, options: ObserverOptions): ObserverState => ({
  phase: unbound(run, options),
  wakeAt: undefined,
  isIdle: false
})

/**
 * What an observer does about its run: await the session, bind, follow its stream and its state, drain, end
 * (docs/internals/runtime.md#observing). Pure and total: the clock and chance come with the input, all effects are
 * actions, and an unexpected input changes nothing.
 */
export const decide = (state: ObserverState, input: Input): readonly [ObserverState, ReadonlyArray<Action>] => {
  const [phase, actions] = decidePhase(state.phase, input)
  const armed = input._tag === "Tick" || state.isIdle ? undefined : state.wakeAt
  const next = deadlineOf(phase)
  const unless = next !== undefined && phase._tag === "Bound" ? idlenessUntil(phase, next) : undefined
  // An early tick is harmless: it sets the next alarm.
  if (next === undefined || (unless === undefined && armed !== undefined && armed <= next)) {
    return [{ phase, wakeAt: armed, isIdle: false }, actions]
  }
  const wake: Action = { _tag: "WakeAt", at: next, ...(unless !== undefined && { unless }) }
  return [{ phase, wakeAt: next, isIdle: unless !== undefined }, [...actions, wake]]
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
      const deadlines = [streamDeadline(phase), checkDeadline(phase), phase.drain?.sliceAt]
      const earliest = Math.min(...deadlines.filter((deadline) => deadline !== undefined))
      return Number.isFinite(earliest) ? earliest : undefined
    }
    case "Over":
      return undefined
  }
}

/**
 * Why an observer starts: the run is new, it was unfinished at the start of the service, or its observer has failed.
 */
export type Adoption = "created" | "recovered" | "restarted"

/**
 * The writes before a run is observed again: they complete a half-done binding and announce a recovery
 * (docs/internals/runtime.md#recovery).
 */
export const writesBefore = (run: ObservedRun, adoption: Adoption): ReadonlyArray<Write> => [
  ...(run.status === "binding_session" ? [{ _tag: "Run", session: undefined } as const] : []),
  ...(adoption === "recovered" && isBound(run) ? [{ _tag: "Recovered" } as const] : [])
]

const isBound = ({ status }: ObservedRun): boolean => !awaitsSession(status) && !isTerminal(status)
