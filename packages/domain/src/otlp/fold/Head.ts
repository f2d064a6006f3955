import type * as Schema from "effect/Schema"
import type { DraftHead } from "../../events/EventType.ts"
import { OTLP_MODE_NAME, OTLP_SOURCE_NAME } from "../../events/MessageHeader.ts"
import type { SubjectKind } from "../../events/RecordedEvent.ts"
import { cleanObject } from "../../values/CleanJson.ts"
import type { JsonObject } from "../../values/PayloadDecoder.ts"
import type { Failure, Meaning } from "../Meaning.ts"
import type { SpanNode } from "./Node.ts"
import type { TraceFoldOptions } from "./Output.ts"
import { isoOf, isoOfNanos } from "./Times.ts"

/** What events of one span share. */
export interface EventOrigin {
  readonly node: SpanNode
  readonly meaning: Meaning
  readonly options: TraceFoldOptions
  /** Participant that the events are of. */
  readonly sender: string
  /** Whether the participant is a guess. */
  readonly isAssumed: boolean
  /** Whether the run has ended already. */
  readonly isLate: boolean
}

export const headOf = ({ meaning, node }: EventOrigin, kind: SubjectKind, id: string): DraftHead => ({
  ts: isoOf(node.at),
  subject: { kind, id },
  source: { kind: "runtime", name: OTLP_SOURCE_NAME, rawType: meaning.operation ?? node.name },
  trace: {
    traceId: node.traceId,
    spanId: node.spanId,
    ...(node.parentSpanId !== undefined && { parentSpanId: node.parentSpanId })
  }
})

/** A message that a span stands for. */
export interface SpanMessage {
  readonly type: string
  readonly id: string
  readonly sender?: string
  readonly payload: JsonObject
  /** Further members of `data`. */
  readonly more?: JsonObject
}

/** Members of a payload that consoles read at the top level of `data` too. */
const LIFTED = ["name", "model", "promptTokens", "completionTokens", "totalTokens", "severity", "action", "signalType"]

/** The `data` of an event of a span: the header of its message, the times of the span, and the payload. */
export const dataOf = (origin: EventOrigin, { id, more, payload, sender, type }: SpanMessage): JsonObject => {
  const { isAssumed, isLate, meaning, node, options } = origin
  const failure = meaning.failure ?? meaning.exception
  const lifted: Record<string, Schema.Json> = {}
  for (const key of LIFTED) {
    const value = payload[key]
    if (value !== undefined && (typeof value !== "object" || value === null)) lifted[key] = value
  }
  return cleanObject({
    modeName: OTLP_MODE_NAME,
    messageType: type,
    messageId: id,
    sessionId: options.sessionId,
    sender: sender ?? origin.sender,
    ...lifted,
    startedAt: isoOfNanos(node.startedAt),
    endedAt: isoOfNanos(node.endedAt),
    spanId: node.spanId,
    ...(node.parentSpanId !== undefined && { parentSpanId: node.parentSpanId }),
    ...(node.source !== undefined && { telemetrySource: node.source }),
    ...(isAssumed && { attribution: "assumed" }),
    ...(isLate && { late: true }),
    ...(failure !== undefined && { error: failureData(failure) }),
    ...(meaning.attributes !== undefined && { attributes: meaning.attributes }),
    ...more,
    decodedPayload: payload
  })
}

export const failureData = ({ message, type }: Failure): JsonObject => ({
  ...(type !== undefined && { type }),
  ...(message !== undefined && { message })
})
