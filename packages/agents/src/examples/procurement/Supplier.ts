import type { Brief } from "../runner/Brief.ts"
import type { Model } from "../runner/LlmCall.ts"
import { act, progress, type Strategy, think, wait } from "../runner/Strategy.ts"
import { started, usedModel } from "../runner/Telemetry.ts"
import type { Side } from "./Bargaining.ts"
import { tableOf } from "./Negotiation.ts"
import { answer, type Party, sign } from "./Party.ts"
import { type SourcingContext, sourcingOf } from "./SourcingContext.ts"

const MODEL: Model = { model: "vendor2-3-sonnet", provider: "vendor2", baseLatencyMs: 450 }

/**
 * The other side of the table: starts from its list price and stops at its floor; it will not be liable beyond its cap.
 */
export const supplier: Strategy = ({ brief, session }) => {
  const sourcing = sourcingOf(brief.context)
  const table = tableOf(session, sourcing.rules.rejectionIsFinal)
  const { last } = table
  if (last === undefined || table.finalRejection !== undefined) return wait
  const isFirst = !session.some(({ sender }) => sender === brief.self)
  if (last.proposer !== brief.self && !table.accepted(brief.self, last)) {
    const { actions, summary } = answer(partyOf(brief, sourcing), table, last)
    return act(
      ...(isFirst ? [started(brief)] : []),
      think(`round ${table.rounds}`),
      usedModel(MODEL, brief, summary),
      progress(Math.min(0.2 + table.rounds * 0.1, 0.8), `answering offer ${table.rounds + 1}`),
      ...actions
    )
  }
  const othersAgree = brief.participants.every(
    (participant) => participant === brief.self || table.accepted(participant, last)
  )
  return othersAgree && last.proposer === brief.self && !table.accepted(brief.self, last) ? act(...sign(last)) : wait
}

const partyOf = ({ seed, self }: Brief, { quantity, rules, supplier: own, buyer }: SourcingContext): Party => {
  const side: Side = {
    opening: { unitPrice: own.listPrice, quantity, paymentDays: own.paymentDays, liabilityCap: own.liabilityCap },
    limitPrice: own.floorPrice,
    wants: "higher",
    settleDays: Math.round((own.paymentDays + buyer.paymentDays) / 2)
  }
  return {
    self,
    seed,
    side,
    offers: Math.ceil(rules.maxRounds / 2),
    ...rules,
    obstacle: ({ liabilityCap }) =>
      liabilityCap > own.liabilityCap ? `we are not liable beyond ${own.liabilityCap}x the order` : undefined
  }
}
