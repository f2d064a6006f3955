import {
  type DenialReason,
  denyCommitment,
  isReadyToCommit,
  type SessionRecord,
  type SessionTerms
} from "@runplane/domain"
import * as Result from "effect/Result"
import { Forbidden, InvalidPayload, policyDenied, type Rejection } from "./Rejection.ts"

/** What a mode says about itself to ListModes (docs/internals/runtime.md#rpcs). */
export interface ModeInfo {
  readonly mode: string
  readonly modeVersion: string
  readonly title: string
  readonly description: string
  readonly determinismClass: string
  readonly participantModel: string
  /** Accepted types, SessionStart and Commitment included. */
  readonly messageTypes: ReadonlyArray<string>
  /** URI of the payload schemas, by kind. */
  readonly schemaUris: Readonly<Record<string, string>>
}

/** The bindings of a session that never change after its start. */
export interface SessionBinding extends SessionTerms {
  readonly sessionId: string
  readonly modeVersion: string
  readonly configurationVersion: string
}

/** A message of a session that is not its start and not its Commitment. */
export interface ModeMessage {
  readonly type: string
  readonly sender: string
  /** `runtime` when the runtime writes in the sender's name. */
  readonly author: "participant" | "runtime"
  readonly payload: Uint8Array
  /** Server clock, Unix milliseconds. */
  readonly receivedAt: number
  /** The same less all time the session has spent suspended. */
  readonly activeAt: number
}

/** The Commitment, as a mode checks it. */
export interface Concluding {
  readonly outcomePositive: boolean
  /** Server clock, Unix milliseconds. */
  readonly now: number
}

/**
 * A message the runtime itself writes in a participant's name, accepted like any other
 * (docs/internals/runtime.md#handoff-mode).
 */
export interface RuntimeMessage {
  readonly type: string
  readonly sender: string
  /** Derived from what caused it, so that the same history always holds the same id. */
  readonly messageId: string
  /** When it was due, Unix milliseconds less suspended time; the moment it was noticed does not count. */
  readonly dueAt: number
  readonly payload: Uint8Array<ArrayBuffer>
}

/**
 * The rules of one mode over its own immutable state. The kernel does what is common to all modes
 * (docs/internals/runtime.md#commitment) and calls these for the differences: a new mode is one `ModeRules` and its row
 * in `Modes.ts`.
 */
export interface ModeRules<State> {
  /** The rest of what a mode says about itself follows from its id and its moves. */
  readonly info: Omit<ModeInfo, "modeVersion" | "messageTypes" | "schemaUris">
  /**
   * Whether the bound policy decides who may commit; extension modes leave it to the initiator
   * (docs/internals/runtime.md#extension-modes).
   */
  readonly policyAuthority: boolean
  /** Whether a session needs declared participants; the default is true. Without any, only the initiator can act. */
  readonly needsParticipants?: boolean
  /** The mode's own start check, and the state it starts from. */
  readonly start: (binding: SessionBinding) => Result.Result<State, Rejection>
  /** Who may send this type now. Undefined when allowed. */
  readonly authorize: (state: State, message: ModeMessage, binding: SessionBinding) => Rejection | undefined
  /** What an accepted message of each type does; any other type is refused. */
  readonly moves: Readonly<Record<string, Move<State>>>
  /** What every move leads to besides. Most modes have nothing. */
  readonly moved?: (state: State, binding: SessionBinding) => State
  /**
   * Whether an id is kept for messages of the runtime's own (docs/internals/runtime.md#handoff-mode). Most modes keep
   * none.
   */
  readonly reservesId?: (messageId: string, binding: SessionBinding) => boolean
  /**
   * Messages that are due by themselves at `activeNow`, Unix milliseconds less suspended time. Most modes have none.
   */
  readonly due?: (state: State, binding: SessionBinding, activeNow: number) => ReadonlyArray<RuntimeMessage>
  /** What the passing of time alone changed, applied when a Commitment arrives. Most modes have nothing. */
  readonly settle?: (state: State, binding: SessionBinding, now: number) => State
  /** Whether the session may be concluded at all, policy aside. */
  readonly readyToCommit: (state: State, binding: SessionBinding, concluding: Concluding) => boolean
  /** Every reason of the bound policy to refuse this outcome. */
  readonly deny: (state: State, binding: SessionBinding, outcomePositive: boolean) => ReadonlyArray<DenialReason>
  /** The state after an accepted Commitment. */
  readonly commit: (state: State) => State
  /** The state as plain JSON, snake_case, for inspection. */
  readonly view: (state: State) => Readonly<Record<string, unknown>>
}

