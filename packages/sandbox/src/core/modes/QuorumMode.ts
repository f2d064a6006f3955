import { QuorumMode as Wire } from "@runplane/runtime"
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import { decodePayload } from "../Decode.ts"
import {
  applyMoves,
  initiatorOnly,
  type Mode,
  type ModeRules,
  type Move,
  makeMode,
  participantsOnly,
  type SessionBinding
} from "../Mode.ts"
import { InvalidPayload } from "../Rejection.ts"
import { isFrom, type Release, unsupportedVersion } from "../Release.ts"

/**
 * Quorum mode (runtime-wire section 8.6): one request, one ballot per participant, and an outcome as soon as the
 * approvals reach the threshold or can no longer reach it.
 */
export interface QuorumState {
  readonly request: { readonly requestId: string; readonly requiredApprovals: number } | undefined
  readonly ballots: HashMap.HashMap<string, Ballot>
  readonly approvals: number
}

type Ballot = "Approve" | "Reject" | "Abstain"

const refused = Result.fail(InvalidPayload)

/** The policy's threshold as a number of approvals, undefined when it sets none. */
const policyThreshold = ({ participants, policy }: SessionBinding): number | undefined => {
  const { type, value } = policy.rules.threshold
  if (value === 0) return undefined
  return type === "percentage" ? Math.ceil((value * participants.length) / 100) : value
}

const request: Move<QuorumState> = (state, message, binding) =>
  Result.flatMap(decodePayload(Wire.ApprovalRequestPayloadSchema, message.payload), (payload) => {
    const { requestId, requiredApprovals } = payload
    if (state.request !== undefined || requestId === "") return refused
    const reachable = (approvals: number) => approvals >= 1 && approvals <= binding.participants.length
    if (!reachable(requiredApprovals)) return refused
    if (refusesUnwinnable(binding.release) && !reachable(policyThreshold(binding) ?? requiredApprovals)) return refused
    return Result.succeed({ ...state, request: { requestId, requiredApprovals } })
  })

/** Between these two releases a request that the policy makes unwinnable is not opened, and nobody declines unheard. */
const refusesUnwinnable = (release: Release): boolean => isFrom(release, "0.7.6") && !isFrom(release, "0.13.0")

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

const isReady = (state: QuorumState, binding: SessionBinding, outcomePositive: boolean): boolean => {
  if (state.request === undefined) return false
  const ballots = HashMap.size(state.ballots)
  if (refusesUnwinnable(binding.release) && !outcomePositive && ballots === 0) return false
  const threshold = policyThreshold(binding) ?? state.request.requiredApprovals
  return state.approvals >= threshold || state.approvals + binding.participants.length - ballots < threshold
}

const deny = (state: QuorumState, binding: SessionBinding, outcomePositive: boolean) => {
  const unsupported = unsupportedVersion(binding.policy, binding.release)
  if (unsupported !== undefined) return [unsupported]
  const threshold = policyThreshold(binding)
  return outcomePositive && threshold !== undefined && state.approvals < threshold
    ? [`${state.approvals} approvals, the policy requires ${threshold}`]
    : []
}

export const quorumRules: ModeRules<QuorumState> = {
  info: {
    mode: "macp.mode.quorum.v1",
    modeVersion: "1.0.0",
    title: "Quorum",
    description: "The initiator asks for approval; it is given when enough participants approve.",
    determinismClass: "semantic-deterministic",
    participantModel: "quorum",
    messageTypes: ["SessionStart", "ApprovalRequest", "Approve", "Reject", "Abstain", "Commitment"],
    schemaUris: { protobuf: "macp/modes/quorum/v1/quorum.proto" }
  },
  policyAuthority: true,
  start: ({ participants }) =>
    participants.length === 0
      ? refused
      : Result.succeed({ request: undefined, ballots: HashMap.empty(), approvals: 0 }),
  authorize: (_state, { sender, type }, binding) =>
    type === "ApprovalRequest" ? initiatorOnly(sender, binding) : participantsOnly(sender, binding),
  apply: applyMoves({
    ApprovalRequest: request,
    Approve: ballot(Wire.ApprovePayloadSchema, "Approve"),
    Reject: ballot(Wire.RejectPayloadSchema, "Reject"),
    Abstain: ballot(Wire.AbstainPayloadSchema, "Abstain")
  }),
  readyToCommit: (state, binding, { outcomePositive }) => isReady(state, binding, outcomePositive),
  deny,
  commit: (state) => state,
  view: (state) => ({
    request:
      state.request === undefined
        ? null
        : { request_id: state.request.requestId, required_approvals: state.request.requiredApprovals },
    ballots: Object.fromEntries(HashMap.entries(state.ballots)),
    approvals: state.approvals
  })
}

export const QuorumMode: Mode = makeMode(quorumRules)
