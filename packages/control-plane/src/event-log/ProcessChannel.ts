import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Words of the processes on a database for each other. They are told at most once and to who is there: nothing may
 * depend on a word but how soon, or how fully, something is known.
 */
export interface MessageExchange {
  /** Returns once the database has the words; what cannot be told is logged. `text` is up to some 7,000 bytes long. */
  readonly send: (subject: string, text: string) => Effect.Effect<void>
  /** Called with each word of the others on the subject; for what must not wait or fail. */
  readonly listen: (subject: string, listener: (text: string) => void) => Effect.Effect<void, never, Scope.Scope>
}

/** Without an exchange a process is alone. */
export const ProcessChannel = Context.Reference<MessageExchange>("runplane/control-plane/ProcessChannel", {
  defaultValue: () => ({ send: () => Effect.void, listen: () => Effect.void })
})
