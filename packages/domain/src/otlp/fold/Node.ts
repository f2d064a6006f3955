import * as Schema from "effect/Schema"
import { nameAt, nameOf } from "../AttributeValues.ts"
import type { Failure, Meaning, MeaningKind } from "../Meaning.ts"
import { instructionsOf, lastTextOf } from "../meaning/Messages.ts"
import type { Span } from "../Span.ts"
import type { Arrival } from "../TraceBinding.ts"

const text = Schema.optionalKey(Schema.String)
const flag = Schema.optionalKey(Schema.Literal(true))

/** Characters of the answer that a node keeps: the last answer of a run is its result. */
const MAX_ANSWER_CHARACTERS = 2_048
const MAX_LINKS = 8

/** What a resource and a scope say about the run. */
const EmitterFacts = Schema.Struct({
  service: text,
  environment: text,
  serviceVersion: text,
  serviceInstance: text,
  sdk: text,
  framework: text
})

const Clues = Schema.Struct({
  scenario: text,
  workflow: text,
  conversation: text,
  promptName: text,
  promptVersion: text,
  promptHash: text,
  policy: text,
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  user: text
})

/** Tokens that a model call states, and how many further facts: cached and reasoning tokens, a cost. */
export const CallUsage = Schema.Struct({ input: Schema.Number, output: Schema.Number, details: Schema.Number })
export type CallUsage = typeof CallUsage.Type

/** A consumed span: the members that decisions about other spans need. */
export const SpanNode = Schema.Struct({
  key: Schema.String,
  kind: Schema.String,
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: text,
  name: Schema.String,
  /** Unix nanoseconds. */
  startedAt: Schema.String,
  endedAt: Schema.String,
  /** When it was received, Unix milliseconds. */
  at: Schema.Number,
  /** Source that sent it, in a run of a runtime that it has joined. */
  source: text,
  isError: flag,
  errorType: text,
  errorMessage: text,
  /** Name and kind of the agent that it states. */
  agent: text,
  agentByName: text,
  isAgentAssumed: flag,
  delegate: text,
  hidesDelegate: flag,
  /** Of a tool: the name of an agent without one that runs inside. */
  callee: text,
  calledBy: text,
  tool: text,
  to: text,
  model: text,
  responseId: text,
  hasUsage: flag,
  /** Of a model call: the usage that it states. */
  usage: Schema.optionalKey(CallUsage),
  /** The scope of its instrumentation; absent of frameworks and infrastructure. */
  scope: text,
  isUnread: flag,
  links: Schema.optionalKey(Schema.Array(Schema.String)),
  clues: Schema.optionalKey(Clues),
  emitter: Schema.optionalKey(EmitterFacts),
  answer: text,
  /** Proposals that it makes. */
  proposals: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Decisions: the participants that it announced, the handoffs that it made, its counting, the output of a root. */
  announced: Schema.optionalKey(Schema.Array(Schema.String)),
  handoffs: Schema.optionalKey(Schema.Array(Schema.String)),
  isCounted: flag,
  hasOutput: flag
})
export type SpanNode = typeof SpanNode.Type

/** A consumed log record. */
export const LogNode = Schema.Struct({
  key: Schema.String,
  kind: Schema.Literal("log"),
  traceId: Schema.String,
  spanId: Schema.String,
  at: Schema.Number,
  announced: Schema.optionalKey(Schema.Array(Schema.String)),
  proposals: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Whether the tokens of its span were counted from it. */
  isCounted: flag
})
export type LogNode = typeof LogNode.Type

/** What a consumed span or log record leaves for later decisions. It is stored with `otlp_seen`. */
export const TraceFoldNode = Schema.Union([LogNode, SpanNode])
export type TraceFoldNode = typeof TraceFoldNode.Type

export const isLogNode = (node: TraceFoldNode): node is LogNode => node.kind === "log"

export const kindOf = (node: SpanNode): MeaningKind => {
  const kind = KINDS.find((each) => each === node.kind)
  return kind ?? "other"
}

