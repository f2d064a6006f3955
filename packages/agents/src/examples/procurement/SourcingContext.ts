import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { contextReader, flag, number, text } from "../runner/ContextFields.ts"

/**
 * The session context of the scenario `procurement/supplier-terms`. Every agent gets all of it from the launch service,
 * and reads only its own side.
 */
export const SourcingContext = Schema.Struct({
  requestId: text("RFQ-0000"),
  item: text("item"),
  quantity: number(1),
  /** Whether the money may be spent; without it the buyer only sounds the market. */
  budgetReleased: flag(true),
  buyer: Schema.Struct({ targetPrice: number(90), limitPrice: number(100), paymentDays: number(60) }).pipe(
    Schema.withDecodingDefault(Effect.succeed({}))
  ),
  supplier: Schema.Struct({
    listPrice: number(110),
    floorPrice: number(95),
    paymentDays: number(30),
    liabilityCap: number(1)
  }).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  legal: Schema.Struct({ minimumLiabilityCap: number(1) }).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  rules: Schema.Struct({
    /** Counter-proposals that the policy allows. */
    maxRounds: number(6),
    /** Under the policy a single rejection ends the negotiation, so no party rejects to make a point. */
    rejectionIsFinal: flag(false)
  }).pipe(Schema.withDecodingDefault(Effect.succeed({})))
})

export type SourcingContext = typeof SourcingContext.Type

export const sourcingOf = contextReader(SourcingContext)
