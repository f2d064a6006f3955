import type { EventOf, KnownEvent } from "../events/CanonicalEvent.ts"
import { isCommitmentHash } from "../receipts/Commitment.ts"
import type { ReceiptReport } from "../receipts/ReceiptReport.ts"
import { voteOf } from "../run/Outcome.ts"
import { appendCapped, boundName, boundProse, boundTexts } from "../values/Bounds.ts"
import type { ContributionEvent } from "./EventView.ts"
import { type Contribution, type DecisionCurrent, MAX_DECISION_PROPOSALS, type RunState } from "./RunState.ts"

type Decision = RunState["decision"]

const DEFAULT_ACTION = "resolved"
const DEFAULT_REASON = "decision finalized"

/**
 * Folds the section `decision`. Once it is final, later contributions are listed and change nothing else. Of several
 * commitments the last one counts (docs/reference/decisions.md#several-commitments).
 */
export const foldDecision = (decision: Decision, event: KnownEvent, initiator: string | undefined): Decision => {
  switch (event.type) {
    case "proposal.created":
    case "proposal.updated":
      return { current: proposed(decision.current, event, initiator) }
    case "decision.finalized":
      return { current: finalized(decision.current, event) }
    case "artifact.created":
      return receipted(decision, event.data.receipt)
    default:
      return decision
  }
}

const proposed = (
  current: DecisionCurrent | undefined,
  event: ContributionEvent,
  initiator: string | undefined
): DecisionCurrent => {
  const { data } = event
  const proposalId = boundName(data.proposalId)
  const proposals = appendCapped(current?.proposals ?? [], contributionOf(event), MAX_DECISION_PROPOSALS)
  const prompt = current?.prompt ?? promptOf(event, initiator)
  if (current?.finalized === true) return { ...current, proposals }
  const confidence = allowShare(proposals) ?? data.confidence ?? current?.confidence
  return {
    action: proposalId,
    ...(confidence !== undefined && { confidence }),
    finalized: false,
    proposalId,
    ...(prompt !== undefined && { prompt }),
    reasons: [boundProse(data.reason ?? data.summary ?? data.rationale ?? event.type)],
    proposals
  }
}

/**
 * Of several receipts the last one counts, and its texts are bounded in the event. A receipt without a decision is in
 * the log only.
 */
const receipted = (decision: Decision, receipt: ReceiptReport | undefined): Decision =>
  receipt === undefined || decision.current?.finalized !== true
    ? decision
    : { current: { ...decision.current, receipt } }

const finalized = (
  current: DecisionCurrent | undefined,
  { data, ts }: EventOf<"decision.finalized">
): DecisionCurrent => {
  const { action = DEFAULT_ACTION, commitmentHash, outcomePositive, sender, supersedes } = data
  const proposals = current?.proposals ?? []
  const confidence = data.confidence ?? allowShare(proposals) ?? current?.confidence
  const stated = data.proposalId ?? data.commitmentId
  const proposalId = stated === undefined ? current?.proposalId : boundName(stated)
  const reasons = data.reason === undefined ? data.reasons : [data.reason]
  const commitments = current?.finalized === true ? (current.commitments ?? 1) + 1 : 1
  return {
    action: boundName(action),
    ...(confidence !== undefined && { confidence }),
    finalized: true,
    ...(proposalId !== undefined && { proposalId }),
    outcomePositive,
    ...(commitmentHash !== undefined && { commitmentHash: boundName(commitmentHash) }),
    ...(commitments > 1 && { commitments }),
    ...(current?.prompt !== undefined && { prompt: current.prompt }),
    resolvedAt: ts,
    ...(sender !== "" && { resolvedBy: boundName(sender) }),
    reasons: reasons.length > 0 ? boundTexts(reasons) : [DEFAULT_REASON],
    proposals,
    ...(supersedes !== undefined && {
      supersedes: {
        sessionId: boundName(supersedes.sessionId),
        commitmentHash: boundName(supersedes.commitmentHash),
        canonical: isCommitmentHash(supersedes.commitmentHash)
      }
    })
  }
}

/** The reason of a final decision in the words of its committer; undefined when it stated none. */
export const statedReason = (reasons: ReadonlyArray<string>): string | undefined =>
  reasons.find((reason) => reason !== DEFAULT_REASON)

/** Only the initiator's own Proposal states the prompt; what others propose does not. */
const promptOf = ({ data }: ContributionEvent, initiator: string | undefined) => {
  if (data.messageType !== "Proposal" || data.sender === "" || boundName(data.sender) !== initiator) return undefined
  const prompt = data.prompt ?? data.rationale
  return prompt === undefined ? undefined : boundProse(prompt)
}

const contributionOf = ({ data, ts }: ContributionEvent): Contribution => {
  const { implicit, messageType, recommendation, sender } = data
  const confidence = data.confidence ?? (messageType === "Vote" ? 1 : undefined)
  const vote = voteOf(messageType, data.vote ?? recommendation)
  const stated = [data.reason, data.rationale, data.summary].filter((reason) => reason !== undefined)
  return {
    participantId: boundName(sender),
    action: boundName(data.vote ?? recommendation ?? data.action ?? messageType),
    ...(confidence !== undefined && { confidence }),
    reasons: boundTexts([...stated, ...data.reasons]),
    ts,
    ...(vote !== undefined && { vote }),
    ...(messageType !== "" && { messageType: boundName(messageType) }),
    ...(implicit && { implicit })
  }
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
