import { booleanAt, numberAt, objectAt, textAt, textsAt } from "../JsonReader.ts"
import { outcomeOf, voteOf } from "../Outcome.ts"
import { type Contribution, type DecisionCurrent, MAX_DECISION_PROPOSALS, type RunState } from "../RunState.ts"
import { appendCapped } from "./Capped.ts"
import type { EventView } from "./EventView.ts"

type Decision = RunState["decision"]

const DEFAULT_ACTION = "resolved"
const DEFAULT_REASON = "decision finalized"
const CANONICAL_HASH = /^sha256:[0-9a-f]{64}$/
const IMPLICIT_ACCEPT_PREFIX = "implicit-accept:"

/** Folds the section `decision` (run-control-plane "Projection rules" 1, 2, 3, 7; http-details section 7). */
export const foldDecision = (decision: Decision, view: EventView, initiator: string | undefined): Decision => {
  switch (view.event.type) {
    case "proposal.created":
    case "proposal.updated":
      return { current: proposed(decision.current, view, initiator) }
    case "decision.finalized":
      return { current: finalized(decision.current, view) }
    default:
      return decision
  }
}

/** The proposal that an event is about: as its payload says, else its subject. */
export const proposalIdOf = ({ payload, subjectId }: EventView): string =>
  textAt(payload, "proposalId", "proposal_id") ?? subjectId

const proposed = (
  current: DecisionCurrent | undefined,
  view: EventView,
  initiator: string | undefined
): DecisionCurrent => {
  const proposals = appendCapped(current?.proposals ?? [], contributionOf(view), MAX_DECISION_PROPOSALS)
  const prompt = current?.prompt ?? promptOf(view, initiator)
  if (current?.finalized === true) return { ...current, proposals }
  const proposalId = proposalIdOf(view)
  const confidence = allowShare(proposals) ?? numberAt(view.payload, "confidence") ?? current?.confidence
  return {
    action: proposalId,
    ...(confidence !== undefined && { confidence }),
    finalized: false,
    proposalId,
    ...(prompt !== undefined && { prompt }),
    reasons: [textAt(view.payload, "reason", "summary", "rationale") ?? view.event.type],
    proposals
  }
}

const finalized = (current: DecisionCurrent | undefined, view: EventView): DecisionCurrent => {
  const { payload, sender, ts } = view
  const proposals = current?.proposals ?? []
  const confidence = numberAt(payload, "confidence") ?? allowShare(proposals) ?? current?.confidence
  const proposalId =
    textAt(payload, "proposalId", "proposal_id") ??
    textAt(payload, "commitmentId", "commitment_id") ??
    current?.proposalId
  const reason = textAt(payload, "reason")
  const reasons = reason === undefined ? textsAt(payload, "reasons") : [reason]
  const supersedes = supersedesOf(view)
  return {
    action: textAt(payload, "action") ?? DEFAULT_ACTION,
    ...(confidence !== undefined && { confidence }),
    finalized: true,
    ...(proposalId !== undefined && { proposalId }),
    outcomePositive: outcomeOf(payload),
    ...(current?.prompt !== undefined && { prompt: current.prompt }),
    resolvedAt: ts,
    ...(sender !== "" && { resolvedBy: sender }),
    reasons: reasons.length > 0 ? reasons : [DEFAULT_REASON],
    proposals,
    ...(supersedes !== undefined && { supersedes })
  }
}

/** Only the initiator's own Proposal states the prompt; what others propose does not (rule 1). */
const promptOf = ({ messageType, payload, sender }: EventView, initiator: string | undefined) =>
  messageType === "Proposal" && sender !== "" && sender === initiator
    ? textAt(payload, "prompt", "rationale")
    : undefined

const supersedesOf = ({ payload }: EventView): DecisionCurrent["supersedes"] => {
  const reference = objectAt(payload, "supersedes")
  const sessionId = reference && textAt(reference, "sessionId", "session_id")
  const commitmentHash = reference && textAt(reference, "commitmentHash", "commitment_hash")
  if (sessionId === undefined || commitmentHash === undefined) return undefined
  return { sessionId, commitmentHash, canonical: CANONICAL_HASH.test(commitmentHash) }
}

const contributionOf = (view: EventView): Contribution => {
  const { data, messageType, payload, sender, ts } = view
  const confidence = numberAt(payload, "confidence") ?? (messageType === "Vote" ? 1 : undefined)
  const vote = voteOf(messageType, payload)
  return {
    participantId: sender,
    action:
      textAt(payload, "vote") ??
      textAt(payload, "recommendation") ??
      textAt(payload, "action", "option", "revisedAction", "revised_action") ??
      messageType,
    ...(confidence !== undefined && { confidence }),
    reasons: reasonsOf(view),
    ts,
    ...(vote !== undefined && { vote }),
    ...(messageType !== "" && { messageType }),
    ...(isImplicitAccept(messageType, data, payload) && { implicit: true })
  }
}

/** The runtime accepts an unanswered hand-over in its target's name when the policy's time is up (runtime-wire section 8.5). */
const isImplicitAccept = (messageType: string, data: EventView["data"], payload: EventView["payload"]): boolean =>
  messageType === "HandoffAccept" &&
  (booleanAt(payload, "implicit") === true || (textAt(data, "messageId")?.startsWith(IMPLICIT_ACCEPT_PREFIX) ?? false))

const reasonsOf = ({ payload }: EventView): ReadonlyArray<string> => {
  const stated = [textAt(payload, "reason"), textAt(payload, "rationale"), textAt(payload, "summary")]
  return [...stated.filter((reason) => reason !== undefined), ...textsAt(payload, "reasons")]
}

/** Share of allowing among the contributions that allow or deny; undefined while there is none. */
const allowShare = (proposals: ReadonlyArray<Contribution>): number | undefined => {
  let allow = 0
  let cast = 0
  for (const { vote } of proposals) {
    if (vote === undefined) continue
    cast += 1
    if (vote === "allow") allow += 1
  }
  return cast === 0 ? undefined : allow / cast
}
