import * as Result from "effect/Result"
import type { PolicySemantics } from "./DecisionPolicy.ts"
import type { BoundPolicy } from "./PolicyRules.ts"
import { Forbidden, InvalidPayload, policyDenied, type Rejection } from "./Rejection.ts"

/** What a mode says about itself to ListModes (runtime-wire section 8.1). */
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
export interface SessionBinding {
  readonly sessionId: string
  readonly initiator: string
  readonly participants: ReadonlyArray<string>
  readonly modeVersion: string
  readonly configurationVersion: string
  readonly policy: BoundPolicy
  readonly semantics: PolicySemantics
}

/** A message of a session that is not its start and not its Commitment. */
export interface ModeMessage {
  readonly type: string
  readonly sender: string
  readonly payload: Uint8Array
  /** Server clock, Unix milliseconds. */
  readonly receivedAt: number
}

/**
 * The rules of one mode over its own immutable state. The kernel does what is common to all modes (runtime-wire section
 * 8.1) and asks these for the rest, so a mode is added by writing one `ModeRules` and listing it in `Modes.ts`.
 */
export interface ModeRules<State> {
  readonly info: ModeInfo
  /** Whether the bound policy decides who may commit; extension modes leave it to the initiator (section 8.7). */
  readonly policyAuthority: boolean
  /** The mode's own start check, and the state it starts from. */
  readonly start: (binding: SessionBinding) => Result.Result<State, Rejection>
  /** Who may send this type now. Undefined when allowed. */
  readonly authorize: (state: State, message: ModeMessage, binding: SessionBinding) => Rejection | undefined
  /** Decodes and checks the payload, and gives the next state. */
  readonly apply: (state: State, message: ModeMessage, binding: SessionBinding) => Result.Result<State, Rejection>
  /** Whether the session may be concluded at all, policy aside. `now` is in Unix milliseconds. */
  readonly readyToCommit: (state: State, binding: SessionBinding, now: number) => boolean
  /** Every reason of the bound policy to refuse this outcome. */
  readonly deny: (state: State, binding: SessionBinding, outcomePositive: boolean) => ReadonlyArray<string>
  /** The state after an accepted Commitment. */
  readonly commit: (state: State) => State
  /** The state as plain JSON, snake_case, for inspection. */
  readonly view: (state: State) => Readonly<Record<string, unknown>>
}

/** The mode of one session at one moment. Immutable: a refused message leaves nothing behind. */
export interface ModeRun {
  readonly apply: (message: ModeMessage) => Result.Result<ModeRun, Rejection>
  /** Readiness and policy; the checks of the Commitment payload itself are done before. */
  readonly commit: (outcomePositive: boolean, now: number) => Result.Result<ModeRun, Rejection>
  readonly view: () => Readonly<Record<string, unknown>>
}

export interface Mode {
  readonly info: ModeInfo
  readonly policyAuthority: boolean
  readonly start: (binding: SessionBinding) => Result.Result<ModeRun, Rejection>
}

/** Hides the state type of a mode, so that a registry can hold them all. */
export const makeMode = <State>(rules: ModeRules<State>): Mode => ({
  info: rules.info,
  policyAuthority: rules.policyAuthority,
  start: (binding) => Result.map(rules.start(binding), (state) => run(rules, binding, state))
})

const run = <State>(rules: ModeRules<State>, binding: SessionBinding, state: State): ModeRun => ({
  apply: (message) => {
    const refused = rules.authorize(state, message, binding)
    if (refused !== undefined) return Result.fail(refused)
    return Result.map(rules.apply(state, message, binding), (next) => run(rules, binding, next))
  },
  commit: (outcomePositive, now) => {
    if (!rules.readyToCommit(state, binding, now)) return Result.fail(InvalidPayload)
    const reasons = rules.deny(state, binding, outcomePositive)
    if (reasons.length > 0) return Result.fail(policyDenied(reasons))
    return Result.succeed(run(rules, binding, rules.commit(state)))
  },
  view: () => rules.view(state)
})

/** The usual sender rule: declared participants only. */
export const participantsOnly = (sender: string, binding: SessionBinding): Rejection | undefined =>
  binding.participants.includes(sender) ? undefined : Forbidden