const KINDS: ReadonlyArray<MeaningKind> = [
  ...(["workflow", "agent", "step", "model", "tool", "handoff", "retrieval"] as const),
  ...(["plan", "guardrail", "approval", "evaluation", "construction", "other"] as const)
]

/** Spans of a run are known by trace and span id. */
export const idOf = (traceId: string, spanId: string): string => `${traceId}/${spanId}`

/** The parent's id; undefined for a root. A span that names itself as its parent is a root. */
export const parentOf = ({ parentSpanId, spanId, traceId }: SpanNode): string | undefined =>
  parentSpanId === undefined || parentSpanId === spanId ? undefined : idOf(traceId, parentSpanId)

/** Order by time, then by id: the same for every order of arrival. */
export const byStart = (left: SpanNode, right: SpanNode): number =>
  compareTimes(left.startedAt, right.startedAt) || compareTexts(left.key, right.key)

export const byEnd = (left: SpanNode, right: SpanNode): number =>
  compareTimes(left.endedAt, right.endedAt) || compareTexts(left.key, right.key)

/** Decimal texts without leading zeros. */
export const compareTimes = (left: string, right: string): number =>
  left.length - right.length || compareTexts(left, right)

const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The node of a span that just arrived. */
export const nodeOf = (
  { at, key, source }: Arrival,
  span: Span,
  meaning: Meaning,
  sha256: (text: string) => string
): SpanNode => {
  const { agent, calledBy, delegate, failure, kind, model, responseId, to, usage } = meaning
  const links = span.links.slice(0, MAX_LINKS).map(({ spanId, traceId }) => idOf(traceId, spanId))
  const clues = cluesOf(meaning, sha256)
  const callee = kind === "tool" && meaning.tool !== undefined ? calleeOf(meaning.tool.name) : undefined
  const answer = answerOf(meaning)
  return {
    key,
    kind,
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
    name: span.name.slice(0, MAX_SPAN_NAME),
    startedAt: span.startedAt,
    endedAt: span.endedAt,
    at,
    ...(source !== undefined && { source }),
    // A tool that was refused is an answer, which the agent acts on.
    ...(failure !== undefined && meaning.tool?.isRefused !== true && failureFacts(failure)),
    ...(agent !== undefined && { agent }),
    ...(meaning.agentByName !== undefined && { agentByName: meaning.agentByName }),
    ...(meaning.isAgentAssumed === true && { isAgentAssumed: true as const }),
    ...(delegate !== undefined && { delegate }),
    ...(meaning.hidesDelegate === true && { hidesDelegate: true as const }),
    ...(callee !== undefined && { callee }),
    ...(calledBy !== undefined && { calledBy }),
    ...(kind === "tool" && meaning.tool !== undefined && { tool: meaning.tool.name }),
    ...(to !== undefined && { to }),
    ...(model !== undefined && { model }),
    ...(responseId !== undefined && { responseId }),
    ...(usage !== undefined && { hasUsage: true as const }),
    ...(meaning.isUnread === true && { isUnread: true as const }),
    ...((meaning.isUnread === true || kind !== "other") && { scope: span.scope.slice(0, MAX_SCOPE_NAME) }),
    ...(usage !== undefined && kind === "model" && { usage: usageFacts(meaning, usage) }),
    ...(links.length > 0 && { links }),
    ...proposalsIn(meaning),
    ...(clues !== undefined && { clues }),
    emitter: emitterOf(span, kind),
    ...(answer !== undefined && { answer })
  }
}

const MAX_SCOPE_NAME = 128

const usageFacts = ({ costUsd }: Meaning, { counts }: NonNullable<Meaning["usage"]>): CallUsage => {
  const { cachedTokens, cacheWriteTokens, completionTokens, promptTokens, reasoningTokens } = counts
  const further = [cachedTokens, cacheWriteTokens, reasoningTokens, costUsd]
  return {
    input: promptTokens,
    output: completionTokens,
    details: further.filter((fact) => fact !== undefined).length
  }
}

const MAX_PROPOSALS = 16

