import type { Model } from "../runner/LlmCall.ts"
import { Negotiation } from "../runner/Messages.ts"
import { pick } from "../runner/Seed.ts"
import { act, progress, type Strategy, say, think, wait } from "../runner/Strategy.ts"
import { alert, ended, started, usedModel } from "../runner/Telemetry.ts"
import { tableOf } from "./Negotiation.ts"
import { sourcingOf } from "./SourcingContext.ts"

const MODEL: Model = { model: "vendor2-3-haiku", provider: "vendor2", baseLatencyMs: 290 }

/**
 * Counsel reads what the two sides agree on, not every offer: it accepts terms that fit the company's rules and refuses
 * others for good, because money cannot make up for them.
 */
export const counsel: Strategy = ({ brief, session }) => {
  const { legal, rules } = sourcingOf(brief.context)
  const table = tableOf(session, rules.rejectionIsFinal)
  const offer = table.last
  if (offer === undefined || table.finalRejection !== undefined || table.accepted(brief.self, offer)) return wait
  const agreed = brief.participants.some(
    (participant) => participant !== offer.proposer && participant !== brief.self && table.accepted(participant, offer)
  )
  if (!agreed) return wait
  const { proposalId, terms } = offer
  const cap = terms?.liabilityCap ?? 0
  const isSound = cap >= legal.minimumLiabilityCap
  const reason = isSound
    ? pick(`${brief.seed}:counsel`, [
        `a cap of ${cap}x the order covers us`,
        `liability at ${cap}x and no unusual clause`,
        "nothing here that the framework contract does not know"
      ])
    : `a liability cap of ${cap}x is below the ${legal.minimumLiabilityCap}x that our rules require`
  return act(
    started(brief),
    progress(0.3, "reading the agreed terms"),
    think("read"),
    usedModel(MODEL, brief, reason),
    ...(isSound ? [] : [alert(brief, "liability_cap_too_low", "high", reason)]),
    think("opinion"),
    isSound
      ? say(Negotiation.Accept, { proposalId, reason })
      : say(Negotiation.Reject, { proposalId, terminal: true, reason }),
    progress(1, "done"),
    ended(brief, isSound ? "ACCEPT" : "REJECT", isSound ? "ACCEPT" : "REJECT")
  )
}
