import { Negotiation } from "../runner/Messages.ts"
import { pick } from "../runner/Seed.ts"
import { type Action, progress, say, think } from "../runner/Strategy.ts"
import { isAffordable, isGoodEnough, offerOf, type Side } from "./Bargaining.ts"
import type { Offer, Table } from "./Negotiation.ts"
import { describeTerms, encodeTerms, euros, type Terms } from "./Terms.ts"

/** What buyer and supplier have in common: two sides of one table that answer each other's offers. */
export interface Party {
  readonly self: string
  readonly seed: string
  readonly side: Side
  /** Offers this side makes at most; the policy's limit of counter-proposals is shared by both. */
  readonly offers: number
  readonly maxRounds: number
  readonly rejectionIsFinal: boolean
  /** What apart from the price makes an offer of the other side unacceptable; undefined when nothing does. */
  readonly obstacle: (terms: Terms) => string | undefined
}

export interface Answer {
  readonly actions: ReadonlyArray<Action>
  /** A summary of the answer, for the record of the model call. */
  readonly summary: string
}

/** Accepts the other side's offer, counters it, or walks away from it. */
export const answer = (party: Party, table: Table, offer: Offer): Answer => {
  const { maxRounds, seed, self, side } = party
  const made = table.offers.filter(({ proposer }) => proposer === self).length
  const next = offerOf(side, made, party.offers, `${seed}:${self}`)
  const { terms } = offer
  const obstacle = terms === undefined ? "no readable terms" : party.obstacle(terms)
  const isLastRound = table.rounds >= maxRounds
  const price = terms?.unitPrice ?? 0
  const takes = isLastRound ? isAffordable(side, price) : isGoodEnough(side, price, next)
  if (obstacle === undefined && takes) return accept(offer, `${euros(price)} is ${pick(`${seed}:${made}`, GOOD)}`)
  if (!isLastRound) return counter(party, table, offer, next)
  return walkAway(offer, obstacle ?? `${euros(price)} is ${wrongWay(side)} what we can do, and the rounds are used up`)
}

/** The proposer accepts its own offer after all other parties; policies that require all parties wait for it. */
export const sign = ({ proposalId }: Offer): ReadonlyArray<Action> => [
  think("sign"),
  say(Negotiation.Accept, { proposalId, reason: "signed as offered" })
]

const GOOD = ["better than my next offer", "within reach for both sides", "a price I can defend"] as const

/** How far beyond the limit, as a factor, an offer must be to be rejected in so many words before it is countered. */
const FAR_OFF = 1.12

const accept = ({ proposalId }: Offer, reason: string): Answer => ({
  actions: [say(Negotiation.Accept, { proposalId, reason }), progress(0.9, "accepted")],
  summary: `accept: ${reason}`
})

const counter = ({ rejectionIsFinal, seed, self, side }: Party, table: Table, offer: Offer, next: Terms): Answer => {
  const round = table.rounds + 1
  const previous = table.offers.findLast(({ proposer }) => proposer === self)
  const price = offer.terms?.unitPrice ?? 0
  const farOff = side.wants === "lower" ? price > side.limitPrice * FAR_OFF : price * FAR_OFF < side.limitPrice
  const reason = `${euros(price)} is ${wrongWay(side)} anything we can discuss`
  const summary = `${pick(`${seed}:${self}:${round}`, OPENERS)}: ${describeTerms(next)}`
  return {
    actions: [
      ...(farOff && !rejectionIsFinal ? [say(Negotiation.Reject, { proposalId: offer.proposalId, reason })] : []),
      say(Negotiation.CounterProposal, {
        proposalId: `${table.offers[0]?.proposalId ?? "offer"}-r${round}`,
        supersedesProposalId: offer.proposalId,
        title: `Counter-offer ${round}`,
        summary,
        details: encodeTerms(next)
      }),
      // The earlier offer is void; the runtime would keep it open.
      ...(previous === undefined || table.withdrawn.has(previous.proposalId)
        ? []
        : [
            say(Negotiation.Withdraw, { proposalId: previous.proposalId, reason: `replaced by counter-offer ${round}` })
          ])
    ],
    summary: `counter: ${summary}`
  }
}

const OPENERS = [
  "we can meet you here",
  "our next step",
  "with the volume in mind",
  "if that settles it today"
] as const

const walkAway = ({ proposalId }: Offer, reason: string): Answer => ({
  actions: [say(Negotiation.Reject, { proposalId, terminal: true, reason }), progress(1, "walked away")],
  summary: `walk away: ${reason}`
})

const wrongWay = ({ wants }: Side): string => (wants === "lower" ? "above" : "below")
