import type { EventDraft } from "../../events/CanonicalEvent.ts"
import { artifactCreated } from "../../events/ControlPlaneEvents.ts"
import type { ModelPrices } from "../../prices/ModelPrices.ts"
import { uuidOfHash } from "../../values/HashUuid.ts"
import type { TraceFoldNode } from "./Node.ts"
import { isoOf } from "./Times.ts"

/** The settings of a fold, and the functions that the domain does not have. */
export interface TraceFoldOptions {
  readonly runId: string
  /** The key of the run, which is its session id too. */
  readonly sessionId: string
  readonly settleMs: number
  /** Silence after which a run without a root ends, when no span names a parent that has not come. */
  readonly idleMs: number
  /** The same when one does: the parent may still run. */
  readonly parentWaitMs: number
  /** Spans and log records of a run that become events; further ones only count. */
  readonly maxSpans: number
  /** Largest cost of a call that a span may state, US dollars; a larger one is not money. Without it all are. */
  readonly maxStatedCostUsd?: number | undefined
  /**
   * Spans that one step decides at most, so that the caller can give the thread back between steps; without it, all
   * that are ready. The next step is then due at once.
   */
  readonly maxDecisions?: number | undefined
  readonly prices: ModelPrices
  /** SHA-256 of a text, hexadecimal. */
  readonly sha256: (text: string) => string
  /** Identities of model calls that other runs have counted (`callIdentityOf`). */
  readonly countedElsewhere?: ReadonlySet<string> | undefined
  /**
   * Set when the telemetry enriches the run of a session that a runtime hosts: the fold then emits tool and model
   * events only, and neither creates nor ends the run. Tokens count when `usage` is true.
   */
  readonly joined?: { readonly usage: boolean } | undefined
}

/** Telemetry that leaves the span inbox in the transaction of the events. */
export interface Consumed {
  readonly key: string
  readonly traceId: string
  readonly spanId: string
  /** Absent for a repetition, whose first text is stored already, and beyond the limit of the run. */
  readonly node?: TraceFoldNode
  /**
   * Why it is dropped: the run has its limit of spans and log records, a log record says nothing that is read, too many
   * of them wait for one span.
   */
  readonly dropped?: "run_full" | "log_unread" | "log_full"
}

/** A text of the run that is stored as an artifact. Its `artifact.created` is among the events. */
export interface TraceFoldArtifact {
  /** A UUID that depends on the run, the span and the kind. */
  readonly artifactId: string
  readonly kind: "otlp.input" | "otlp.output"
  readonly label: string
  readonly content: string
  /** SHA-256 of `content`, hexadecimal. */
  readonly contentSha256: string
  readonly traceId: string
}

/** A judgement that came as a span, a span event or a log record. */
export interface TraceFoldMark {
  /** The same judgement has the same id. */
  readonly id: string
  readonly name: string
  readonly value: number | boolean | string
  readonly label?: string
  readonly explanation?: string
  readonly spanId: string
  readonly participantId?: string
  /** The response that is judged, when the emitter names it. */
  readonly responseId?: string
  /** Span of the model call that is judged. */
  readonly callSpanId?: string
}

/** What a step writes. */
export interface StepOutput {
  readonly events: Array<EventDraft>
  readonly artifacts: Array<TraceFoldArtifact>
  readonly marks: Array<TraceFoldMark>
  readonly consumed: Array<Consumed>
}

/** Adds an artifact with its event. */
export const addArtifact = (
  { artifacts, events }: StepOutput,
  { runId, sha256 }: Pick<TraceFoldOptions, "runId" | "sha256">,
  kind: TraceFoldArtifact["kind"],
  traceId: string,
  spanId: string,
  content: string,
  at: number
): void => {
  const artifactId = uuidOf(sha256(`${runId} ${kind} ${traceId} ${spanId}`))
  const artifact: TraceFoldArtifact = {
    artifactId,
    kind,
    label: kind === "otlp.input" ? "Input" : "Output",
    content,
    // The artifact is stored and served as this object.
    contentSha256: sha256(JSON.stringify({ text: content })),
    traceId
  }
  artifacts.push(artifact)
  events.push(artifactCreated(isoOf(at), artifact, "stream-consumer"))
}

/** The UUID of a hash. Stored ids of telemetry have one digit of the variant, the 9. */
export const uuidOf = (hex: string): string => uuidOfHash(`${hex.slice(0, 16)}9${hex.slice(17)}`, 8)
