import type { SessionSnapshot } from "@runplane/domain"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import type { ObserverOptions } from "../ObserverSettings.ts"
import type { Action, TerminalSessionState } from "./Action.ts"
import type { SessionView } from "./Input.ts"
import type { ObservedRun, PendingCancel, RunSummary } from "./ObservedRun.ts"
import type { StreamPosition } from "./StreamPosition.ts"

/** Accepted envelopes of a session: the counted messages, and the SessionStart, which no activity counts. */
export const historyLength = (session: SessionSnapshot): number =>
  1 + session.participantActivity.reduce((sum, activity) => sum + activity.messageCount, 0)

/** Without an activity the runtime may not count at all. */
export const isCounted = (session: SessionSnapshot): boolean => session.participantActivity.length > 0

/** Stored envelopes of participants. */
export const received = (state: Bound): number => state.cursor - state.annotations.size

/** All times are whole Unix milliseconds. */
interface Observed {
  readonly run: ObservedRun
  readonly options: ObserverOptions
}

/** The run waits for its session. */
export interface Unbound extends Observed {
  readonly _tag: "Unbound"
  readonly step:
    | { readonly _tag: "Starting" }
    | { readonly _tag: "Initializing" }
    | { readonly _tag: "Awaiting"; readonly capabilities: string }
    /** The session's current policy is read. */
    | { readonly _tag: "Reading"; readonly session: SessionSnapshot; readonly capabilities: string }
    | { readonly _tag: "Binding"; readonly session: SessionSnapshot }
    /** The run was cancelled before its session opened: the session is cancelled when it opens. */
    | { readonly _tag: "Stopping"; readonly cancel: PendingCancel; readonly requested: boolean }
  /** When the waiting began. */
  readonly since: number
  /** Pauses so far. */
  readonly polls: number
  /** End of the pause before the next query; undefined while a query is pending. */
  readonly pollAt: number | undefined
  /**
   * An update of the session arrived during a query: the answer may be old, so the next query follows at once.
   */
  readonly updated: boolean
  /** The session, when the watch announced it before the runtime was initialized. */
  readonly announced: SessionSnapshot | undefined
  readonly early: EarlyStream
}

/** The subscription from before the binding, and its frames. */
export interface EarlyStream {
  /** Number of the newest subscription; 0 before the first. */
  readonly subscription: number
  readonly open: boolean
  readonly frames: ReadonlyArray<ObservedFrame>
  readonly bytes: number
}

/** The run follows its session: its frames go into the log, and its state becomes the run's. */
export interface Bound extends Observed {
  readonly _tag: "Bound"
  /** Number of stored session envelopes, which is the ordinal of the last one as long as none was lost. */
  readonly cursor: number
  /**
   * Ids of the stored envelopes that the runtime itself wrote: they have ordinals, but no activity counts them.
   */
  readonly annotations: ReadonlySet<string>
  /** Whether the log has the session's Commitment. */
  readonly committed: boolean
  readonly check: SessionCheck
  readonly stream: SessionStream
  /** The session has ended: the missing envelopes are read, and then the run ends. */
  readonly drain: Drain | undefined
}

/** How the observer follows the state of the session. */
export interface SessionCheck {
  readonly deadline: number | undefined
  readonly suspended: boolean
  /** The pending query. */
  readonly query:
    | { readonly _tag: "Ended" }
    | { readonly _tag: "Summary"; readonly view: SessionView }
    | { readonly _tag: "Paused"; readonly view: SessionView; readonly summary: RunSummary }
    | undefined
  /** The newest state that was announced during a query. */
  readonly announced: SessionView | undefined
  /** The answers NOT_FOUND in a row: time of the first one, and their number. */
  readonly unknown: { readonly since: number; readonly answers: number } | undefined
  /** The next check, and the next one because of a Commitment. */
  readonly checkAt: number | undefined
  readonly endCheckAt: number | undefined
}

export interface SessionStream {
  readonly position: StreamPosition
  /** Number of the newest subscription. */
  readonly subscription: number
  /** Subscriptions in a row without an envelope. */
  readonly attempt: number
  /** Subscriptions in a row that ended at an oversized message. */
  readonly oversized: number
  /** How often in a row it was opened again because it was silent. */
  readonly silences: number
  /** Inline errors since the log last moved: a repeated one is not stored again. */
  readonly errors: ReadonlySet<string>
  /** When the last subscription began. */
  readonly openedAt: number
  readonly connection:
    | {
        readonly _tag: "Open"
        readonly idleAt: number
        /** After the idle timeout the observer queries the runtime, which may confirm that no message is missing. */
        readonly silence: "none" | "queried" | "confirmed"
      }
    /** Ended; the observer reads the cursor of the log. */
    | { readonly _tag: "Ending"; readonly detail: string; readonly forbidden: boolean }
    | { readonly _tag: "Pausing"; readonly until: number; readonly detail: string }
    /** After the last attempt the observer subscribes again only when the runtime knows the session: it polls. */
    | { readonly _tag: "Doubting"; readonly until: number | undefined; readonly poll: number; readonly detail: string }
    /** The runtime has dropped the history after the cursor; the observer waits for the session's end. */
    | { readonly _tag: "Gone"; readonly until: number; readonly poll: number }
}

/** The end of a session; without a snapshot when the runtime has forgotten the session. */
export interface SessionEnd {
  readonly state: TerminalSessionState
  readonly snapshot: SessionSnapshot | undefined
}

export interface Drain {
  readonly end: { readonly state: TerminalSessionState; readonly snapshot: SessionSnapshot }
  /** Envelopes that the runtime has counted. */
  readonly expected: number
  /**
   * First every counted envelope, then a silence for the uncounted ones. After the end of a run without its whole
   * history, late frames are stored.
   */
  readonly goal: "whole" | "silent" | "late"
  /** The second count when the log lacks the Commitment that resolved the session. */
  readonly recount: "due" | "requested"
  /** The required silence, in slices, and how many of them have passed. */
  readonly silenceMs: number
  readonly slices: number
  readonly sliceAt: number
  /** The cursor when it last moved, and when that was. */
  readonly cursor: number
  readonly since: number
  /** Reads of the whole history in a row without a new envelope. */
  readonly fruitless: number
}

export interface Over {
  readonly _tag: "Over"
}

export type Phase = Unbound | Bound | Over

export type Decision<A = Phase> = readonly [A, ReadonlyArray<Action>]

export const stay = <A>(state: A): Decision<A> => [state, []]

/** The observation is over, after these actions. */
export const over = (...actions: ReadonlyArray<Action>): Decision => [
  { _tag: "Over" },
  [...actions, { _tag: "Finish" }]
]

/** Decides on from the result of a decision while the run is bound. */
export const thenBound = ([state, actions]: Decision, next: (state: Bound) => Decision): Decision => {
  if (state._tag !== "Bound") return [state, actions]
  const [after, more] = next(state)
  return [after, [...actions, ...more]]
}
