import { createHash } from "node:crypto"
import {
  type Attributes,
  type AttributeValue,
  cleanText,
  type Emitter,
  type LogRecord,
  type Span,
  type Telemetry
} from "@runplane/domain"
import { boundSpanName, boundValue, type OtlpLimits } from "./Bounds.ts"

/** What a request brings. */
export interface ReadTelemetry {
  readonly telemetry: ReadonlyArray<Telemetry>
  /** Spans that the format forbids, or beyond the bound of a request. */
  readonly rejected: number
  /** Why the first of them was rejected; empty without any. */
  readonly message: string
  /** Log records without a name or without a span: they belong to no run. */
  readonly ignored: number
}

/** A span as one of the formats has it. Ids are hex or unusable. */
export interface RawSpan extends Omit<Span, "kind" | "startedAt" | "endedAt" | "name"> {
  readonly name: string
  readonly start: bigint
  readonly end: bigint
}

export interface RawLog extends Omit<LogRecord, "kind" | "at" | "name"> {
  readonly name: string
  readonly time: bigint
  readonly observed: bigint
}

const TRACE_ID = /^[0-9a-f]{32}$/
const SPAN_ID = /^[0-9a-f]{16}$/
const ZEROS = /^0+$/
const DAY_NS = 86_400_000_000_000n

export const isTraceId = (id: string) => TRACE_ID.test(id) && !ZEROS.test(id)
export const isSpanId = (id: string) => SPAN_ID.test(id) && !ZEROS.test(id)

const faultOf = (traceId: string, spanId: string, start: bigint, end: bigint): string | undefined => {
  if (!isTraceId(traceId)) return "a span has no valid trace id"
  if (!isSpanId(spanId)) return "a span has no valid span id"
  return end > 0n && start - end > DAY_NS ? "a span ends more than a day before its start" : undefined
}

/** Collects the telemetry of one request, with the rules that both formats share. */
export class Collector {
  readonly #telemetry: Array<Telemetry> = []
  readonly #limits: OtlpLimits
  readonly #now: bigint
  #rejected = 0
  #message = ""
  #ignored = 0

  /** `now` stands for times that are absent, Unix nanoseconds. */
  constructor(limits: OtlpLimits, now: bigint) {
    this.#limits = limits
    this.#now = now
  }

  /** Whether the request may bring no further span or log record. */
  get isFull(): boolean {
    return this.#telemetry.length >= this.#limits.spans
  }

  reject(why: string): void {
    this.#rejected++
    if (this.#message === "") this.#message = why
  }

  rejectBeyondBound(): void {
    this.reject(`a request has more than ${this.#limits.spans} spans or log records`)
  }

  addSpan({ end, name, parentSpanId, start, ...span }: RawSpan): void {
    const fault = faultOf(span.traceId, span.spanId, start, end)
    if (fault !== undefined) {
      this.reject(fault)
      return
    }
    const ended = end > 0n ? end : start > 0n ? start : this.#now
    this.#telemetry.push({
      kind: "span",
      ...span,
      ...(parentSpanId !== undefined && isSpanId(parentSpanId) && { parentSpanId }),
      name: boundSpanName(cleanText(name)),
      startedAt: String(start > 0n ? start : ended),
      endedAt: String(ended)
    })
  }

  addLog({ name, observed, time, ...record }: RawLog): void {
    if (name === "" || !isTraceId(record.traceId) || !isSpanId(record.spanId)) {
      this.#ignored++
      return
    }
    const at = time > 0n ? time : observed > 0n ? observed : this.#now
    this.#telemetry.push({ kind: "log", ...record, name: boundSpanName(cleanText(name)), at: String(at) })
  }

  done(): ReadTelemetry {
    return {
      telemetry: this.#telemetry,
      rejected: this.#rejected,
      message: this.#message,
      ignored: this.#ignored
    }
  }
}

/** Name of a log record: its own field, else the attribute of older emitters. */
export const logName = (field: string, attribute: AttributeValue | undefined): string =>
  field === "" && typeof attribute === "string" ? attribute : field

/** The status of a span; code 1 is ok and 2 is error. */
export const statusOf = (code: number, message: string, { valueBytes }: OtlpLimits) => {
  const status: Span["status"] = code === 2 ? "error" : code === 1 ? "ok" : "unset"
  return { status, ...(message !== "" && { statusMessage: String(boundValue(cleanText(message), valueBytes)) }) }
}

export const emitterOf = (resource: Attributes, scope: string, version: string): Emitter => ({
  resource,
  scope: boundSpanName(cleanText(scope)),
  ...(version !== "" && { scopeVersion: boundSpanName(cleanText(version)) })
})

/**
 * Identity of a span or a log record, equal when it arrives again: `span:<traceId>:<spanId>`, or `log:` with the same
 * ids and a hash of the record, since a span may have many.
 */
export const telemetryKey = (telemetry: Telemetry): string => {
  const { kind, spanId, traceId } = telemetry
  if (kind === "span") return `span:${traceId}:${spanId}`
  const content = JSON.stringify([telemetry.name, telemetry.at, telemetry.body, telemetry.attributes])
  return `log:${traceId}:${spanId}:${createHash("sha256").update(content).digest("hex").slice(0, 32)}`
}
