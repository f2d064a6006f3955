import type { SessionSnapshot } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { ObservedRun } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import type { PumpState } from "./PumpState.ts"
import { makeRunLifecycle, type TerminalSessionState } from "./RunLifecycle.ts"

/** How often the whole history is read again in a row without finding what is missing. */
const FRUITLESS_READS = 2
const QUIET_SLICES = 10
/** How long the stream of a cancelled session is listened to for the runtime's own last word. Milliseconds. */
const LAST_WORD_MS = 100

/** The runtime's word that a session has ended; without a snapshot when it has forgotten the session. */
export interface SessionEnd {
  readonly state: TerminalSessionState
  readonly snapshot: SessionSnapshot | undefined
}

/**
 * Waits until the log holds what the history of an ended session still has (design rule 6; runtime-wire section 3.6). The runtime
 * counts the accepted messages of each participant, so the length of the history is known. When the stream is open
 * and silent although envelopes are missing, they were lost on their way, and the history is read again from its beginning:
 * what the log has is dropped there, so the late ones are added and nothing comes twice. What the runtime does not deliver even
 * then is given up and marked as a gap.
 */
export const makeSessionDrain = Effect.gen(function* () {
  const settings = yield* ObserverSettings
  const lifecycle = yield* makeRunLifecycle

  /**
   * Whether the open stream is silent for that long. Asked in slices: when the whole process was held up, a timer that is over
   * fires before the frames are read that have come meanwhile.
   */
  const isSilent = Effect.fnUntraced(function* (quietMs: number, state: PumpState) {
    for (let slice = 0; slice < QUIET_SLICES; slice++) {
      const moved = yield* Effect.timeoutOption(Queue.take(state.progress), quietMs / QUIET_SLICES)
      if (Option.isSome(moved) || state.storing || !state.connected) return false
    }
    return true
  })

  /** Waits for the envelopes that the runtime has counted; answers whether all have come. */
  const untilWhole = Effect.fnUntraced(function* (expected: number, state: PumpState) {
    let known = state.cursor
    let since = yield* Clock.currentTimeMillis
    let fruitless = 0
    while (countedIn(state) < expected) {
      if (state.historyGone) return false
      const silent = yield* isSilent(settings.drainTimeoutMs, state)
      const now = yield* Clock.currentTimeMillis
      if (state.cursor > known) {
        known = state.cursor
        since = now
        fruitless = 0
      }
      if (countedIn(state) >= expected || state.storing) continue
      // Repetitions are progress too while the history is read again, but not for ever.
      if (now - since > settings.longestDrainMs) return false
      if (!silent) continue
      if (fruitless === FRUITLESS_READS) return false
      fruitless += 1
      yield* Effect.logInfo(`${countedIn(state)} of ${expected} envelopes have come: reading the history again`)
      state.readAgain()
    }
    return true
  })

  /** Waits until the open stream has been silent for that long. */
  const untilSilent = Effect.fnUntraced(function* (quietMs: number, state: PumpState) {
    let known = state.cursor
    let since = yield* Clock.currentTimeMillis
    while (!state.historyGone && !(yield* isSilent(quietMs, state))) {
      const now = yield* Clock.currentTimeMillis
      if (state.cursor > known || state.storing) {
        known = state.cursor
        since = now
      }
      if (now - since > settings.longestDrainMs) return
    }
  })

  return Effect.fnUntraced(function* (run: ObservedRun, { snapshot, state: ended }: SessionEnd, state: PumpState) {
    state.draining = true
    yield* state.hurry.open
    // A session that the runtime has forgotten has no history to wait for.
    if (snapshot === undefined) return
    const expected = historyLength(snapshot)
    if (!(yield* untilWhole(expected, state))) {
      const detail = `the session ended after ${expected} envelopes, of which ${countedIn(state)} were received`
      yield* Effect.logWarning(detail)
      if (!state.historyGone) yield* lifecycle.announceGap(run, detail, state.cursor)
      return
    }
    // Without any activity the runtime may be one that does not count.
    if (snapshot.participantActivity.length === 0) yield* untilSilent(settings.endCheckDelayMs, state)
    // Newer runtimes write a SessionCancel after they have told of the cancellation, which no count includes.
    else if (ended === "CANCELLED") yield* untilSilent(LAST_WORD_MS, state)
  })
})

/** Stored envelopes of participants: the runtime's own annotations have ordinals, but belong to nobody's activity. */
const countedIn = (state: PumpState): number => state.cursor - state.annotations.size

/** Accepted envelopes of a session; its SessionStart is there always, and in nobody's activity. */
const historyLength = (session: SessionSnapshot): number =>
  1 + session.participantActivity.reduce((sum, activity) => sum + activity.messageCount, 0)
