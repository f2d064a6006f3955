import type { SessionRules } from "../../insight/ActivePolicy.ts"
import type { StoredItem } from "../SeatPlan.ts"
import type { SeatRules } from "../SeatRules.ts"
import type { SeatView } from "../SeatView.ts"

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
  /** When it was called, or stored. */
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

/** What the plan waits for. Milliseconds. */
export interface SuspensionPauses {
  /** After the last message, when each agent has acted: a reaction to it comes within this time. */
  readonly reactionMs: number
  /** After the last message, when an agent has not acted or may commit; and after a resume by another party. */
  readonly agentsMs: number
  /** How long a call whose result is not known may still take effect. */
  readonly callMs: number
}
