import type { HandoffMode } from "@runplane/runtime"
import type { Brief } from "../runner/Brief.ts"
import type { Model } from "../runner/LlmCall.ts"
import { Handoff } from "../runner/Messages.ts"
import { pick } from "../runner/Seed.ts"
import { messagesOf, type Session } from "../runner/Session.ts"
import {
  type Action,
  act,
  cancel,
  leading,
  progress,
  type Step,
  say,
  think,
  waitForOthers
} from "../runner/Strategy.ts"
import { concluding, opening, usedModel } from "../runner/Telemetry.ts"
import { type SupportContext, supportOf } from "./SupportContext.ts"

/** How long an offer may stay unanswered, in milliseconds, where silence means nothing. */
const ANSWER_WAIT_MS = 60_000
/** Milliseconds beyond the time after which silence accepts, so that the runtime's clock has passed it, too. */
const SILENCE_MARGIN_MS = 200

const MODEL: Model = { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 230 }

/**
 * The initiator of an escalation: offers the case with its known facts to one colleague after the other, the one
 * the scenario names first, until one accepts it or all have declined. A customer's message that the problem is gone
 * ends it without a handoff.
 */
export const frontline = leading(Handoff.Offer, ({ brief, overdue, session }, kickoff) => {
  const context = supportOf(brief.context)
  const offers = messagesOf(session, Handoff.Offer).map(({ payload }) => payload)
  const last = offers.at(-1)
  if (last === undefined) {
    return opening(brief, offer(brief, context, kickoff), 0.2, kickoff.targetParticipant)
  }
  const [accepted] = messagesOf(session, Handoff.Accept)
  if (accepted !== undefined) {
    return conclude(brief, last, true, `${accepted.sender} accepts the case: ${accepted.payload.reason}`)
  }
  if (!isDeclined(session, last.handoffId)) return hold(brief, context, last, overdue)
  if (context.solvedMeanwhile) {
    return act(cancel(`${context.customer.name} writes that the problem is gone, ${context.ticketId} needs no owner`))
  }
  const next = brief.participants.find(
    (participant) =>
      participant !== brief.self && !offers.some(({ targetParticipant }) => targetParticipant === participant)
  )
  if (next === undefined) return conclude(brief, last, false, `declined by all ${offers.length} colleagues`)
  const handoffId = `${context.ticketId}-${offers.length + 1}`
  return act(
    think(`reroute ${offers.length}`),
    ...offer(brief, context, {
      ...kickoff,
      handoffId,
      targetParticipant: next,
      reason: `${last.targetParticipant} declined`
    }),
    progress(Math.min(0.2 + offers.length * 0.2, 0.9), `waiting for ${next}`)
  )
})

const offer = (
  brief: Brief,
  context: SupportContext,
  { handoffId, reason, scope, targetParticipant }: HandoffMode.HandoffOfferPayload
): ReadonlyArray<Action> => {
  const notes = notesOf(context, brief.seed)
  return [
    usedModel(MODEL, brief, notes.summary),
    say(Handoff.Offer, { handoffId, targetParticipant, scope, reason }),
    say(Handoff.Context, {
      handoffId,
      contentType: "application/json",
      context: new TextEncoder().encode(JSON.stringify(notes))
    })
  ]
}

/** The notes that spare a colleague further questions to the customer. */
const notesOf = ({ category, customer, product, stepsTried, summary, ticketId }: SupportContext, seed: string) => {
  const mood = pick(`${seed}:mood`, ["patient so far", "wants a date", "has escalated before"])
  return { ticketId, customer, product, category, summary: `${summary} Customer ${mood}.`, stepsTried }
}

/** The offer is not answered yet: where silence accepts, it has become a handoff when its time is over. */
const hold = (brief: Brief, context: SupportContext, last: HandoffMode.HandoffOfferPayload, overdue: boolean): Step => {
  const { silenceAcceptsAfterMs: silence } = context
  const { targetParticipant } = last
  const people = brief.people.filter(({ participant }) => participant === targetParticipant)
  if (!overdue) return waitForOthers(people, silence > 0 ? silence + SILENCE_MARGIN_MS : ANSWER_WAIT_MS)
  if (silence === 0) return act(cancel(`${targetParticipant} has not answered`))
  return conclude(brief, last, true, `${targetParticipant} has not objected within ${silence} ms and owns the case`)
}

const conclude = (brief: Brief, last: HandoffMode.HandoffOfferPayload, positive: boolean, reason: string): Step => {
  const action = positive ? "handoff.accepted" : "handoff.declined"
  return act(
    think("conclude"),
    ...concluding(
      brief,
      { commitmentId: `${last.handoffId}-final`, action, positive, scope: "case_ownership", reason },
      "NONE"
    )
  )
}

const isDeclined = (session: Session, handoffId: string): boolean =>
  messagesOf(session, Handoff.Decline).some(({ payload }) => payload.handoffId === handoffId)
