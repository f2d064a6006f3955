import type { Sliced } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { BodyMalformed } from "./Body.ts"
import { OTLP_LIMITS, RequestBounds } from "./Bounds.ts"
import { Collector, type ReadTelemetry } from "./Collect.ts"
import { JsonUnreadable } from "./JsonItems.ts"
import { readJson, readJsonLog, readJsonSpan } from "./JsonReader.ts"
import { readProtobuf, readProtobufLog, readProtobufSpan } from "./ProtobufReader.ts"

export type OtlpSignal = "traces" | "logs"
export type OtlpEncoding = "protobuf" | "json"

/** Reading gives the thread back after so many milliseconds. */
const TURN_MS = 10

/**
 * Reads the body of an export request into spans or log records, cut to their bounds. Spans that the format forbids
 * are counted as rejected, the others are read. Fails with BodyMalformed when the body is not OTLP at all
 * (docs/reference/ingest.md#bodies).
 */
export const readTelemetry = Effect.fnUntraced(function* (
  signal: OtlpSignal,
  encoding: OtlpEncoding,
  body: Uint8Array,
  limits = OTLP_LIMITS
) {
  const clock = yield* Clock.Clock
  const bounds = new RequestBounds(limits)
  const collector = new Collector(limits, yield* Clock.currentTimeNanos)
  const start = (): Sliced<void> => {
    if (encoding === "protobuf") {
      const read = signal === "traces" ? readProtobufSpan : readProtobufLog
      return readProtobuf(
        body,
        (reader, end, emitter) => read(reader, end, emitter, collector, bounds),
        collector,
        bounds
      )
    }
    const read = signal === "traces" ? readJsonSpan : readJsonLog
    const names =
      signal === "traces"
        ? ({ groups: "resourceSpans", scopes: "scopeSpans", items: "spans" } as const)
        : ({ groups: "resourceLogs", scopes: "scopeLogs", items: "logRecords" } as const)
    return readJson(body, names, (one, emitter) => read(one, emitter, collector, bounds), collector, bounds)
  }
  const slices = start()
  while (true) {
    const isDone = yield* attempt(() => {
      const started = clock.currentTimeMillisUnsafe()
      do if (slices.next().done) return true
      while (clock.currentTimeMillisUnsafe() - started < TURN_MS)
      return false
    })
    if (isDone) return collector.done() satisfies ReadTelemetry
    yield* Effect.yieldNow
  }
})

/** Both readers throw on bytes that are not OTLP. */
const attempt = <A>(read: () => A) =>
  Effect.try({
    try: read,
    catch: (fault) =>
      new BodyMalformed({ why: fault instanceof JsonUnreadable ? fault.message : "it is not a message of OTLP" })
  })
