import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf"
import { DecisionMode, type Envelope } from "@runplane/runtime"
import * as Result from "effect/Result"

/** What one participant has read of a decision so far. */
export interface SessionRecord {
  /** The first proposal and who made it. */
  readonly proposal: { readonly id: string; readonly sender: string } | undefined
  readonly evaluated: ReadonlySet<string>
  /** Voter to APPROVE, REJECT or ABSTAIN. */
  readonly votes: ReadonlyMap<string, string>
  readonly criticalObjections: number
  readonly committed: boolean
}

export const emptyRecord: SessionRecord = {
  proposal: undefined,
  evaluated: new Set(),
  votes: new Map(),
  criticalObjections: 0,
  committed: false
}

/** Adds one accepted envelope. Unknown types and payloads from newer versions change nothing. */
export const record = (seen: SessionRecord, { messageType, payload, sender }: Envelope): SessionRecord => {
  switch (messageType) {
    case "Proposal": {
      const proposal = decode(DecisionMode.ProposalPayloadSchema, payload)
      if (proposal === undefined || seen.proposal !== undefined) return seen
      return { ...seen, proposal: { id: proposal.proposalId, sender } }
    }
    case "Evaluation":
      return { ...seen, evaluated: new Set([...seen.evaluated, sender]) }
    case "Objection": {
      const critical = decode(DecisionMode.ObjectionPayloadSchema, payload)?.severity.toLowerCase() === "critical"
      return critical ? { ...seen, criticalObjections: seen.criticalObjections + 1 } : seen
    }
    case "Vote": {
      const vote = decode(DecisionMode.VotePayloadSchema, payload)?.vote.toUpperCase()
      return vote === undefined ? seen : { ...seen, votes: new Map(seen.votes).set(sender, vote) }
    }
    case "Commitment":
      return { ...seen, committed: true }
    default:
      return seen
  }
}

const decode = <Desc extends DescMessage>(schema: Desc, payload: Uint8Array): MessageShape<Desc> | undefined =>
  Result.getOrUndefined(Result.try(() => fromBinary(schema, payload)))
