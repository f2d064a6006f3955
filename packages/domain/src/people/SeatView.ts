import * as HashSet from "effect/HashSet"
import { decodePayload } from "../frames/PayloadTypes.ts"
import type { RawEnvelope } from "../frames/RuntimeFrames.ts"
import { isOpening, type Statement } from "../insight/Act.ts"
import { voteOf } from "../run/Outcome.ts"
import type { PayloadDecoder } from "../values/PayloadDecoder.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { type Basis, basisNext, basisStart, basisText } from "./Basis.ts"
import { sha256Hex } from "./ProposalHash.ts"
import { type SeatMode, type SeatRules, seatMode } from "./SeatRules.ts"

/** An accepted message as a seat reads it. */
export interface SeenMessage {
  /** Its number among the accepted messages of the session; SessionStart is 1. */
  readonly ordinal: number
  readonly messageId: string
  readonly payloadSha256: string
  /** The running digest up to it, hexadecimal. */
  readonly digest: string
  /** When this process received it. */
  readonly receivedAtUnixMs: number
  readonly statement: Statement
  /** The bytes of a message that a person can be questioned about, as the runtime accepted them. */
  readonly payload?: Uint8Array
}

/** What a session was opened with. */
export interface SessionOpening {
  readonly initiator: string
  readonly participants: ReadonlyArray<string>
  readonly modeVersion: string
  readonly configurationVersion: string
  readonly ttlMs: number
  /** 0: the default of the runtime. */
  readonly maxSuspendMs: number
}

/** A session as a seat sees it, from its first message on. */
export interface SeatView {
  readonly sessionId: string
  readonly modeName: string
  readonly mode: SeatMode
  readonly opening: SessionOpening | undefined
  readonly messages: ReadonlyArray<SeenMessage>
  /** The ids of the messages. */
  readonly ids: HashSet.HashSet<string>
  readonly digest: Uint8Array
}

/** Pure functions that a view needs from outside. */
export interface ViewTools {
  readonly sha256: Sha256
  readonly decode: PayloadDecoder
}

/** The view before the first message; undefined for a mode in which no person can hold a seat. */
export const emptyView = (sha256: Sha256, sessionId: string, modeName: string): SeatView | undefined => {
  const mode = seatMode(modeName)
  if (mode === undefined) return undefined
  const digest = basisStart(sha256, sessionId)
  return { sessionId, modeName, mode, opening: undefined, messages: [], ids: HashSet.empty(), digest }
}

/** The view after one more accepted message. A message that comes twice counts once: its id is unique in a session. */
export const seeEnvelope = (
  { decode, sha256 }: ViewTools,
  view: SeatView,
  envelope: RawEnvelope,
  receivedAtUnixMs: number
): SeatView => {
  if (HashSet.has(view.ids, envelope.messageId)) return view
  const { payload } = decodePayload(decode, envelope)
  const text = (key: string) => (typeof payload[key] === "string" ? payload[key] : undefined)
  const number = (key: string) => (typeof payload[key] === "number" ? payload[key] : undefined)
  // Numbers of 64 bits are texts in the JSON of the protocol.
  const integer = (key: string) => Number(text(key) ?? number(key) ?? 0)
  const type = envelope.messageType
  const isStart = type === "SessionStart" && view.opening === undefined
  const participants = payload["participants"]
  const statement: Statement = {
    by: envelope.sender,
    type,
    proposalId: text("proposalId") ?? text("requestId") ?? text("handoffId") ?? "",
    vote: type === "Vote" ? ballotOf(text("vote")) : undefined,
    recommendation: text("recommendation")?.trim().toUpperCase(),
    confidence: number("confidence"),
    severity: type === "Objection" ? (text("severity")?.trim().toLowerCase() ?? "medium") : undefined,
    option: text("option") ?? text("action") ?? text("scope"),
    reason: text("reason") ?? text("rationale") ?? text("summary"),
    requiredApprovals: number("requiredApprovals"),
    target: text("targetParticipant")
  }
  const digest = basisNext(sha256, view.digest, envelope)
  const message: SeenMessage = {
    digest: basisText(digest),
    ordinal: view.messages.length + 1,
    messageId: envelope.messageId,
    payloadSha256: sha256Hex(sha256, envelope.payload),
    receivedAtUnixMs,
    statement,
    ...(isOpening(view.mode, type) && { payload: envelope.payload })
  }
  return {
    ...view,
    ...(isStart && {
      opening: {
        initiator: envelope.sender,
        participants: Array.isArray(participants) ? participants.filter((one) => typeof one === "string") : [],
        modeVersion: text("modeVersion") ?? "",
        configurationVersion: text("configurationVersion") ?? "",
        ttlMs: integer("ttlMs"),
        maxSuspendMs: integer("maxSuspendMs")
      }
    }),
    messages: [...view.messages, message],
    ids: HashSet.add(view.ids, envelope.messageId),
    digest
  }
}

