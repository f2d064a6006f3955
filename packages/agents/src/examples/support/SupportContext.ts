import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { contextReader, flag, number, text } from "../runner/ContextFields.ts"

/** What the agents know about a case: the session context of the scenario `support/escalation`. */
export const SupportContext = Schema.Struct({
  ticketId: text("SUP-0000"),
  customer: Schema.Struct({ name: text("customer"), tier: text("standard") }).pipe(
    Schema.withDecodingDefault(Effect.succeed({}))
  ),
  product: text("product"),
  category: text("billing"),
  summary: text(""),
  stepsTried: Schema.Array(Schema.String).pipe(Schema.withDecodingDefault(Effect.succeed([]))),
  /** The customer has written that the problem is gone. */
  solvedMeanwhile: flag(false),
  /** Open cases, by participant. */
  queue: Schema.Record(Schema.String, Schema.Finite).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  /** Participants who are away and do not answer. */
  away: Schema.Array(Schema.String).pipe(Schema.withDecodingDefault(Effect.succeed([]))),
  /** Milliseconds after which the policy takes silence for acceptance; 0 when it does not. */
  silenceAcceptsAfterMs: number(0)
})

export type SupportContext = typeof SupportContext.Type

export const supportOf = contextReader(SupportContext)
