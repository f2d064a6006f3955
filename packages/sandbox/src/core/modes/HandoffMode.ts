import { create, toBinary } from "@bufbuild/protobuf"
import { isReleaseFrom } from "@runplane/domain"
import { HandoffMode as Wire } from "@runplane/runtime"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { decodePayload, isBlank } from "../Decode.ts"
import {
  initiatorOnly,
  type Move,
  makeMode,
  participantsOnly,
  type RuntimeMessage,
  ruledBy,
  type SessionBinding
} from "../Mode.ts"
import { Forbidden, InvalidPayload, type Rejection } from "../Rejection.ts"

/**
 * Handoff mode (docs/internals/runtime.md#handoff-mode): the initiator offers its responsibility to one participant at
 * a time, who accepts or declines; silence can be an acceptance when the policy says so.
 */
export interface HandoffState {
  readonly offers: HashMap.HashMap<string, Offer>
  /** The offer that is not answered yet; there is one at most. */
  readonly pending: string | undefined
  readonly accepted: boolean
  readonly answered: boolean
}

interface Offer {
  readonly offeredBy: string
  readonly target: string
  readonly disposition: "Offered" | "Accepted" | "Declined"
  readonly contexts: number
  /** Server clock, Unix milliseconds, with and without the time spent suspended. */
  readonly offeredAt: number
  readonly activeAt: number
}

const refused = Result.fail(InvalidPayload)

const make: Move<HandoffState> = (state, message, { participants, release }) =>
  Result.flatMap(decodePayload(Wire.HandoffOfferPayloadSchema, message.payload), (payload) => {
    const { handoffId, targetParticipant: target } = payload
    if (isBlank(handoffId) || HashMap.has(state.offers, handoffId)) return refused
    if (!participants.includes(target) || target === message.sender) return refused
    if (state.pending !== undefined || state.accepted) return refused
    // From 0.13.0 on a participant that has declined gets no second offer.
    if (isReleaseFrom(release, "0.13.0") && hasDeclined(state, target)) return refused
    const offers = HashMap.set(state.offers, handoffId, {
      offeredBy: message.sender,
      target,
      disposition: "Offered" as const,
      contexts: 0,
      offeredAt: message.receivedAt,
      activeAt: message.activeAt
    })
    return Result.succeed({ ...state, offers, pending: handoffId })
  })

const hasDeclined = (state: HandoffState, participant: string): boolean =>
  HashMap.some(state.offers, ({ disposition, target }) => disposition === "Declined" && target === participant)

const addContext: Move<HandoffState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.HandoffContextPayloadSchema, message.payload), ({ handoffId }) => {
    const offer = Option.getOrUndefined(HashMap.get(state.offers, handoffId))
    if (offer === undefined) return refused
    if (offer.offeredBy !== message.sender) return Result.fail(Forbidden)
    const offers = HashMap.set(state.offers, handoffId, { ...offer, contexts: offer.contexts + 1 })
    return Result.succeed({ ...state, offers })
  })

const accept: Move<HandoffState> = (state, message, binding) =>
  Result.flatMap(decodePayload(Wire.HandoffAcceptPayloadSchema, message.payload), (payload) => {
    // Only the runtime may say that silence was an acceptance; older releases do not know the field.
    if (recordsSilence(binding) && payload.implicit && message.author !== "runtime") return refused
    return answer(state, message.sender, payload.handoffId, payload.acceptedBy, "Accepted")
  })

const decline: Move<HandoffState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.HandoffDeclinePayloadSchema, message.payload), ({ declinedBy, handoffId }) =>
    answer(state, message.sender, handoffId, declinedBy, "Declined")
  )

const answer = (
  state: HandoffState,
  sender: string,
  handoffId: string,
  by: string,
  disposition: "Accepted" | "Declined"
): Result.Result<HandoffState, Rejection> => {
  const offer = Option.getOrUndefined(HashMap.get(state.offers, handoffId))
  if (offer === undefined) return refused
  if (offer.target !== sender) return Result.fail(Forbidden)
  if (offer.disposition !== "Offered" || (by !== "" && by !== sender)) return refused
  return Result.succeed(answered(state, handoffId, offer, disposition))
}

