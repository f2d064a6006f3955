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
import { boundSpanName, boundValue, type Dropped, type OtlpLimits, type RequestBounds } from "./Bounds.ts"
import { spanOfSession } from "./SessionLogs.ts"

/** What a request brings, and what it loses. */
export interface ReadReport {
  /** Spans that the format forbids, or beyond a bound of a request. */
  readonly rejected: number
  /** Why the first of them was rejected; empty without any. */
  readonly message: string
  /** Log records that name neither a span nor a session: they belong to no run. */
  readonly withoutSpan: number
  /** Log records of a span without a name of their own: they say nothing beside their text. */
  readonly nameless: number
  /** Parts of the others that are dropped. */
  readonly dropped: Dropped
}

/** Receives each span and log record as it is read. Returns why it is rejected. */
export type TakeTelemetry = (telemetry: Telemetry) => string | undefined

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
  readonly #bounds: RequestBounds
  readonly #now: bigint
  readonly #take: TakeTelemetry
  readonly #traces = new Set<string>()
  #kept = 0
  #groups = 0
  #scopes = 0
  #rejected = 0
  #message = ""
  #withoutSpan = 0
  #nameless = 0

  /** `now` stands for times that are absent, Unix nanoseconds. */
  constructor(bounds: RequestBounds, now: bigint, take: TakeTelemetry) {
    this.#bounds = bounds
    this.#now = now
    this.#take = take
  }

  /** Whether the request may bring no further span or log record. */
  get isFull(): boolean {
    return this.#kept >= this.#bounds.limits.spans
  }

  /** Counts a group of a resource, or of a scope. False beyond the bound: the group is dropped. */
  addGroup(what: "resource" | "scope"): boolean {
    const count = what === "resource" ? ++this.#groups : ++this.#scopes
    if (count <= this.#bounds.limits.groups) return true
    this.#bounds.drop("groups")
    return false
  }

  reject(why: string): void {
    this.#bounds.pass()
    this.#rejected++
    if (this.#message === "") this.#message = why
  }

  rejectBeyondBound(): void {
    this.reject(`a request has more than ${this.#bounds.limits.spans} spans or log records`)
  }

  addSpan({ end, name, parentSpanId, start, ...span }: RawSpan): void {
    const fault = faultOf(span.traceId, span.spanId, start, end)
    if (fault !== undefined) {
      this.reject(fault)
      return
    }
    const ended = end > 0n ? end : start > 0n ? start : this.#now
    this.#add({
      kind: "span",
      ...span,
      ...(parentSpanId !== undefined && isSpanId(parentSpanId) && { parentSpanId }),
      name: boundSpanName(cleanText(name)),
      startedAt: String(start > 0n ? start : ended),
      endedAt: String(ended)
    })
  }

  addLog({ name, observed, time, ...record }: RawLog): void {
    const hasSpan = isTraceId(record.traceId) && isSpanId(record.spanId)
    const at = String(time > 0n ? time : observed > 0n ? observed : this.#now)
    const named = { ...record, name: boundSpanName(cleanText(name)), at }
    const telemetry = hasSpan ? { kind: "log" as const, ...named } : spanOfSession(named)
    if (telemetry !== undefined && telemetry.name !== "") {
      this.#add(telemetry)
      return
    }
    this.#bounds.pass()
    if (hasSpan) this.#nameless++
    else this.#withoutSpan++
  }

  #add(telemetry: Telemetry): void {
    const { traces } = this.#bounds.limits
    if (this.#traces.size >= traces && !this.#traces.has(telemetry.traceId)) {
      this.reject(`a request has more than ${traces} traces`)
      return
    }
    const fault = this.#take(telemetry)
    if (fault !== undefined) {
      this.reject(fault)
      return
    }
    this.#traces.add(telemetry.traceId)
    this.#kept++
  }

  done(): ReadReport {
    return {
      rejected: this.#rejected,
      message: this.#message,
      withoutSpan: this.#withoutSpan,
      nameless: this.#nameless,
      dropped: { ...this.#bounds.dropped }
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
