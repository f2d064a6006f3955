import type * as Schema from "effect/Schema"
import type { TokenCounts } from "../usage/TokenCounts.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/**
 * What a span is. `step` is a part of a graph or workflow that names a participant, which it is only with an agent or a
 * model call inside. `other` spans are of frameworks, HTTP or databases; they stay in the tree.
 */
export type MeaningKind =
  | "workflow"
  | "agent"
  | "step"
  | "model"
  | "tool"
  | "handoff"
  | "retrieval"
  | "plan"
  | "guardrail"
  | "approval"
  | "evaluation"
  | "construction"
  | "other"

/** Which rule decided whether the input includes cached tokens (docs/reference/ingest.md#inclusive-or-not). */
export type UsageBasis =
  | "inclusive"
  | "inclusive:total"
  | "exclusive:total"
  | "exclusive:cached"
  | "exclusive:reasoning"
  | "exclusive:both"

/** Tokens as stated, made inclusive. Counts that are absent beside others are 0. */
/** Parts of the counts of a call that may have prices of their own. */
export interface UsageParts {
  /** Part of the tokens that were written to a cache. */
  readonly cacheWriteHourTokens?: number
  /** Parts of the input and of the output. */
  readonly audioInputTokens?: number
  readonly audioOutputTokens?: number
  readonly imageInputTokens?: number
  readonly imageOutputTokens?: number
}

export interface StatedUsage {
  readonly counts: TokenCounts
  readonly basis: UsageBasis
}

export interface ToolMeaning {
  readonly name: string
  readonly callId?: string
  readonly type?: string
  readonly arguments?: Schema.Json
  readonly result?: Schema.Json
  /** Whether a person or a permission refused the call: the tool did not run. */
  readonly isRefused?: true
}

export interface Failure {
  /** Class or code; without its module path. */
  readonly type?: string
  /** One line. */
  readonly message?: string
}

/** A statement on the decision of the run. */
export interface Statement {
  readonly kind: "proposal" | "vote" | "decision"
  /** Index among the events of the span; 0 for a log record. */
  readonly index: number
  /** Unix nanoseconds, a decimal text. */
  readonly at: string
  readonly agent?: string
  readonly payload: JsonObject
}

/** A judgement of an evaluator. */
export interface Evaluation {
  readonly index: number
  readonly name: string
  readonly value: number | boolean | string
  readonly label?: string
  readonly explanation?: string
  readonly responseId?: string
}

/** What a span or log record says about the run as a whole. */
export interface RunClues {
  readonly scenario?: string
  readonly workflow?: string
  readonly conversation?: string
  readonly promptName?: string
  readonly promptVersion?: string
  readonly promptHash?: string
  readonly policy?: string
  readonly tags?: ReadonlyArray<string>
  readonly user?: string
}

/**
 * What a span or log record means, in words of no framework. A member that the emitter did not state is absent, and so
 * is one that it hides.
 */
export interface Meaning {
  readonly kind: MeaningKind
  /** As the emitter calls it: `chat`, `embeddings`, `AGENT`. */
  readonly operation?: string
  /** Whether no family knows the span, and it is not of HTTP, a database or another infrastructure. */
  readonly isUnread?: true
  /** Of an unread span: whether it names nothing that events have. The run lacks nothing where it is a wrapper. */
  readonly isBare?: true
  /** Agent that the span itself names. */
  readonly agent?: string
  /** Whether `agent` is a guess: it stands only in a text. */
  readonly isAgentAssumed?: true
  /** Of an agent that the span does not name: the name of the span, where it may be the agent's. */
  readonly agentByName?: string
  /** Agent that a tool calls. */
  readonly delegate?: string
  /** Whether a tool calls an agent that the emitter does not name. */
  readonly hidesDelegate?: true
  readonly workflow?: string
  /** Of a handoff: its sides, as far as they are stated. */
  readonly from?: string
  readonly to?: string
  /** Of an agent: the agent that it received the work from. */
  readonly calledBy?: string
  readonly provider?: string
  readonly model?: string
  readonly usage?: StatedUsage
  readonly usageParts?: UsageParts
  /** As the provider names it: `flex`, `priority`, `batch`. */
  readonly serviceTier?: string
  /** US dollars, as the emitter states it. */
  readonly costUsd?: number
  readonly responseId?: string
  readonly finishReasons?: ReadonlyArray<string>
  readonly firstChunkMs?: number
  readonly tool?: ToolMeaning
  readonly instructions?: Schema.Json
  readonly input?: Schema.Json
  readonly output?: Schema.Json
  /** Present when the status of the span is ERROR. */
  readonly failure?: Failure
  /** The exception that the span recorded, whatever its status. */
  readonly exception?: Failure
  readonly statements?: ReadonlyArray<Statement>
  readonly evaluations?: ReadonlyArray<Evaluation>
  readonly clues: RunClues
  /** Attributes named `gen_ai.*` that no row of the table has. */
  readonly attributes?: JsonObject
}
