import type * as Schema from "effect/Schema"

/**
 * The value of an attribute as JSON. Integers beyond 2^53 are decimal texts, bytes are base64, a list or a key-value
 * list is an array or an object.
 */
export type AttributeValue = Schema.Json

/** Attributes by name. The last of two attributes with one name counts. */
export type Attributes = { readonly [name: string]: AttributeValue }

/** What emitted a span or a log record. */
export interface Emitter {
  /** Attributes of the resource: `service.name` and others. */
  readonly resource: Attributes
  /** Name of the instrumentation; empty when unknown. */
  readonly scope: string
  readonly scopeVersion?: string
}

export interface SpanEvent {
  readonly name: string
  /** Unix nanoseconds, a decimal text. */
  readonly at: string
  readonly attributes: Attributes
}

export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
  readonly attributes: Attributes
}

/** A span of OpenTelemetry, its texts already bounded. It is stored as this JSON. */
export interface Span extends Emitter {
  readonly kind: "span"
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** 16 lower-case hex digits. */
  readonly spanId: string
  /** Absent for a root. */
  readonly parentSpanId?: string
  readonly name: string
  /** Unix nanoseconds, a decimal text. */
  readonly startedAt: string
  /** Unix nanoseconds, a decimal text. */
  readonly endedAt: string
  readonly status: "unset" | "ok" | "error"
  readonly statusMessage?: string
  readonly attributes: Attributes
  readonly events: ReadonlyArray<SpanEvent>
  readonly links: ReadonlyArray<SpanLink>
}

/** A log record of OpenTelemetry. One without a span belongs to no run. */
export interface LogRecord extends Emitter {
  readonly kind: "log"
  readonly traceId: string
  readonly spanId: string
  /** Its event name, from the field or from the attribute `event.name`; empty when it has none. */
  readonly name: string
  /** Unix nanoseconds, a decimal text. */
  readonly at: string
  readonly body?: AttributeValue
  readonly attributes: Attributes
}

/** What an exporter sends. */
export type Telemetry = Span | LogRecord
