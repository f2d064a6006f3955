import type { Model } from "../runner/LlmCall.ts"
import { Handoff } from "../runner/Messages.ts"
import { pick } from "../runner/Seed.ts"
import { messagesOf } from "../runner/Session.ts"
import { act, done, progress, type Strategy, say, think, wait } from "../runner/Strategy.ts"
import { ended, started, usedModel } from "../runner/Telemetry.ts"
import { type SupportContext, supportOf } from "./SupportContext.ts"

export interface Skills {
  /** Categories of cases that this colleague knows how to solve; none means any. */
  readonly categories: ReadonlyArray<string>
  /** Open cases with which it takes no more. */
  readonly fullAt: number
}

/** A colleague that gets cases: it reads an offer with its context, and accepts or refuses with a reason. */
export const colleague =
  (skills: Skills, model: Model): Strategy =>
  ({ brief, session }) => {
    const context = supportOf(brief.context)
    if (context.away.includes(brief.self)) return wait
    const offer = messagesOf(session, Handoff.Offer).find(
      ({ payload }) => payload.targetParticipant === brief.self
    )?.payload
    if (offer === undefined) return wait
    const { handoffId } = offer
    const answered = [...messagesOf(session, Handoff.Accept), ...messagesOf(session, Handoff.Decline)]
    if (answered.some(({ sender }) => sender === brief.self)) return done
    if (!messagesOf(session, Handoff.Context).some(({ payload }) => payload.handoffId === handoffId)) return wait

    const refused = refusal(skills, context, brief.self)
    const reason = refused ?? pick(`${brief.seed}:${brief.self}`, TAKES)
    return act(
      started(brief),
      progress(0.3, "reading the case"),
      think("read"),
      usedModel(model, brief, reason),
      think("answer"),
      refused === undefined
        ? say(Handoff.Accept, { handoffId, acceptedBy: brief.self, reason })
        : say(Handoff.Decline, { handoffId, declinedBy: brief.self, reason }),
      progress(1, refused === undefined ? "taken" : "declined"),
      ended(
        brief,
        refused === undefined ? "ACCEPT" : "DECLINE",
        refused === undefined ? "handoff.accepted" : "handoff.declined"
      )
    )
  }

const TAKES = [
  "I have seen this one before",
  "mine from here, the notes are enough",
  "will call the customer today"
] as const

/** Why the case is not taken; undefined when it is. */
const refusal = ({ categories, fullAt }: Skills, { category, queue }: SupportContext, self: string) => {
  const open = queue[self] ?? 0
  if (categories.length > 0 && !categories.includes(category))
    return `${category} cases are outside of what I can solve`
  return open >= fullAt ? `${open} open cases already, the customer would wait too long` : undefined
}
