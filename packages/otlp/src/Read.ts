import type { Sliced, Telemetry } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { BodyMalformed } from "./Body.ts"
import { OTLP_LIMITS, PartsExceeded, RequestBounds } from "./Bounds.ts"
import { Collector, type ReadReport, type TakeTelemetry } from "./Collect.ts"
import { JsonUnreadable } from "./JsonCursor.ts"
import { readJson, readJsonLog, readJsonSpan } from "./JsonReader.ts"
import { readProtobuf, readProtobufLog, readProtobufSpan } from "./ProtobufReader.ts"

export type OtlpSignal = "traces" | "logs"
export type OtlpEncoding = "protobuf" | "json"

/** Reading gives the thread back after so many milliseconds. */
const TURN_MS = 10

/** A request has more parts that are dropped, rejected or unknown than it may have. */
export class TooManyParts extends Data.TaggedError("TooManyParts")<{ readonly limit: number }> {
  override get message(): string {
    return `the request has more than ${this.limit} groups, attributes, events, links or fields beyond their limits`
  }
}

/** What a request brings. */
export interface ReadTelemetry extends ReadReport {
  readonly telemetry: ReadonlyArray<Telemetry>
}

/** An export request in memory. */
export interface OtlpRequest {
  readonly signal: OtlpSignal
  readonly encoding: OtlpEncoding
  readonly body: Uint8Array
}

/**
 * Reads the body of an export request and gives each span or log record to `take`, cut to its bounds. Spans that the
 * format forbids are counted as rejected, the others are read. Fails with BodyMalformed when the body is not OTLP at
 * all, and with TooManyParts when most of it leads to nothing (docs/reference/ingest.md#bodies).
 */
export const readEach = Effect.fnUntraced(function* (
  { body, encoding, signal }: OtlpRequest,
  take: TakeTelemetry,
  limits = OTLP_LIMITS
) {
  const clock = yield* Clock.Clock
  const bounds = new RequestBounds(limits)
  const collector = new Collector(bounds, yield* Clock.currentTimeNanos, take)
  const start = (): Sliced<void> => {
    if (encoding === "protobuf") {
      return readProtobuf(body, signal === "traces" ? readProtobufSpan : readProtobufLog, collector, bounds)
    }
    const names =
      signal === "traces"
        ? ({ groups: "resourceSpans", scopes: "scopeSpans", items: "spans" } as const)
        : ({ groups: "resourceLogs", scopes: "scopeLogs", items: "logRecords" } as const)
    return readJson(body, names, signal === "traces" ? readJsonSpan : readJsonLog, collector, bounds)
  }
  const slices = start()
  while (true) {
    const isDone = yield* attempt(limits.passed, () => {
      const started = clock.currentTimeMillisUnsafe()
      do if (slices.next().done) return true
      while (clock.currentTimeMillisUnsafe() - started < TURN_MS)
      return false
    })
    if (isDone) return collector.done()
    yield* Effect.yieldNow
  }
})

/** The same, with all spans or log records in memory. */
export const readTelemetry = Effect.fnUntraced(function* (
  signal: OtlpSignal,
  encoding: OtlpEncoding,
  body: Uint8Array,
  limits = OTLP_LIMITS
) {
  const telemetry: Array<Telemetry> = []
  const take = (one: Telemetry) => {
    telemetry.push(one)
    return undefined
  }
  const report = yield* readEach({ signal, encoding, body }, take, limits)
  return { ...report, telemetry } satisfies ReadTelemetry
})

/** Both readers throw on bytes that are not OTLP. */
const attempt = <A>(limit: number, read: () => A) =>
  Effect.try({
    try: read,
    catch: (fault) =>
      fault instanceof PartsExceeded
        ? new TooManyParts({ limit })
        : new BodyMalformed({ why: fault instanceof JsonUnreadable ? fault.message : "it is not a message of OTLP" })
  })
