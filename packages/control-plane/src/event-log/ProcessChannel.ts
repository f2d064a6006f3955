import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Messages between the processes on a database. A running process receives each message at most once: a lost message
 * may only delay or shorten information.
 */
export interface MessageExchange {
  /** Returns once the database has the message; logs a failure. `text` has up to some 7,000 bytes. */
  readonly send: (subject: string, text: string) => Effect.Effect<void>
  /** Calls the listener with each message of another process on the subject. It must neither wait nor fail. */
  readonly listen: (subject: string, listener: (text: string) => void) => Effect.Effect<void, never, Scope.Scope>
}

/** By default the process is alone. */
export const ProcessChannel = Context.Reference<MessageExchange>("runplane/control-plane/ProcessChannel", {
  defaultValue: () => ({ send: () => Effect.void, listen: () => Effect.void })
})
