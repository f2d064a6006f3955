import { type DecisionRecord, isReleaseFrom, type Release } from "@runplane/domain"
import { DecisionMode as Wire } from "@runplane/runtime"
import * as Chunk from "effect/Chunk"
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import { decodePayload, isBlank } from "../Decode.ts"
import { type Mode, type ModeMessage, type ModeRules, type Move, makeMode, participantsOnly, ruledBy } from "../Mode.ts"
import { InvalidPayload, type Rejection } from "../Rejection.ts"

/**
 * Decision mode (docs/internals/runtime.md#decision-mode): proposals open the evaluation, the first vote closes
 * proposals, evaluations and objections for good, and a Commitment ends the session once one proposal exists and the
 * policy agrees.
 */
export interface DecisionState {
  readonly phase: "Proposal" | "Evaluation" | "Voting" | "Committed"
  /** Proposal id to the participant who made it. */
  readonly proposals: HashMap.HashMap<string, string>
  readonly evaluations: Chunk.Chunk<Evaluation>
  readonly objections: Chunk.Chunk<Objection>
  /** One vote per sender and proposal, keyed by both. */
  readonly votes: HashMap.HashMap<string, Vote>
}

interface Evaluation {
  readonly proposalId: string
  readonly sender: string
  readonly recommendation: string
  readonly confidence: number
}

interface Objection {
  readonly proposalId: string
  readonly sender: string
  readonly severity: string
}

interface Vote {
  readonly proposalId: string
  readonly voter: string
  readonly vote: string
}

export const DECISION_MODE_ID = "macp.mode.decision.v1"

const RECOMMENDATIONS = new Set(["APPROVE", "REVIEW", "BLOCK", "REJECT"])
const SEVERITIES = new Set(["low", "medium", "high", "critical"])
const VOTES = new Set(["APPROVE", "REJECT", "ABSTAIN"])

const refused = Result.fail(InvalidPayload)

/** Words are taken as they are from 0.13.0 on; earlier releases read them in any case. */
const spelled = (text: string, inCase: (text: string) => string, release: Release): string =>
  isReleaseFrom(release, "0.13.0") ? text : inCase(text)
const upper = (text: string) => text.toUpperCase()
const lower = (text: string) => text.toLowerCase()

const propose = (state: DecisionState, message: ModeMessage): Result.Result<DecisionState, Rejection> => {
  if (state.phase !== "Proposal" && state.phase !== "Evaluation") return refused
  return Result.flatMap(decodePayload(Wire.ProposalPayloadSchema, message.payload), ({ option, proposalId }) => {
    if (isBlank(proposalId) || isBlank(option) || HashMap.has(state.proposals, proposalId)) return refused
    const proposals = HashMap.set(state.proposals, proposalId, message.sender)
    return Result.succeed({ ...state, phase: "Evaluation" as const, proposals })
  })
}

const evaluate: Move<DecisionState> = (state, message, { release }) => {
  if (state.phase !== "Evaluation") return refused
  return Result.flatMap(decodePayload(Wire.EvaluationPayloadSchema, message.payload), (payload) => {
    const recommendation = spelled(payload.recommendation, upper, release)
    const { confidence, proposalId } = payload
    // Written so that NaN is refused too.
    const inRange = confidence >= 0 && confidence <= 1
    if (!HashMap.has(state.proposals, proposalId) || !RECOMMENDATIONS.has(recommendation) || !inRange) return refused
    const evaluation = { proposalId, sender: message.sender, recommendation, confidence }
    return Result.succeed({ ...state, evaluations: Chunk.append(state.evaluations, evaluation) })
  })
}

const object: Move<DecisionState> = (state, message, { release }) => {
  if (state.phase !== "Evaluation") return refused
  return Result.flatMap(decodePayload(Wire.ObjectionPayloadSchema, message.payload), (payload) => {
    const severity = spelled(payload.severity, (text) => lower(text) || "medium", release)
    if (!HashMap.has(state.proposals, payload.proposalId) || !SEVERITIES.has(severity)) return refused
    const objection = { proposalId: payload.proposalId, sender: message.sender, severity }
    return Result.succeed({ ...state, objections: Chunk.append(state.objections, objection) })
  })
}

/** The vote of `closer` ends proposals, evaluations and objections; every vote does where it is undefined. */
const voteClosedBy =
  (closer: string | undefined): Move<DecisionState> =>
  (state, message, { release }) => {
    if (state.phase !== "Evaluation" && state.phase !== "Voting") return refused
    return Result.flatMap(decodePayload(Wire.VotePayloadSchema, message.payload), (payload) => {
      const choice = spelled(payload.vote, upper, release)
      const key = JSON.stringify([payload.proposalId, message.sender])
      if (!HashMap.has(state.proposals, payload.proposalId) || !VOTES.has(choice) || HashMap.has(state.votes, key)) {
        return refused
      }
      const cast = { proposalId: payload.proposalId, voter: message.sender, vote: choice }
      const phase = closer === undefined || closer === message.sender ? ("Voting" as const) : state.phase
      return Result.succeed({ ...state, phase, votes: HashMap.set(state.votes, key, cast) })
    })
  }

const recordOf = ({ evaluations, objections, proposals, votes }: DecisionState): DecisionRecord => ({
  mode: "decision",
  proposals: HashMap.size(proposals),
  evaluations,
  objections: Chunk.map(objections, ({ sender, severity }) => ({ by: sender, severity })),
  votes: HashMap.values(votes)
})

const view = (state: DecisionState) => {
  const votes: Record<string, Record<string, { vote: string }>> = {}
  for (const { proposalId, vote, voter } of HashMap.values(state.votes)) {
    const ballots = votes[proposalId] ?? {}
    ballots[voter] = { vote }
    votes[proposalId] = ballots
  }
  return {
    phase: state.phase,
    proposals: Object.fromEntries(
      Array.from(HashMap.entries(state.proposals), ([id, sender]) => [id, { proposal_id: id, sender }])
    ),
    evaluations: Array.from(state.evaluations, ({ proposalId, ...rest }) => ({ proposal_id: proposalId, ...rest })),
    objections: Array.from(state.objections, ({ proposalId, ...rest }) => ({ proposal_id: proposalId, ...rest })),
    votes
  }
}

const rulesClosedBy = (closer: string | undefined): ModeRules<DecisionState> => ({
  info: {
    mode: DECISION_MODE_ID,
    title: "Decision",
    description: "Participants propose, evaluate, object and vote; one authorised commitment concludes.",
    determinismClass: "semantic-deterministic",
    participantModel: "declared"
  },
  policyAuthority: true,
  needsParticipants: false,
  start: () =>
    Result.succeed({
      phase: "Proposal",
      proposals: HashMap.empty(),
      evaluations: Chunk.empty(),
      objections: Chunk.empty(),
      votes: HashMap.empty()
    }),
  authorize: (_state, message, binding) => participantsOnly(message.sender, binding),
  moves: { Proposal: propose, Evaluation: evaluate, Objection: object, Vote: voteClosedBy(closer) },
  ...ruledBy(recordOf),
  commit: (state) => ({ ...state, phase: "Committed" }),
  view
})

export const DecisionMode = makeMode(rulesClosedBy(undefined))

/** The mode for the agent that is tried beside a participant: votes of others do not end its evaluation. */
export const decisionModeOfShadow = (participant: string): Mode => makeMode(rulesClosedBy(participant))
