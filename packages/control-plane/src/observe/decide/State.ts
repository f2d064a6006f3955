import type { SessionSnapshot } from "@runplane/domain"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import type { ObserverOptions } from "../ObserverSettings.ts"
import type { Action, TerminalSessionState } from "./Action.ts"
import type { SessionView } from "./Input.ts"
import type { LateCancel, ObservedRun, RunStanding } from "./ObservedRun.ts"
import type { StreamPlace } from "./StreamPlace.ts"

/** All times are whole Unix milliseconds: a deadline that lies between two of them is over at neither. */
interface Observed {
  readonly run: ObservedRun
  readonly options: ObserverOptions
}

/** The run waits for its session. */
export interface Unbound extends Observed {
  readonly _tag: "Unbound"
  readonly step:
    | { readonly _tag: "Starting" }
    | { readonly _tag: "Greeting" }
    | { readonly _tag: "Awaiting"; readonly capabilities: string }
    /** The session's policy is read, as it is now. */
    | { readonly _tag: "Reading"; readonly session: SessionSnapshot; readonly capabilities: string }
    | { readonly _tag: "Binding"; readonly session: SessionSnapshot }
    /** The run was cancelled before its session opened: the session is stopped when it does. */
    | { readonly _tag: "Stopping"; readonly cancel: LateCancel; readonly asked: boolean }
  /** When the waiting began. */
  readonly since: number
  /** Pauses so far. */
  readonly polls: number
  /** End of the pause before the next question; undefined while a question is open. */
  readonly pollAt: number | undefined
  /**
   * The session was heard of while a question was open: its answer may be old, so the next question follows at once.
   */
  readonly updated: boolean
  /** What was heard of the session before the runtime was greeted. */
  readonly heard: SessionSnapshot | undefined
  readonly early: EarlyStream
}

/** The subscription that is opened before the run is bound, and what it has brought. */
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
   * Ids of the stored envelopes that the runtime itself has written: they have ordinals, but count as nobody's
   * activity.
   */
  readonly annotations: ReadonlySet<string>
  /** Whether the log has the session's Commitment. */
  readonly committed: boolean
  readonly look: Look
  readonly stream: SessionStream
  /** The session has ended: what is missing is fetched, and then the run ends. */
  readonly drain: Drain | undefined
}

/** How the state of the session is kept in view. */
export interface Look {
  readonly deadline: number | undefined
  readonly suspended: boolean
  /** What is being found out. */
  readonly question:
    | { readonly _tag: "Ended" }
    | { readonly _tag: "Standing"; readonly view: SessionView }
    | { readonly _tag: "Paused"; readonly view: SessionView; readonly standing: RunStanding }
    | undefined
  /** The newest state that was announced while something else was being found out. */
  readonly announced: SessionView | undefined
  /** The answers NOT_FOUND in a row: time of the first one, and their number. */
  readonly unknown: { readonly since: number; readonly answers: number } | undefined
  /** When the runtime is asked next, and when because of a Commitment. */
  readonly checkAt: number | undefined
  readonly endCheckAt: number | undefined
}

export interface SessionStream {
  readonly place: StreamPlace
  /** Number of the newest subscription. */
  readonly subscription: number
  /** Subscriptions in a row that brought nothing. */
  readonly attempt: number
  /** Subscriptions in a row that ended at a message that is larger than what is taken. */
  readonly oversized: number
  /** How often in a row it was opened again because nothing had come. */
  readonly silences: number
  /** Inline errors since the log last moved: a repeated one is not stored again. */
  readonly errors: ReadonlySet<string>
  /** When the last subscription began. */
  readonly openedAt: number
  readonly connection:
    | {
        readonly _tag: "Open"
        readonly idleAt: number
        /** After the idle time-out the runtime is asked, and may confirm that nothing is missing. */
        readonly silence: "none" | "asked" | "confirmed"
      }
    /** Ended; the log is asked where it stands. */
    | { readonly _tag: "Ending"; readonly detail: string; readonly forbidden: boolean }
    | { readonly _tag: "Pausing"; readonly until: number; readonly detail: string }
    /** After the last attempt only a runtime that knows the session is worth another: it is asked, again and again. */
    | { readonly _tag: "Doubting"; readonly until: number | undefined; readonly poll: number; readonly detail: string }
    /** The history can no longer be read from where the log stands; only the session's end is waited for. */
    | { readonly _tag: "Gone"; readonly until: number; readonly poll: number }
}

/** The runtime's word that a session has ended; without a snapshot when it has forgotten the session. */
export interface SessionEnd {
  readonly state: TerminalSessionState
  readonly snapshot: SessionSnapshot | undefined
}

export interface Drain {
  readonly end: { readonly state: TerminalSessionState; readonly snapshot: SessionSnapshot }
  /** Envelopes that the runtime has counted. */
  readonly expected: number
  /**
   * First everything that was counted, then a silence in which what is not counted may come. After the end of a run
   * whose history is not whole, what still comes late is stored.
   */
  readonly goal: "whole" | "silent" | "late"
  /** How the runtime's counting is verified when a session was resolved by a Commitment that nobody has seen. */
  readonly recount: "due" | "asked"
  /** The silence that is waited for, in slices, and how many of them have passed. */
  readonly quietMs: number
  readonly slices: number
  readonly sliceAt: number
  /** The cursor when it last moved, and when that was. */
  readonly cursor: number
  readonly since: number
  /** Readings of the whole history in a row that found nothing. */
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

/** Goes on deciding where a decision has led, unless that was elsewhere. */
export const thenBound = ([state, actions]: Decision, next: (state: Bound) => Decision): Decision => {
  if (state._tag !== "Bound") return [state, actions]
  const [after, more] = next(state)
  return [after, [...actions, ...more]]
}
