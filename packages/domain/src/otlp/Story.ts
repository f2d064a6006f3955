import * as Schema from "effect/Schema"
import type { EventDraft } from "../events/CanonicalEvent.ts"
import type { ModelPrices } from "../pricing/ModelPrices.ts"
import type { Arrival, RunEnd, RunFacts } from "./Run.ts"

/** The settings of a story, and the functions that the domain does not have. */
export interface StoryOptions {
  readonly runId: string
  /** The key of the run, which is its session id too. */
  readonly sessionId: string
  readonly settleMs: number
  readonly idleMs: number
  /** Spans and log records of a run that become events; further ones only count. */
  readonly maxSpans: number
  readonly prices: ModelPrices
  /** SHA-256 of a text, hexadecimal. */
  readonly sha256: (text: string) => string
  /**
   * Set when the telemetry enriches the run of a session that a runtime hosts: the story then emits tool and model
   * events only, and neither creates nor ends the run. Tokens count when `usage` is true.
   */
  readonly joined?: { readonly usage: boolean } | undefined
}

/** What a consumed span or log record leaves for later decisions. It is stored with `otlp_seen`. */
export const StoryNode = Schema.Struct({ key: Schema.String })
export type StoryNode = typeof StoryNode.Type

/**
 * The story of a run so far: the nodes of consumed telemetry, and the telemetry that still waits. A value; each step
 * returns the next one.
 */
export interface StoryState {
  readonly nodes: number
}

/** Telemetry that leaves the inbox in the transaction of the events. */
export interface Consumed {
  readonly key: string
  readonly traceId: string
  readonly spanId: string
  /** Absent for a repetition: its first text is stored already. */
  readonly node?: StoryNode
}

/** A text of the run that is stored as an artifact. Its `artifact.created` is among the events. */
export interface StoryArtifact {
  /** A UUID that depends on the run and the kind. */
  readonly artifactId: string
  readonly kind: "otlp.input" | "otlp.output"
  readonly label: string
  readonly content: string
  /** SHA-256 of `content`, hexadecimal. */
  readonly contentSha256: string
  readonly traceId: string
}

/** A judgement that came as a span, a span event or a log record. */
export interface StoryMark {
  /** Key of the arrival that has it, and its index there: the same judgement has the same id. */
  readonly id: string
  readonly name: string
  readonly value: number | boolean | string
  readonly label?: string
  readonly explanation?: string
  readonly spanId: string
  readonly participantId?: string
  /** The response that is judged, when the emitter names it. */
  readonly responseId?: string
}

/** What one step of a story decided. */
export interface StoryStep {
  readonly state: StoryState
  /**
   * In the order in which they are appended. The first step begins with `run.created`, `run.started` and the state
   * OPEN of the session. `run.completed` or `run.failed` comes last in the step that ends the run.
   */
  readonly events: ReadonlyArray<EventDraft>
  readonly artifacts: ReadonlyArray<StoryArtifact>
  readonly marks: ReadonlyArray<StoryMark>
  readonly consumed: ReadonlyArray<Consumed>
  /** Number of arrivals that wait in the state; their rows stay in the inbox. */
  readonly waiting: number
  /** When to call again without new telemetry, Unix milliseconds; undefined when nothing is due. */
  readonly nextAt: number | undefined
  /** The facts after the step. */
  readonly facts: RunFacts
  /** Present in the step that ends the run, and not again. */
  readonly end?: RunEnd
}

/** What is stored of a run whose story is resumed. */
export interface StoredStory {
  /** The nodes of `otlp_seen`, in any order. */
  readonly nodes: Iterable<StoryNode>
  /** Whether `run.created` is in the log. */
  readonly isCreated: boolean
  /** Whether the run has ended. */
  readonly isEnded: boolean
}

/**
 * The story of a run from what is stored of it. After a kill, a process resumes the stored nodes and gives all rows
 * that the inbox has of the run to the next step, with their first times of reception. The step then decides what the
 * killed process would have decided: the state is the fold of the nodes, and waiting telemetry is only in the inbox.
 * A new run has no nodes, is not created and not ended.
 */
export const resumeStory = ({ nodes }: StoredStory): StoryState => ({ nodes: [...nodes].length })

/**
 * The next step of a story: new arrivals and the time (Unix milliseconds) in, decided events out. Pure and total. Call
 * it for each drained batch and at `nextAt`. The drain appends `events`, inserts `consumed` into `otlp_seen` and
 * deletes those rows from the inbox in one transaction, and only then keeps `state`.
 */
export const stepStory = (
  state: StoryState,
  arrivals: ReadonlyArray<Arrival>,
  _now: number,
  _options: StoryOptions
): StoryStep => ({
  state,
  events: [],
  artifacts: [],
  marks: [],
  consumed: [],
  waiting: arrivals.length,
  nextAt: undefined,
  facts: { tags: [], metadata: {}, models: [] }
})
