import type { Attributes, AttributeValue, LogRecord, Span, SpanEvent, SpanLink } from "@runplane/domain"

export const TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
const START_NANOS = 1_795_616_311_000_000_000n

/** A span id from a name. */
export const spanId = (name: string): string =>
  Buffer.from(name.padEnd(8, ".").slice(-8), "latin1").toString("hex").padStart(16, "0")

const nanos = (ms: number): string => String(START_NANOS + BigInt(Math.round(ms * 1_000_000)))

export interface SpanOptions {
  readonly parent?: string
  readonly traceId?: string
  readonly status?: Span["status"]
  readonly statusMessage?: string
  readonly name?: string
  readonly scope?: string
  readonly resource?: Attributes
  readonly events?: ReadonlyArray<SpanEvent>
  readonly links?: ReadonlyArray<SpanLink>
}

/** A span by its id, the milliseconds of its begin and end, and its attributes. */
export const span = (
  id: string,
  [from, to]: readonly [number, number],
  attributes: Attributes,
  options: SpanOptions = {}
): Span => {
  const {
    events = [],
    links = [],
    name = id,
    parent,
    resource,
    scope = "test",
    status = "unset",
    statusMessage,
    traceId
  } = options
  return {
    kind: "span",
    resource: resource ?? { "service.name": "shop" },
    scope,
    traceId: traceId ?? TRACE_ID,
    spanId: spanId(id),
    ...(parent !== undefined && { parentSpanId: spanId(parent) }),
    name,
    startedAt: nanos(from),
    endedAt: nanos(to),
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    attributes,
    events,
    links
  }
}

export const log = (
  of: string,
  at: number,
  name: string,
  attributes: Attributes,
  body?: AttributeValue
): LogRecord => ({
  kind: "log",
  resource: { "service.name": "shop" },
  scope: "test",
  traceId: TRACE_ID,
  spanId: spanId(of),
  name,
  at: nanos(at),
  attributes,
  ...(body !== undefined && { body })
})

/** `at` in milliseconds. */
export const event = (name: string, attributes: Attributes, at = 0): SpanEvent => ({ name, at: nanos(at), attributes })

export const agent = (name: string): Attributes => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.agent.name": name
})

export const chat = (input: number, output: number, more: Attributes = {}): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "gpt-4o",
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.output_tokens": output,
  ...more
})

export const tool = (name: string, more: Attributes = {}): Attributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": name,
  ...more
})

export const openInference = (kind: string, more: Attributes = {}): Attributes => ({
  "openinference.span.kind": kind,
  ...more
})
