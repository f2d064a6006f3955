import { MultiRoundMode as Wire } from "@runplane/runtime"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { decodePayload } from "../Decode.ts"
import { type Move, makeMode, participantsOnly, type SessionBinding } from "../Mode.ts"
import { InvalidPayload, type Rejection } from "../Rejection.ts"

/**
 * The multi-round extension mode (docs/internals/runtime.md#extension-modes): participants change their contributions
 * round by round until all of them say the same; then the initiator commits. No policy applies to it.
 */
export interface MultiRoundState {
  readonly round: number
  readonly contributions: HashMap.HashMap<string, string>
  readonly converged: boolean
}

const refused = Result.fail(InvalidPayload)

/** What older agents send in place of protobuf. Tried first, as a protobuf payload never begins like a JSON object. */
const decodeLegacy = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Struct({ value: Schema.String })))

const OPENING_BRACE = "{".charCodeAt(0)

const contributionOf = (payload: Uint8Array): Result.Result<string, Rejection> => {
  if (payload[0] === OPENING_BRACE) {
    const legacy = decodeLegacy(new TextDecoder().decode(payload))
    if (Result.isSuccess(legacy)) return Result.succeed(legacy.success.value)
  }
  return Result.map(decodePayload(Wire.ContributePayloadSchema, payload), ({ value }) => value)
}

const contribute: Move<MultiRoundState> = (state, message, binding) => {
  if (state.converged) return refused
  return Result.map(contributionOf(message.payload), (value) => {
    if (Option.contains(HashMap.get(state.contributions, message.sender), value)) return state
    const contributions = HashMap.set(state.contributions, message.sender, value)
    return { round: state.round + 1, contributions, converged: agree(contributions, binding) }
  })
}

const agree = (contributions: HashMap.HashMap<string, string>, { participants }: SessionBinding): boolean =>
  participants.every((participant) => HashMap.has(contributions, participant)) &&
  new Set(HashMap.values(contributions)).size === 1

export const MultiRoundMode = makeMode<MultiRoundState>({
  info: {
    mode: "ext.multi_round.v1",
    title: "Multi-round convergence",
    description: "Participants contribute values until all of them contribute the same one.",
    determinismClass: "semantic-deterministic",
    participantModel: "peer"
  },
  policyAuthority: false,
  start: ({ participants }) =>
    participants.length === 0
      ? refused
      : Result.succeed({ round: 0, contributions: HashMap.empty(), converged: false }),
  authorize: (_state, { sender }, binding) => participantsOnly(sender, binding),
  moves: { Contribute: contribute },
  readyToCommit: ({ converged }) => converged,
  deny: () => [],
  commit: (state) => state,
  view: (state) => ({
    round: state.round,
    contributions: Object.fromEntries(HashMap.entries(state.contributions)),
    converged: state.converged
  })
})
