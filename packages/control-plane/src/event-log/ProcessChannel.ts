import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Messages between the processes of one database. A message is delivered at most once, to the connected processes, so a
 * lost message may only delay information or leave out details.
 */
export interface MessageExchange {
  /** Returns when the database has the message; an error is logged. `text` has up to some 7,000 bytes. */
  readonly send: (subject: string, text: string) => Effect.Effect<void>
  /** Calls a listener, which must not wait or fail, with each message of the other processes on the subject. */
  readonly listen: (subject: string, listener: (text: string) => void) => Effect.Effect<void, never, Scope.Scope>
}

/** The default is a process without others. */
export const ProcessChannel = Context.Reference<MessageExchange>("runplane/control-plane/ProcessChannel", {
  defaultValue: () => ({ send: () => Effect.void, listen: () => Effect.void })
})
