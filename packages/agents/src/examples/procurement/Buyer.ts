import type { ProposalMode } from "@runplane/runtime"
import type { Brief } from "../runner/Brief.ts"
import type { Model } from "../runner/LlmCall.ts"
import { Negotiation } from "../runner/Messages.ts"
import { act, cancel, leading, progress, type Step, say, think, waitFor } from "../runner/Strategy.ts"
import { concluding, ended, opening, usedModel } from "../runner/Telemetry.ts"
import { offerOf, type Side } from "./Bargaining.ts"
import { type Offer, type Table, tableOf } from "./Negotiation.ts"
import { answer, type Party, sign } from "./Party.ts"
import { type SourcingContext, sourcingOf } from "./SourcingContext.ts"
import { describeTerms, encodeTerms } from "./Terms.ts"

/** How long the buyer waits for an answer, in milliseconds. */
const ANSWER_WAIT_MS = 60_000

const MODEL: Model = { model: "vendor1-4o", provider: "vendor1", baseLatencyMs: 480 }

/**
 * The initiator of a negotiation: opens with the terms it would like best, gives in step by step up to its limit, and
 * commits the result once all parties have accepted one offer or one party has rejected for good. Without a released
 * budget it requests the supplier's price and calls the negotiation off.
 */
export const buyer = leading(Negotiation.Proposal, ({ brief, overdue, session }, kickoff) => {
  const sourcing = sourcingOf(brief.context)
  const table = tableOf(session, sourcing.rules.rejectionIsFinal)
  const party = partyOf(brief, sourcing)
  const { last } = table
  if (last === undefined) return firstOffer(brief, party, kickoff)
  if (table.finalRejection !== undefined) {
    const { by, reason } = table.finalRejection
    return conclude(brief, kickoff.proposalId, false, `no agreement, ${by} refuses: ${reason}`)
  }
  if (brief.participants.every((participant) => table.accepted(participant, last))) {
    const terms = last.terms === undefined ? "terms that cannot be read" : describeTerms(last.terms)
    return conclude(brief, last.proposalId, true, `agreed after ${table.rounds} counter-offers: ${terms}`)
  }
  if (last.proposer !== brief.self && !table.accepted(brief.self, last))
    return respond(brief, party, table, last, sourcing)
  if (isAgreedByOthers(brief, table, last)) return act(...sign(last))
  return overdue ? act(cancel("no answer at the table")) : waitFor(ANSWER_WAIT_MS)
})

const firstOffer = (brief: Brief, party: Party, kickoff: ProposalMode.ProposalPayload): Step => {
  const terms = offerOf(party.side, 0, party.offers, `${brief.seed}:${brief.self}`)
  const { proposalId, tags, title } = kickoff
  const summary = kickoff.summary === "" ? describeTerms(terms) : `${kickoff.summary} ${describeTerms(terms)}`
  const offer = say(Negotiation.Proposal, { proposalId, title, summary, details: encodeTerms(terms), tags })
  return opening(brief, [offer], 0.1, "the supplier")
}

const respond = (brief: Brief, party: Party, table: Table, offer: Offer, sourcing: SourcingContext): Step => {
  if (!sourcing.budgetReleased) {
    const reason = `the budget of ${sourcing.requestId} is not released: thank you for the price`
    return act(think("stop"), progress(1, reason), ended(brief, "NONE", "cancelled"), cancel(reason))
  }
  const { actions, summary } = answer(party, table, offer)
  return act(
    think(`round ${table.rounds}`),
    usedModel(MODEL, brief, summary),
    progress(Math.min(0.2 + table.rounds * 0.1, 0.8), `weighing offer ${table.rounds + 1}`),
    ...actions
  )
}

const conclude = (brief: Brief, proposalId: string, positive: boolean, reason: string): Step => {
  const action = positive ? "proposal.accepted" : "proposal.rejected"
  return act(
    think("conclude"),
    ...concluding(
      brief,
      { commitmentId: `${proposalId}-final`, action, positive, scope: "supplier_contract", reason },
      positive ? "ACCEPT" : "REJECT"
    )
  )
}

const isAgreedByOthers = ({ participants, self }: Brief, table: Table, offer: Offer): boolean =>
  offer.proposer === self &&
  !table.accepted(self, offer) &&
  participants.every((participant) => participant === self || table.accepted(participant, offer))

const partyOf = ({ seed, self }: Brief, { buyer: own, legal, quantity, rules, supplier }: SourcingContext): Party => {
  const side: Side = {
    opening: {
      unitPrice: own.targetPrice,
      quantity,
      paymentDays: own.paymentDays,
      liabilityCap: legal.minimumLiabilityCap
    },
    limitPrice: own.limitPrice,
    wants: "lower",
    settleDays: Math.round((own.paymentDays + supplier.paymentDays) / 2)
  }
  // The opening and every second counter-offer are the buyer's; liability is counsel's concern.
  const offers = 1 + Math.floor(rules.maxRounds / 2)
  return { self, seed, side, offers, ...rules, obstacle: () => undefined }
}
