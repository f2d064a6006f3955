import { create, toBinary } from "@bufbuild/protobuf"
import { CommitmentPayloadSchema, DecisionMode, EnvelopeSchema, SessionStartPayloadSchema } from "@runplane/runtime"

/** Mode of all scripted sessions. */
export const SCRIPTED_MODE = "macp.mode.decision.v1"
export const PARTICIPANTS: ReadonlyArray<string> = [0, 1, 2, 3, 4].map((number) => `agent://desk-${number}`)

/** So many envelopes in a row are about one proposal: it is made, evaluated, objected to and voted on. */
const ENVELOPES_PER_PROPOSAL = 25
/** Proposals of a session; a longer history comes back to them. */
const PROPOSALS = 8

const RATIONALE =
  "The counterparty is within its limits, settlement risk is covered by the collateral, " +
  "and the price is in line with the desk's model."

/**
 * Envelope number `ordinal` (from 1) of a session's history. The first one is the SessionStart and becomes one
 * canonical event; each of the others becomes two, message.received and what it means
 * (docs/reference/events.md#order-of-events).
 */
export const historyEnvelope = (sessionId: string, ordinal: number) => {
  const { messageType, payload } = ordinal === 1 ? start : contribution(ordinal)
  return envelope(sessionId, ordinal, messageType, payload)
}

/** JSON of so many bytes, or a few more. */
export const largePayload = (bytes: number): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({ text: RATIONALE.repeat(Math.ceil(bytes / RATIONALE.length)).slice(0, bytes) })
  )

/** Envelopes with one payload for all, so that a long history of large ones takes no memory here. */
export const largeEnvelopes = (payload: Uint8Array) => (sessionId: string, ordinal: number) =>
  ordinal === 1 ? historyEnvelope(sessionId, ordinal) : envelope(sessionId, ordinal, "Report", payload)

/** Canonical events that a whole history of this length becomes. */
export const eventsOfHistory = (envelopes: number): number => Math.max(0, 2 * envelopes - 1)

/** A vote that carries the moment at which it was made; two canonical events. */
export const stampedEnvelope = (sessionId: string, ordinal: number, emittedMicros: number) =>
  envelope(
    sessionId,
    ordinal,
    "Vote",
    toBinary(
      DecisionMode.VotePayloadSchema,
      create(DecisionMode.VotePayloadSchema, {
        proposalId: proposalAt(ordinal),
        vote: "APPROVE",
        reason: `${RATIONALE} ${stampOf(emittedMicros)}`
      })
    )
  )

/** The end of the deliberation: a yes. */
export const commitmentEnvelope = (sessionId: string, ordinal: number) =>
  envelope(
    sessionId,
    ordinal,
    "Commitment",
    toBinary(
      CommitmentPayloadSchema,
      create(CommitmentPayloadSchema, {
        commitmentId: "commitment-1",
        action: "decision.selected",
        reason: RATIONALE,
        modeVersion: "1.0.0",
        policyVersion: "policy.default",
        configurationVersion: "config.default",
        outcomePositive: true
      })
    )
  )

export const EVENTS_PER_STAMPED_ENVELOPE = 2

const STAMP = "emitted-us="
/** The moment at which something was made, as `readStamp` finds it: microseconds of the monotonic clock. */
export const stampOf = (micros: number): string => `${STAMP}${Math.trunc(micros)}`
/** More digits than a machine is up for. */
const STAMP_DIGITS = 20

/**
 * When the envelope in these bytes was made: microseconds of the machine's monotonic clock, which all its
 * processes share. Undefined when they bear no stamp.
 */
export const readStamp = (bytes: Buffer): number | undefined => {
  const at = bytes.indexOf(STAMP)
  if (at < 0) return undefined
  const from = at + STAMP.length
  return Number.parseInt(bytes.toString("latin1", from, from + STAMP_DIGITS), 10)
}

const envelope = (sessionId: string, ordinal: number, messageType: string, payload: Uint8Array) =>
  create(EnvelopeSchema, {
    macpVersion: "1.0",
    mode: SCRIPTED_MODE,
    messageType,
    messageId: `${sessionId}-${ordinal}`,
    sessionId,
    sender: PARTICIPANTS[ordinal === 1 ? 0 : ordinal % PARTICIPANTS.length] ?? "",
    timestampUnixMs: 1_790_000_000_000n + BigInt(ordinal),
    payload
  })

const start = {
  messageType: "SessionStart",
  payload: toBinary(
    SessionStartPayloadSchema,
    create(SessionStartPayloadSchema, {
      intent: "decide whether the trade is made",
      participants: [...PARTICIPANTS],
      modeVersion: "1.0.0",
      configurationVersion: "config.default",
      policyVersion: "policy.default",
      ttlMs: 3_600_000n
    })
  )
}

const proposalAt = (ordinal: number) => `proposal-${Math.floor(ordinal / ENVELOPES_PER_PROPOSAL) % PROPOSALS}`

const contribution = (ordinal: number): { readonly messageType: string; readonly payload: Uint8Array } => {
  const proposalId = proposalAt(ordinal)
  const position = ordinal === 2 ? 0 : ordinal % ENVELOPES_PER_PROPOSAL
  if (position === 0 && ordinal < PROPOSALS * ENVELOPES_PER_PROPOSAL) {
    const payload = create(DecisionMode.ProposalPayloadSchema, { proposalId, option: "trade", rationale: RATIONALE })
    return { messageType: "Proposal", payload: toBinary(DecisionMode.ProposalPayloadSchema, payload) }
  }
  if (position % 10 === 7) {
    const payload = create(DecisionMode.ObjectionPayloadSchema, { proposalId, reason: RATIONALE, severity: "medium" })
    return { messageType: "Objection", payload: toBinary(DecisionMode.ObjectionPayloadSchema, payload) }
  }
  if (position < ENVELOPES_PER_PROPOSAL / 2) {
    const payload = create(DecisionMode.EvaluationPayloadSchema, {
      proposalId,
      recommendation: "APPROVE",
      confidence: 0.5 + position / 100,
      reason: RATIONALE
    })
    return { messageType: "Evaluation", payload: toBinary(DecisionMode.EvaluationPayloadSchema, payload) }
  }
  const payload = create(DecisionMode.VotePayloadSchema, { proposalId, vote: "APPROVE", reason: RATIONALE })
  return { messageType: "Vote", payload: toBinary(DecisionMode.VotePayloadSchema, payload) }
}