const ballotOf = (stated: string | undefined): string | undefined => {
  const vote = voteOf("Vote", stated)
  if (vote !== undefined) return vote === "allow" ? "APPROVE" : "REJECT"
  return stated?.trim().toUpperCase() === "ABSTAIN" ? "ABSTAIN" : undefined
}

/** The messages that a person of this seat can be questioned about, in their order. */
export const subjectsFor = ({ messages, mode }: SeatView, seat: string): ReadonlyArray<SeenMessage> =>
  messages.filter(({ statement: { target, type } }) => isOpening(mode, type) && (mode !== "handoff" || target === seat))

const BALLOTS: ReadonlySet<string> = new Set([
  "Vote",
  "Approve",
  "Reject",
  "Abstain",
  "HandoffAccept",
  "HandoffDecline"
])

/** Whether a message is the last word of its sender on its subject. */
export const isBallot = ({ statement: { type } }: SeenMessage): boolean => BALLOTS.has(type)

/** The message by which a participant has given its last word on a subject. */
export const ballotBy = (view: SeatView, by: string, proposalId: string): SeenMessage | undefined =>
  view.messages.find(
    (message) => isBallot(message) && message.statement.by === by && message.statement.proposalId === proposalId
  )

/** Whether the session has its commitment. */
export const isCommitted = ({ messages }: SeatView): boolean =>
  messages.some(({ statement: { type } }) => type === "Commitment")

/** Whether the votes of others are shown before the answer. */
type Reveal = SeatRules["reveal"]

/** The ordinals up to one that a person of this seat is not shown: the votes of all others, until the answer. */
export const withheldUpTo = (view: SeatView, seat: string, reveal: Reveal, ordinal: number): ReadonlyArray<number> =>
  reveal === "before"
    ? []
    : view.messages
        .slice(0, ordinal)
        .filter((one) => isBallot(one) && one.statement.by !== seat)
        .map((one) => one.ordinal)

/** What a person of this seat is shown now. */
export const basisOf = (view: SeatView, seat: string, reveal: Reveal): Basis => {
  const ordinal = view.messages.length
  return { ordinal, sha256: basisText(view.digest), withheld: withheldUpTo(view, seat, reveal, ordinal) }
}

/** The basis that a person names by ordinal and digest; undefined when the session never had it. */
export const basisAt = (
  view: SeatView,
  seat: string,
  reveal: Reveal,
  named: { readonly ordinal: number; readonly sha256: string }
): Basis | undefined =>
  view.messages[named.ordinal - 1]?.digest === named.sha256
    ? { ...named, withheld: withheldUpTo(view, seat, reveal, named.ordinal) }
    : undefined

/** The ordinals that were accepted after a basis and before the message that rests on it. */
export const unseenBetween = (basis: Basis, own: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, own - basis.ordinal - 1) }, (_, at) => basis.ordinal + 1 + at)

const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  Evaluation: ["evaluation", "evaluations"],
  Objection: ["objection", "objections"],
  Vote: ["vote", "votes"],
  Approve: ["vote", "votes"],
  Reject: ["vote", "votes"],
  Abstain: ["vote", "votes"],
  Proposal: ["proposal", "proposals"],
  HandoffContext: ["addition", "additions"]
}

/** "2 evaluations and 1 vote came in unseen"; undefined for none. */
export const unseenText = (view: SeatView, unseen: ReadonlyArray<number>): string | undefined => {
  const counts = new Map<readonly [string, string], number>()
  for (const ordinal of unseen) {
    const noun = NOUNS[view.messages[ordinal - 1]?.statement.type ?? ""] ?? OTHER
    counts.set(noun, (counts.get(noun) ?? 0) + 1)
  }
  const parts = [...counts].map(([[one, many], count]) => `${count} ${count === 1 ? one : many}`)
  return parts.length === 0 ? undefined : `${parts.join(" and ")} came in unseen`
}

const OTHER = ["message", "messages"] as const
