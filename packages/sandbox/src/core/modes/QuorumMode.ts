import { policyThreshold, type QuorumRecord, refusesUnwinnableQuorum } from "@runplane/domain"
import { QuorumMode as Wire } from "@runplane/runtime"
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import { decodePayload } from "../Decode.ts"
import { initiatorOnly, type Move, makeMode, participantsOnly, ruledBy } from "../Mode.ts"
import { InvalidPayload } from "../Rejection.ts"

/**
 * Quorum mode (docs/internals/runtime.md#quorum-mode): one request, one ballot per participant, and an outcome as soon
 * as the approvals reach the threshold or can no longer reach it.
 */
export interface QuorumState {
  readonly request: { readonly requestId: string; readonly requiredApprovals: number } | undefined
  readonly ballots: HashMap.HashMap<string, Ballot>
  readonly approvals: number
}

type Ballot = "Approve" | "Reject" | "Abstain"

const refused = Result.fail(InvalidPayload)

const request: Move<QuorumState> = (state, message, binding) =>
  Result.flatMap(decodePayload(Wire.ApprovalRequestPayloadSchema, message.payload), (payload) => {
    const { requestId, requiredApprovals } = payload
    if (state.request !== undefined || requestId === "") return refused
    const reachable = (approvals: number) => approvals >= 1 && approvals <= binding.participants.length
    if (!reachable(requiredApprovals)) return refused
    if (refusesUnwinnableQuorum(binding) && !reachable(policyThreshold(binding) ?? requiredApprovals)) return refused
    return Result.succeed({ ...state, request: { requestId, requiredApprovals } })
  })

const ballot =
  (
    schema: typeof Wire.ApprovePayloadSchema | typeof Wire.RejectPayloadSchema | typeof Wire.AbstainPayloadSchema,
    choice: Ballot
  ): Move<QuorumState> =>
  (state, message) =>
    Result.flatMap(decodePayload(schema, message.payload), ({ requestId }) => {
      if (requestId !== state.request?.requestId || HashMap.has(state.ballots, message.sender)) return refused
      return Result.succeed({
        ...state,
        ballots: HashMap.set(state.ballots, message.sender, choice),
        approvals: state.approvals + (choice === "Approve" ? 1 : 0)
      })
    })

const recordOf = ({ approvals, ballots, request }: QuorumState): QuorumRecord => ({
  mode: "quorum",
  requiredApprovals: request?.requiredApprovals,
  ballots: HashMap.size(ballots),
  approvals
})

export const QuorumMode = makeMode<QuorumState>({
  info: {
    mode: "macp.mode.quorum.v1",
    title: "Quorum",
    description: "The initiator requests approval; it is given when enough participants approve.",
    determinismClass: "semantic-deterministic",
    participantModel: "quorum"
  },
  policyAuthority: true,
  start: ({ participants }) =>
    participants.length === 0
      ? refused
      : Result.succeed({ request: undefined, ballots: HashMap.empty(), approvals: 0 }),
  authorize: (_state, { sender, type }, binding) =>
    type === "ApprovalRequest" ? initiatorOnly(sender, binding) : participantsOnly(sender, binding),
  moves: {
    ApprovalRequest: request,
    Approve: ballot(Wire.ApprovePayloadSchema, "Approve"),
    Reject: ballot(Wire.RejectPayloadSchema, "Reject"),
    Abstain: ballot(Wire.AbstainPayloadSchema, "Abstain")
  },
  ...ruledBy(recordOf),
  commit: (state) => state,
  view: (state) => ({
    request:
      state.request === undefined
        ? null
        : { request_id: state.request.requestId, required_approvals: state.request.requiredApprovals },
    ballots: Object.fromEntries(HashMap.entries(state.ballots)),
    approvals: state.approvals
  })
})
