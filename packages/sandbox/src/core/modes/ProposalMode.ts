import { isAgreed, type ProposalRecord } from "@runplane/domain"
import { ProposalMode as Wire } from "@runplane/runtime"
import * as Chunk from "effect/Chunk"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { decodePayload, isBlank } from "../Decode.ts"
import { type Move, makeMode, participantsOnly, ruledBy, type SessionBinding } from "../Mode.ts"
import { Forbidden, InvalidPayload } from "../Rejection.ts"

/**
 * Proposal mode (docs/internals/runtime.md#proposal-mode): offers and counter-offers, until one is accepted as the
 * policy requires or a participant rejects for good. Everything stays legal until the Commitment, so the phase is
 * computed anew after every message.
 */
export interface ProposalState {
  readonly phase: "Negotiating" | "Converged" | "TerminalRejected" | "Committed"
  readonly proposals: HashMap.HashMap<string, Offer>
  /** Sender to the one proposal it accepts now. */
  readonly accepts: HashMap.HashMap<string, string>
  readonly rejections: Chunk.Chunk<Refusal>
  readonly counters: number
}

interface Offer {
  readonly proposer: string
  readonly disposition: "Live" | "Withdrawn"
}

interface Refusal {
  readonly proposalId: string
  readonly sender: string
  readonly terminal: boolean
}

const refused = Result.fail(InvalidPayload)

const offer = (state: ProposalState, proposalId: string, proposer: string): ProposalState => ({
  ...state,
  proposals: HashMap.set(state.proposals, proposalId, { proposer, disposition: "Live" })
})

const isTaken = (state: ProposalState, proposalId: string): boolean =>
  isBlank(proposalId) || HashMap.has(state.proposals, proposalId)

const isLive = (state: ProposalState, proposalId: string): boolean =>
  Option.exists(HashMap.get(state.proposals, proposalId), ({ disposition }) => disposition === "Live")

const propose: Move<ProposalState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.ProposalPayloadSchema, message.payload), ({ proposalId }) =>
    isTaken(state, proposalId) ? refused : Result.succeed(offer(state, proposalId, message.sender))
  )

const counter: Move<ProposalState> = (state, message, { policy }) =>
  Result.flatMap(decodePayload(Wire.CounterProposalPayloadSchema, message.payload), (payload) => {
    const limit = policy.rules.counter_proposal.max_rounds
    if (isTaken(state, payload.proposalId) || !HashMap.has(state.proposals, payload.supersedesProposalId))
      return refused
    if (limit > 0 && state.counters >= limit) return refused
    return Result.succeed({ ...offer(state, payload.proposalId, message.sender), counters: state.counters + 1 })
  })

const accept: Move<ProposalState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.AcceptPayloadSchema, message.payload), ({ proposalId }) =>
    isLive(state, proposalId)
      ? Result.succeed({ ...state, accepts: HashMap.set(state.accepts, message.sender, proposalId) })
      : refused
  )

const reject: Move<ProposalState> = (state, message, { policy }) =>
  Result.flatMap(decodePayload(Wire.RejectPayloadSchema, message.payload), ({ proposalId, terminal }) => {
    if (!isLive(state, proposalId)) return refused
    const forGood = terminal || policy.rules.rejection.terminal_on_any_reject
    const rejection = { proposalId, sender: message.sender, terminal: forGood }
    return Result.succeed({ ...state, rejections: Chunk.append(state.rejections, rejection) })
  })

const withdraw: Move<ProposalState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.WithdrawPayloadSchema, message.payload), ({ proposalId }) => {
    const known = Option.getOrUndefined(HashMap.get(state.proposals, proposalId))
    if (known === undefined) return refused
    if (known.proposer !== message.sender) return Result.fail(Forbidden)
    if (known.disposition === "Withdrawn") return refused
    return Result.succeed({
      ...state,
      proposals: HashMap.set(state.proposals, proposalId, { ...known, disposition: "Withdrawn" as const }),
      accepts: HashMap.filter(state.accepts, (accepted) => accepted !== proposalId),
      rejections: Chunk.filter(
        state.rejections,
        (rejection) => rejection.proposalId !== proposalId || !rejection.terminal
      )
    })
  })

const phaseOf = (state: ProposalState, binding: SessionBinding): ProposalState["phase"] => {
  const record = recordOf(state)
  if (record.isRejected) return "TerminalRejected"
  return isAgreed(binding, record) ? "Converged" : "Negotiating"
}

const recordOf = ({ accepts, counters, proposals, rejections }: ProposalState): ProposalRecord => ({
  mode: "proposal",
  live: Array.from(HashMap.entries(proposals)).flatMap(([proposalId, { disposition, proposer }]) =>
    disposition === "Live" ? [{ proposalId, proposer }] : []
  ),
  counters,
  acceptedBy: (participant) => Option.getOrUndefined(HashMap.get(accepts, participant)),
  isRejected: Chunk.some(rejections, ({ terminal }) => terminal)
})

export const ProposalMode = makeMode<ProposalState>({
  info: {
    mode: "macp.mode.proposal.v1",
    title: "Proposal",
    description: "Peers negotiate proposals and counter proposals until they agree or one of them refuses for good.",
    determinismClass: "semantic-deterministic",
    participantModel: "peer"
  },
  policyAuthority: true,
  start: ({ participants }) =>
    participants.length === 0
      ? refused
      : Result.succeed({
          phase: "Negotiating",
          proposals: HashMap.empty(),
          accepts: HashMap.empty(),
          rejections: Chunk.empty(),
          counters: 0
        }),
  authorize: (_state, message, binding) => participantsOnly(message.sender, binding),
  moves: { Proposal: propose, CounterProposal: counter, Accept: accept, Reject: reject, Withdraw: withdraw },
  moved: (state, binding) => ({ ...state, phase: phaseOf(state, binding) }),
  ...ruledBy(recordOf),
  commit: (state) => ({ ...state, phase: "Committed" }),
  view: (state) => ({
    phase: state.phase,
    proposals: Object.fromEntries(
      Array.from(HashMap.entries(state.proposals), ([id, known]) => [id, { proposal_id: id, ...known }])
    ),
    accepts: Object.fromEntries(HashMap.entries(state.accepts)),
    rejections: Array.from(state.rejections, ({ proposalId, sender, terminal }) => ({
      proposal_id: proposalId,
      sender,
      terminal
    })),
    counters: state.counters
  })
})
