import type { InboxItem } from "@runplane/api"
import { type Act, cardWithoutReasons, type DecisionCard, standardMode } from "@runplane/domain"

/** The subject of a payload in the names of the protocol. */
const textIn = (fields: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = fields[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

const numberIn = (fields: Readonly<Record<string, unknown>>, name: string): number | undefined => {
  const value = fields[name]
  return typeof value === "number" ? value : undefined
}

/**
 * The decision card of an open question, from the messages that the item shows. Where votes are withheld the card has
 * none: its voters are shown with their opinions alone.
 */
export const itemCard = (item: InboxItem): DecisionCard => {
  const { basis, createdAt, given, hashed, messages, mode, modeName, payload, sessionId, state, title } = item
  const fields = payload.decoded ?? {}
  const proposalId =
    textIn(fields, "proposalId") ??
    textIn(fields, "requestId") ??
    textIn(fields, "handoffId") ??
    hashed.subject.messageId
  const opening: Act = {
    seq: 1,
    index: 1,
    ts: createdAt,
    by: hashed.subject.sender,
    type: hashed.subject.type,
    proposalId,
    option: title,
    target: textIn(fields, "targetParticipant"),
    requiredApprovals: numberIn(fields, "requiredApprovals")
  }
  const acts = messages.map((message): Act => {
    const { by, ordinal, type } = message
    const { confidence, reason, recommendation, severity, vote } = message
    const position = { seq: ordinal + 1, index: ordinal + 1, ts: createdAt }
    return { ...position, by, type, proposalId, confidence, reason, recommendation, severity, vote }
  })
  const card = cardWithoutReasons(
    {
      runId: sessionId,
      modeName,
      mode: standardMode(modeName),
      initiator: "",
      intent: title,
      context: undefined,
      subject: undefined,
      participants: hashed.participants,
      areDeclared: true,
      acts: [opening, ...acts],
      commitment: undefined,
      commitments: 0,
      receipt: undefined,
      denials: [],
      spending: [],
      models: new Map(),
      prompts: new Map(),
      shadows: new Map(),
      shadowSpending: new Map(),
      policyVersion: hashed.policyVersion,
      descriptor: undefined,
      runtimeVersion: undefined,
      state: "OPEN",
      hasEnded: false,
      expiresAtUnixMs: undefined,
      unopened: undefined,
      at: undefined,
      notes: []
    },
    undefined
  )
  const isWithheld = (basis?.withheld.length ?? 0) > 0
  const counts = isWithheld ? "votes withheld until you answer" : mode === "handoff" ? "offered" : card.counts
  return {
    ...card,
    hasVotes: card.hasVotes && !isWithheld,
    // The state of an accepted answer would read as the outcome of the session.
    word: state === "open" || state === "waiting" ? "Open" : given === undefined ? "Closed" : "Answered",
    counts,
    outOfReach: false,
    sentences: []
  }
}
