import {
  create,
  type DescMessage,
  fromJsonString,
  type MessageInitShape,
  type MessageShape,
  toBinary
} from "@bufbuild/protobuf"
import * as Result from "effect/Result"
import type { Brief, PersonWait } from "./Brief.ts"
import { messageTypeOf } from "./Messages.ts"
import type { Session } from "./Session.ts"

/** The input of a strategy, which decides the next act of its agent. */
export interface Turn {
  readonly brief: Brief
  readonly session: Session
  /** The last `waitFor` has timed out; it stays true until the agent's next turn. */
  readonly overdue: boolean
}

/**
 * The behaviour of an agent: a pure function of its brief and of the messages so far, which returns its next act. The
 * runner calls it after each of its turns, and for each new message while it waits; it has no other memory than the
 * session.
 */
export type Strategy = (turn: Turn) => Step

export type Step =
  /** Do these in order. One of them must send a message, or the next turn would equal this one. */
  | { readonly _tag: "Act"; readonly actions: ReadonlyArray<Action> }
  /** Nothing to do until something is said, or until this many milliseconds have passed since the agent's last turn. */
  | { readonly _tag: "Wait"; readonly atMostMs: number | undefined }
  /** The agent's part is over, whatever the others still do. */
  | { readonly _tag: "Done" }
  /** The agent cannot fulfil its brief. */
  | { readonly _tag: "Unable"; readonly reason: string }

export type Action =
  /** SessionStart, as the bootstrap file describes it; only the initiator knows how. */
  | { readonly _tag: "Open" }
  | { readonly _tag: "Say"; readonly messageType: string; readonly payload: Uint8Array<ArrayBuffer> }
  | { readonly _tag: "Progress"; readonly done: number; readonly message: string }
  /** `span` is what the signal reports about the agent's own work, as a span of its telemetry. */
  | { readonly _tag: "Signal"; readonly signalType: string; readonly data: object; readonly span?: WorkSpan }
  /** A moment of thinking; its length follows from the seed and this name. */
  | { readonly _tag: "Think"; readonly about: string }
  | { readonly _tag: "Commit"; readonly outcome: Outcome }
  | { readonly _tag: "Cancel"; readonly reason: string }

/** A span of an agent's work, by the semantic conventions of OpenTelemetry for generative AI. */
export interface WorkSpan {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
}

/** What a Commitment says beyond the versions that the session is bound to. */
export interface Outcome {
  readonly commitmentId: string
  /** For example `decision.selected`; its ending has to fit `positive`. */
  readonly action: string
  readonly positive: boolean
  readonly scope: string
  readonly reason: string
}

export const act = (...actions: ReadonlyArray<Action>): Step => ({ _tag: "Act", actions })
export const wait: Step = { _tag: "Wait", atMostMs: undefined }
export const waitFor = (atMostMs: number): Step => ({ _tag: "Wait", atMostMs })
/** Waits for others: people as long as each of them may take, agents alone for this many milliseconds. */
export const waitForOthers = (people: ReadonlyArray<PersonWait>, agentsMs: number): Step => {
  const longest = Math.max(agentsMs, ...people.map(({ waitMs }) => waitMs ?? Number.POSITIVE_INFINITY))
  return Number.isFinite(longest) ? waitFor(longest) : wait
}
export const done: Step = { _tag: "Done" }

export const open: Action = { _tag: "Open" }
export const progress = (fraction: number, message: string): Action => ({ _tag: "Progress", done: fraction, message })
export const signal = (signalType: string, data: object): Action => ({ _tag: "Signal", signalType, data })
export const think = (about: string): Action => ({ _tag: "Think", about })
export const commit = (outcome: Outcome): Action => ({ _tag: "Commit", outcome })
export const cancel = (reason: string): Action => ({ _tag: "Cancel", reason })

export const say = <Desc extends DescMessage>(schema: Desc, payload: MessageInitShape<Desc>): Action => ({
  _tag: "Say",
  messageType: messageTypeOf(schema),
  payload: toBinary(schema, create(schema, payload))
})

/**
 * A strategy for the initiator, which knows what to say first: `play` gets the kickoff of the scenario as a message of
 * this kind. An agent without a kickoff is unable to lead.
 */
export const leading =
  <Desc extends DescMessage>(schema: Desc, play: (turn: Turn, kickoff: MessageShape<Desc>) => Step): Strategy =>
  (turn) => {
    const { opening } = turn.brief
    if (opening === undefined) return unable("the bootstrap file has no initiator block")
    const kickoff = Result.try(() => fromJsonString(schema, JSON.stringify(opening.kickoff), READ_OPTIONS))
    return Result.isSuccess(kickoff)
      ? play(turn, kickoff.success)
      : unable(`the kickoff of the bootstrap file is not a ${messageTypeOf(schema)}`)
  }

/** A scenario may carry more in its kickoff than the protocol knows. */
const READ_OPTIONS = { ignoreUnknownFields: true }

const unable = (reason: string): Step => ({ _tag: "Unable", reason })
