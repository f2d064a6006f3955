import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** What is negotiated. It travels as JSON in the `details` of a proposal. */
export const Terms = Schema.Struct({
  /** Euros. */
  unitPrice: Schema.Finite,
  quantity: Schema.Finite,
  /** Days from delivery to payment. */
  paymentDays: Schema.Finite,
  /** What the supplier is liable for at most, as a multiple of the order's value. */
  liabilityCap: Schema.Finite
})

export type Terms = typeof Terms.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Terms))

export const encodeTerms = (terms: Terms): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(terms))

/** Undefined for details that are not terms, which cannot be accepted. */
export const decodeTerms = (details: Uint8Array): Terms | undefined =>
  Option.getOrUndefined(decode(new TextDecoder().decode(details)))

export const describeTerms = ({ liabilityCap, paymentDays, quantity, unitPrice }: Terms): string =>
  `${quantity} at ${euros(unitPrice)}, paid in ${paymentDays} days, liable up to ${liabilityCap}x the order`

export const euros = (amount: number): string => `EUR ${amount.toLocaleString("en-US")}`
