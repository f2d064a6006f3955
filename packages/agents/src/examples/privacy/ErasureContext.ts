import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { contextReader, flag, number, text } from "../runner/ContextFields.ts"

/** What the agents know about an erasure: the session context of the scenario `privacy/erasure-request`. */
export const ErasureContext = Schema.Struct({
  requestId: text("ERA-0000"),
  subjectRef: text("subject"),
  systems: Schema.Array(Schema.String).pipe(Schema.withDecodingDefault(Effect.succeed(["accounts"]))),
  recordsEstimated: number(100),
  /** A court or an authority wants the data kept. */
  legalHold: flag(false),
  /** Whether the systems write the log that proves an erasure. */
  erasureLog: flag(true),
  /** Hours of work that each engineer still has before this, by participant. */
  backlogHours: Schema.Record(Schema.String, Schema.Finite).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  /** Hours within which the work has to begin. */
  startWithinHours: number(16),
  /** Whether the policy lets one engineer take what another has refused. */
  reassignable: flag(true)
})

export type ErasureContext = typeof ErasureContext.Type

export const erasureOf = contextReader(ErasureContext)
