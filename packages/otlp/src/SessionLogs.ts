import { createHash } from "node:crypto"
import {
  type Attributes,
  type AttributeValue,
  isJsonObject,
  type LogRecord,
  SESSION_PARENT,
  type Span,
  sessionOfRecord,
  subAgentsOf
} from "@runplane/domain"

/** A log record without a span. */
export type SpanlessLog = Omit<LogRecord, "kind" | "traceId" | "spanId">

const NANOS_PER_MS = 1_000_000
/** A duration above it is not one: a day. Milliseconds. */
const MAX_DURATION_MS = 86_400_000

/**
 * The span that stands for a log record without one: coding agents report each call and each tool as a log record that
 * names its session alone (docs/reference/ingest.md#sessions-of-log-records). The session is its trace, and its root
 * never comes. Records of a sub-agent are inside of the one that ends it. Equal records are one span.
 * Undefined for a record that names no session, or is not of an agent.
 */
export const spanOfSession = ({ at, attributes, body, name, ...emitter }: SpanlessLog): Span | undefined => {
  const said = isJsonObject(body) ? { ...body, ...attributes } : attributes
  const full = fullName(name, body)
  const session = sessionOfRecord(full, said, emitter.resource)
  if (session === undefined) return undefined
  const traceId = hexOf(["session", emitter.resource["service.name"] ?? "", session], 32)
  const { around, ended } = subAgentsOf(full, said)
  const idOfAgent = (agent: string) => hexOf([traceId, "agent", agent], 16)
  return {
    kind: "span",
    ...emitter,
    traceId,
    spanId: ended === undefined ? hexOf([traceId, at, name, body ?? null, attributes], 16) : idOfAgent(ended),
    parentSpanId: around === undefined ? SESSION_PARENT : idOfAgent(around),
    name: full,
    startedAt: String(startOf(BigInt(at), durationOf(said))),
    endedAt: at,
    status: "unset",
    attributes: said,
    // Contributions to a decision and judgements are events of a span.
    events: /^(?:runplane|gen_ai)\./.test(full) ? [{ name: full, at, attributes: said }] : [],
    links: []
  }
}

const hexOf = (content: AttributeValue, digits: number): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, digits)

const EVENT_NAME = /^[\w-]{1,64}\.[\w.-]{1,64}$/

/** Some emitters state `api_request` as the name of the event, and `claude_code.api_request` as its body. */
const fullName = (name: string, body: AttributeValue | undefined): string =>
  typeof body === "string" && EVENT_NAME.test(body) && (name === "" || body.endsWith(`.${name}`)) ? body : name

/** Never before 1970: a record may have a time near it. */
const startOf = (end: bigint, duration: bigint): bigint => (duration < end ? end - duration : end)

const durationOf = (attributes: Attributes): bigint => {
  const duration = Number(attributes["duration_ms"])
  return Number.isFinite(duration) && duration > 0 && duration <= MAX_DURATION_MS
    ? BigInt(Math.round(duration * NANOS_PER_MS))
    : 0n
}