const answered = (
  state: HandoffState,
  handoffId: string,
  offer: Offer,
  disposition: "Accepted" | "Declined"
): HandoffState => ({
  offers: HashMap.set(state.offers, handoffId, { ...offer, disposition }),
  pending: undefined,
  accepted: state.accepted || disposition === "Accepted",
  answered: true
})

/** Releases from 0.8 on record an acceptance by silence. */
const recordsSilence = ({ release }: SessionBinding): boolean => isReleaseFrom(release, "0.13.0")

/** Ids of the acceptances that the runtime writes. */
const IMPLICIT_ACCEPT = "implicit-accept:"

/** The pending offer when it is as old as the policy's time-out, in milliseconds; 0 switches that off. */
const overdue = (state: HandoffState, { policy }: SessionBinding, age: (offer: Offer) => number) => {
  const timeout = policy.rules.acceptance.implicit_accept_timeout_ms
  if (state.pending === undefined || timeout === 0) return undefined
  const offer = Option.getOrUndefined(HashMap.get(state.offers, state.pending))
  return offer !== undefined && age(offer) >= timeout ? { handoffId: state.pending, offer } : undefined
}

/** Releases before 0.8: silence becomes acceptance when a Commitment arrives, and nothing is recorded. */
const settle = (state: HandoffState, binding: SessionBinding, now: number): HandoffState => {
  if (recordsSilence(binding)) return state
  const late = overdue(state, binding, ({ offeredAt }) => now - offeredAt)
  return late === undefined ? state : answered(state, late.handoffId, late.offer, "Accepted")
}

/** Later releases: the runtime records an acceptance in the target's name; suspended time does not count. */
const due = (state: HandoffState, binding: SessionBinding, activeNow: number): ReadonlyArray<RuntimeMessage> => {
  if (!recordsSilence(binding)) return []
  const late = overdue(state, binding, ({ activeAt }) => activeNow - activeAt)
  if (late === undefined) return []
  const { handoffId, offer } = late
  const payload = create(Wire.HandoffAcceptPayloadSchema, {
    handoffId,
    acceptedBy: offer.target,
    reason: "implicit accept (timeout)",
    implicit: true
  })
  return [
    {
      type: "HandoffAccept",
      sender: offer.target,
      messageId: `${IMPLICIT_ACCEPT}${handoffId}`,
      dueAt: offer.activeAt + binding.policy.rules.acceptance.implicit_accept_timeout_ms,
      payload: toBinary(Wire.HandoffAcceptPayloadSchema, payload)
    }
  ]
}

export const HandoffMode = makeMode<HandoffState>({
  info: {
    mode: "macp.mode.handoff.v1",
    title: "Handoff",
    description: "The initiator hands its responsibility over to a participant, with the context that goes with it.",
    determinismClass: "context-frozen",
    participantModel: "delegated"
  },
  policyAuthority: true,
  start: ({ initiator, participants }) =>
    participants.length >= 2 && participants.includes(initiator)
      ? Result.succeed({ offers: HashMap.empty(), pending: undefined, accepted: false, answered: false })
      : refused,
  authorize: (_state, { sender, type }, binding) =>
    type === "HandoffOffer" ? initiatorOnly(sender, binding) : participantsOnly(sender, binding),
  moves: {
    HandoffOffer: make,
    HandoffContext: addContext,
    HandoffAccept: accept,
    HandoffDecline: decline
  },
  reservesId: (messageId, binding) => recordsSilence(binding) && messageId.startsWith(IMPLICIT_ACCEPT),
  due,
  settle,
  ...ruledBy(({ accepted, answered }) => ({ mode: "handoff", isAccepted: accepted, isAnswered: answered })),
  commit: (state) => state,
  view: (state) => ({
    offers: Object.fromEntries(
      Array.from(HashMap.entries(state.offers), ([id, { contexts, disposition, offeredBy, target }]) => [
        id,
        { handoff_id: id, offered_by: offeredBy, target_participant: target, disposition, contexts }
      ])
    )
  })
})
