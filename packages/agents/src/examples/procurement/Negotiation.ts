import { Negotiation } from "../runner/Messages.ts"
import { messagesOf, type Session } from "../runner/Session.ts"
import { decodeTerms, type Terms } from "./Terms.ts"

export interface Offer {
  readonly proposalId: string
  readonly proposer: string
  readonly terms: Terms | undefined
}

/** The state of a negotiation. */
export interface Table {
  /** All offers in their order, withdrawn ones included; the last one is under negotiation. */
  readonly offers: ReadonlyArray<Offer>
  readonly last: Offer | undefined
  /** Counter-proposals so far. */
  readonly rounds: number
  readonly withdrawn: ReadonlySet<string>
  /** Whether a participant has accepted an offer, and not another one since. */
  readonly accepted: (participant: string, offer: Offer) => boolean
  /** Offers that were rejected for good, with the reason. */
  readonly finalRejection: { readonly by: string; readonly reason: string } | undefined
}

/** Reads the table off the session; `rejectionIsFinal` when the policy makes every rejection the last word. */
export const tableOf = (session: Session, rejectionIsFinal: boolean): Table => {
  const counters = messagesOf(session, Negotiation.CounterProposal)
  const offers = [...messagesOf(session, Negotiation.Proposal), ...counters].map(
    ({ payload, sender }): Offer => ({
      proposalId: payload.proposalId,
      proposer: sender,
      terms: decodeTerms(payload.details)
    })
  )
  const accepts = new Map(
    messagesOf(session, Negotiation.Accept).map(({ payload, sender }) => [sender, payload.proposalId])
  )
  const final = messagesOf(session, Negotiation.Reject).find(({ payload }) => payload.terminal || rejectionIsFinal)
  return {
    offers,
    last: offers.at(-1),
    rounds: counters.length,
    withdrawn: new Set(messagesOf(session, Negotiation.Withdraw).map(({ payload }) => payload.proposalId)),
    accepted: (participant, { proposalId }) => accepts.get(participant) === proposalId,
    finalRejection: final && { by: final.sender, reason: final.payload.reason }
  }
}
