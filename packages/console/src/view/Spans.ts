import type { CanonicalEvent } from "@runplane/domain"

/** A span of the distributed trace, as its events report it. */
export interface SpanRow {
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceId: string | undefined
  /** First event that carries it. */
  readonly index: number
  readonly first: string
  readonly last: string
  readonly events: number
  readonly types: ReadonlyArray<string>
}

/** The spans that events carry, in the order of their first events. */
export const spansOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<SpanRow> => {
  const spans = new Map<string, SpanRow>()
  for (const { index, recorded, trace, ts } of events) {
    if (trace?.spanId === undefined) continue
    const { parentSpanId, spanId, traceId } = trace
    const before = spans.get(spanId)
    spans.set(spanId, {
      spanId,
      parentSpanId: parentSpanId ?? before?.parentSpanId,
      traceId: traceId ?? before?.traceId,
      index: before?.index ?? index,
      first: before?.first ?? ts,
      last: ts,
      events: (before?.events ?? 0) + 1,
      types: before?.types.includes(recorded.type) === true ? before.types : [...(before?.types ?? []), recorded.type]
    })
  }
  return [...spans.values()]
}