/** The proposals that a span or log record makes, as a member of its node. */
export const proposalsIn = ({ statements = [] }: Meaning): { readonly proposals?: ReadonlyArray<string> } => {
  const proposals = statements.flatMap(({ kind, payload }) =>
    kind === "proposal" && typeof payload["proposal_id"] === "string" ? [payload["proposal_id"]] : []
  )
  return proposals.length === 0 ? {} : { proposals: [...new Set(proposals)].slice(0, MAX_PROPOSALS) }
}

const CALLING = /^(?:ask|call|consult|invoke|query|run|delegate[_ -]to|send[_ -]to|talk[_ -]to|task)[_ -](?=.)/i
const AGENT_TOOL = /(?<=.)[_ -](?:agent|assistant|tool)$/i

/** The agent behind a tool: `ask_security` and `security_agent` are of `security`. */
const calleeOf = (tool: string): string => tool.replace(CALLING, "").replace(AGENT_TOOL, "")

const answerOf = ({ kind, output }: Meaning): string | undefined =>
  kind === "model" || kind === "agent" ? lastTextOf(output)?.slice(0, MAX_ANSWER_CHARACTERS) : undefined

/** The members of a node that the log records of its span may add. */
export const loggedFacts = (
  node: SpanNode,
  meaning: Meaning,
  sha256: (text: string) => string
): Pick<SpanNode, "answer" | "clues"> => {
  const answer = node.answer ?? answerOf(meaning)
  const clues = node.clues?.promptHash === undefined ? cluesOf(meaning, sha256) : node.clues
  return { ...(answer !== undefined && { answer }), ...(clues !== undefined && { clues }) }
}

const MAX_SPAN_NAME = 256

const failureFacts = ({ message, type }: Failure) => ({
  isError: true as const,
  ...(type !== undefined && { errorType: type }),
  ...(message !== undefined && { errorMessage: message })
})

const PROMPT_HASH_DIGITS = 16

const cluesOf = (meaning: Meaning, sha256: (text: string) => string): SpanNode["clues"] => {
  const instructions = meaning.clues.promptHash === undefined ? instructionsOf(meaning) : undefined
  const clues = {
    ...meaning.clues,
    ...(instructions !== undefined && { promptHash: sha256(instructions).slice(0, PROMPT_HASH_DIGITS) })
  }
  return Object.keys(clues).length === 0 ? undefined : clues
}

/** Scopes whose name is not the framework's. */
const FRAMEWORK_BY_SCOPE: ReadonlyMap<string, string> = new Map([
  ["gcp.vertex.agent", "google-adk"],
  ["gen_ai", "ai-sdk"],
  ["ai", "ai-sdk"],
  ["agent_framework", "agent-framework"],
  ["Microsoft.Agents.AI", "agent-framework"],
  ["langfuse-sdk", "langfuse"],
  ["mlflow.tracing.provider", "mlflow"],
  ["strands.telemetry.tracer", "strands-agents"]
])
const SCOPE_PREFIX = /^(?:openinference|opentelemetry)\.instrumentation\.|^@/

const emitterOf = ({ resource, scope }: Span, kind: MeaningKind): NonNullable<SpanNode["emitter"]> => {
  const service = nameOf(resource["service.name"])
  const environment = nameAt(resource, "environment")
  const serviceVersion = nameOf(resource["service.version"])
  const serviceInstance = nameOf(resource["service.instance.id"])
  const sdk = [resource["telemetry.sdk.language"], resource["telemetry.sdk.version"]].map(nameOf)
  const framework =
    kind === "other" ? undefined : (FRAMEWORK_BY_SCOPE.get(scope) ?? nameOf(scope.replace(SCOPE_PREFIX, "")))
  return {
    ...(service !== undefined && { service }),
    ...(environment !== undefined && { environment }),
    ...(serviceVersion !== undefined && { serviceVersion }),
    ...(serviceInstance !== undefined && { serviceInstance }),
    ...(sdk[0] !== undefined && { sdk: sdk[1] === undefined ? sdk[0] : `${sdk[0]} ${sdk[1]}` }),
    ...(framework !== undefined && { framework })
  }
}
