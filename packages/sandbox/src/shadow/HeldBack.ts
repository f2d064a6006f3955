import { payloadTypeName } from "@runplane/domain"
import { decodePayload, type Envelope } from "@runplane/runtime"

/** What a message does, and about what. */
export interface Act {
  /** The id that the message is about, of a proposal, a request, a task or a hand-over; empty without one. */
  readonly subject: string
  /** `opening` makes its subject known, `ballot` is the last word on it, `end` closes the session. */
  readonly kind: "opening" | "ballot" | "end" | `other:${string}`
}

/** An accepted message of the real session. */
export interface Relayed {
  readonly envelope: Envelope
  readonly act: Act
}

/**
 * What a shadow is not shown yet. The messages of the real participant wait until the shadow has acted on the same
 * subject, because it could copy them; the end of the session waits for the ballots that the participant has cast and
 * the shadow has not.
 */
export interface HeldBack {
  /** Of the real participant, in their order. */
  readonly held: ReadonlyArray<Relayed>
  readonly end: Relayed | undefined
  /** What the shadow has done. */
  readonly acted: ReadonlyArray<Act>
}

export const nothingHeld: HeldBack = { held: [], end: undefined, acted: [] }

type Step = readonly [HeldBack, deliver: ReadonlyArray<Relayed>]

const OPENINGS: ReadonlySet<string> = new Set([
  "Proposal",
  "CounterProposal",
  "ApprovalRequest",
  "TaskRequest",
  "HandoffOffer"
])
const BALLOTS: ReadonlySet<string> = new Set(["Vote", "Approve", "Reject", "Abstain", "Accept"])
const IDS = ["proposalId", "requestId", "taskId", "handoffId"]

/** What a message of a session does. An unreadable payload is about nothing. */
export const actOf = ({ messageType, mode, payload }: Envelope): Act => {
  if (messageType === "Commitment") return { subject: "", kind: "end" }
  const typeName = payloadTypeName(mode, messageType)
  const fields = typeName === undefined ? undefined : decodePayload(typeName, payload)
  const subject = IDS.map((name) => fields?.[name]).find((id) => typeof id === "string") ?? ""
  if (OPENINGS.has(messageType)) return { subject: String(subject), kind: "opening" }
  return { subject: String(subject), kind: BALLOTS.has(messageType) ? "ballot" : `other:${messageType}` }
}

/** The next accepted message of the real session, and the messages that the shadow is shown now. */
export const relayNext = (so: HeldBack, next: Relayed, participant: string): Step => {
  const { act, envelope } = next
  if (act.kind === "end") return letGo({ ...so, end: next })
  if (envelope.sender === participant) {
    return so.acted.some((done) => frees(done, act)) ? [so, [next]] : [{ ...so, held: [...so.held, next] }, []]
  }
  // What others act on has to be known.
  const isNeeded = (one: Relayed) => one.act.kind === "opening" && one.act.subject === act.subject
  const shown = so.held.filter(isNeeded)
  return [{ ...so, held: so.held.filter((one) => !isNeeded(one)) }, [...shown, next]]
}

/** An accepted message of the shadow. */
export const shadowActed = (so: HeldBack, act: Act): Step => {
  const freed = so.held.filter((one) => frees(act, one.act))
  const held = so.held.filter((one) => !freed.includes(one))
  const [next, last] = letGo({ ...so, held, acted: [...so.acted, act] })
  return [next, [...freed, ...last]]
}

/** The shadow acts no more, or its time is over: the session ends for it, without the messages of the participant. */
export const endNow = (so: HeldBack): Step => [{ ...so, end: undefined }, so.end === undefined ? [] : [so.end]]

/** Whether the end waits for ballots of the shadow. */
const isOwed = ({ held }: HeldBack): boolean => held.some(({ act }) => act.kind === "ballot")

const letGo = (so: HeldBack): Step => (isOwed(so) ? [so, []] : endNow(so))

/** Whether the shadow may see a message of the participant after its own: its own opening has another subject. */
const frees = (done: Act, shown: Act): boolean =>
  done.kind === "opening" || shown.kind === "opening"
    ? done.kind === shown.kind
    : done.subject === shown.subject && (done.kind === "ballot" || done.kind === shown.kind)