/** The mode of one session at one moment. Immutable: a refused message leaves nothing behind. */
export interface ModeRun {
  readonly apply: (message: ModeMessage) => Result.Result<ModeRun, Rejection>
  /** Readiness and policy; the checks of the Commitment payload itself are done before. */
  readonly commit: (concluding: Concluding) => Result.Result<ModeRun, Rejection>
  readonly reservesId: (messageId: string) => boolean
  readonly due: (activeNow: number) => ReadonlyArray<RuntimeMessage>
  readonly view: () => Readonly<Record<string, unknown>>
}

export interface Mode {
  readonly info: ModeInfo
  readonly needsParticipants: boolean
  /** Whether a start is checked strictly; registered modes are not (docs/internals/runtime.md#extension-modes). */
  readonly isStrict: boolean
  readonly policyAuthority: boolean
  readonly start: (binding: SessionBinding) => Result.Result<ModeRun, Rejection>
}

/**
 * Hides the state type of a mode, so that a registry can hold them all. The `registered` descriptor of an extension
 * mode describes it.
 */
export const makeMode = <State>(rules: ModeRules<State>, registered?: ModeInfo): Mode => {
  // The second last part of an id: `decision` of macp.mode.decision.v1.
  const name = rules.info.mode.split(".").at(-2)
  return {
    info: registered ?? {
      ...rules.info,
      modeVersion: "1.0.0",
      messageTypes: ["SessionStart", ...Object.keys(rules.moves), "Commitment"],
      schemaUris: { protobuf: `macp/modes/${name}/v1/${name}.proto` }
    },
    policyAuthority: rules.policyAuthority,
    needsParticipants: rules.needsParticipants ?? true,
    isStrict: registered === undefined,
    start: (binding) => Result.map(rules.start(binding), (state) => run(rules, binding, state))
  }
}

const run = <State>(rules: ModeRules<State>, binding: SessionBinding, state: State): ModeRun => ({
  apply: (message) => {
    const refused = rules.authorize(state, message, binding)
    if (refused !== undefined) return Result.fail(refused)
    const move = Object.hasOwn(rules.moves, message.type) ? rules.moves[message.type] : undefined
    if (move === undefined) return Result.fail(InvalidPayload)
    return Result.map(move(state, message, binding), (next) =>
      run(rules, binding, rules.moved?.(next, binding) ?? next)
    )
  },
  commit: (concluding) => {
    const settled = rules.settle?.(state, binding, concluding.now) ?? state
    if (!rules.readyToCommit(settled, binding, concluding)) return Result.fail(InvalidPayload)
    const denials = rules.deny(settled, binding, concluding.outcomePositive)
    if (denials.length > 0) return Result.fail(policyDenied(denials))
    return Result.succeed(run(rules, binding, rules.commit(settled)))
  },
  reservesId: (messageId) => rules.reservesId?.(messageId, binding) ?? false,
  due: (activeNow) => rules.due?.(state, binding, activeNow) ?? NOTHING,
  view: () => rules.view(state)
})

const NOTHING: ReadonlyArray<RuntimeMessage> = []

/** One accepted type of a mode: decodes the payload, checks it, and gives the next state. */
export type Move<State> = (
  state: State,
  message: ModeMessage,
  binding: SessionBinding
) => Result.Result<State, Rejection>

/** Readiness and policy of a standard mode, evaluated over what its messages amount to. */
export const ruledBy = <State>(
  recordOf: (state: State) => SessionRecord
): Pick<ModeRules<State>, "readyToCommit" | "deny"> => ({
  readyToCommit: (state, binding, { outcomePositive }) => isReadyToCommit(binding, recordOf(state), outcomePositive),
  deny: (state, binding, outcomePositive) => denyCommitment(binding, recordOf(state), outcomePositive)
})

/** The usual sender rule: declared participants only. */
export const participantsOnly = (sender: string, binding: SessionBinding): Rejection | undefined =>
  binding.participants.includes(sender) ? undefined : Forbidden

/** For types that only the initiator of the session may send. */
export const initiatorOnly = (sender: string, binding: SessionBinding): Rejection | undefined =>
  sender === binding.initiator ? undefined : Forbidden
