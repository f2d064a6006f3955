import type * as Schema from "effect/Schema"
import { draftEvent, type EventDraft } from "../../events/CanonicalEvent.ts"
import type { CanonicalEventType } from "../../events/CanonicalEventType.ts"
import type { SubjectKind } from "../../events/RecordedEvent.ts"
import type { CallCost } from "../../prices/ModelPrices.ts"
import { MAX_COST_USD_PER_CALL } from "../../usage/LlmUsage.ts"
import type { TokenCounts } from "../../usage/TokenCounts.ts"
import { isJsonObject } from "../../values/JsonReader.ts"
import type { JsonObject } from "../../values/PayloadDecoder.ts"
import type { Meaning, Statement } from "../Meaning.ts"
import { lastTextOf } from "../meaning/Messages.ts"
import type { Uncounted } from "./Counting.ts"
import type { Handoff } from "./Handoffs.ts"
import { dataOf, type EventOrigin, failureData, headOf, type SpanMessage } from "./Head.ts"
import { durationMs, isoOfNanos, millisOf } from "./Times.ts"

/** Sender of the work that no agent gave. */
export const USER = "user"

const event = (
  type: CanonicalEventType,
  origin: EventOrigin,
  subject: SubjectKind,
  message: SpanMessage,
  subjectId = message.id
): EventDraft => draftEvent(type, headOf(origin, subject, subjectId), dataOf(origin, message))

export const participantSeen = (origin: EventOrigin, participantId: string): EventDraft =>
  draftEvent("participant.seen", headOf(origin, "participant", participantId), {
    participantId,
    startedAt: isoOfNanos(origin.node.startedAt),
    endedAt: isoOfNanos(origin.node.endedAt),
    spanId: origin.node.spanId,
    ...(origin.isAssumed && { attribution: "assumed" }),
    ...(origin.isLate && { late: true })
  })

/** An agent receives work. */
export const agentInvoked = (origin: EventOrigin, caller: string, agent: string): EventDraft =>
  event("message.received", origin, "message", {
    type: "AgentInvoked",
    id: `${origin.node.spanId}-invoked`,
    sender: caller,
    payload: { agent, ...texts("input", origin.meaning.tool?.arguments ?? origin.meaning.input) },
    more: { to: agent }
  })

/** An agent answers its caller. */
export const agentAnswered = (origin: EventOrigin, caller: string, agent: string): EventDraft => {
  const { failure, output, tool } = origin.meaning
  return event("message.received", origin, "message", {
    type: "AgentAnswered",
    id: `${origin.node.spanId}-answered`,
    sender: agent,
    payload: {
      agent,
      ok: failure === undefined,
      ...texts("output", tool?.result ?? output),
      ...(failure !== undefined && { error: failureData(failure) })
    },
    more: { to: caller, ok: failure === undefined }
  })
}

export const handedOff = (origin: EventOrigin, { from, inferredBy, to }: Handoff, nth: number): EventDraft =>
  event("message.received", origin, "message", {
    type: "Handoff",
    id: `${origin.node.spanId}-handoff${nth === 0 ? "" : `-${nth}`}`,
    sender: from,
    payload: { from, to, ...(inferredBy !== undefined && { inferredBy }) },
    more: { to, ...(inferredBy !== undefined && { attribution: "assumed", inferredBy }) }
  })

/** A tool call as two events: they are appended at its start and its end among the spans of the same step. */
export const toolCalled = (origin: EventOrigin): EventDraft => {
  const { name, type, ...tool } = toolOf(origin)
  return event(
    "tool.called",
    origin,
    "tool",
    {
      type: "ToolCall",
      id: `${origin.node.spanId}-call`,
      payload: {
        name,
        toolCallId: callIdOf(origin),
        ...(type !== undefined && { toolType: type }),
        ...("arguments" in tool && tool.arguments !== undefined && { arguments: tool.arguments })
      }
    },
    callIdOf(origin)
  )
}

export const toolCompleted = (origin: EventOrigin): EventDraft => {
  const { failure, tool } = origin.meaning
  const { name, result, type } = toolOf(origin)
  const isRefused = tool?.isRefused === true
  return event(
    "tool.completed",
    origin,
    "tool",
    {
      type: "ToolResult",
      id: `${origin.node.spanId}-result`,
      payload: {
        name,
        toolCallId: callIdOf(origin),
        ...(type !== undefined && { toolType: type }),
        ok: failure === undefined,
        ...(isRefused && { refused: true }),
        durationMs: durationMs(origin.node.startedAt, origin.node.endedAt),
        ...(result !== undefined && { result }),
        ...(failure !== undefined && { error: failureData(failure) })
      },
      more: { ok: failure === undefined, ...(isRefused && { refused: true }) }
    },
    callIdOf(origin)
  )
}

const toolOf = ({ meaning, node }: EventOrigin) => {
  const tool = meaning.tool ?? { name: node.name }
  if (meaning.kind !== "retrieval") return { result: undefined, type: undefined, ...tool }
  return { result: undefined, ...tool, type: "datastore" }
}

/** Two calls of a tool may state one id, so the span says which call it is. */
const callIdOf = ({ meaning, node }: EventOrigin): string => meaning.tool?.callId ?? node.spanId

/** A model call. One that is not counted has no tokens and no cost, and stands for no call; a shadow `used` some. */
export const modelCalled = (origin: EventOrigin, uncounted: Uncounted | undefined, used?: JsonObject): EventDraft => {
  const { meaning, node } = origin
  const { costUsd, failure, finishReasons, firstChunkMs, model, operation, provider, responseId, usage } = meaning
  const cost = uncounted === undefined ? costOf(origin) : undefined
  return event("llm.call.completed", origin, "message", {
    type: "ModelCall",
    id: node.spanId,
    payload: {
      ...(model !== undefined && { model }),
      ...(provider !== undefined && { provider }),
      ...(operation !== undefined && { operation }),
      ...(uncounted !== undefined ? { calls: 0 } : { ...tokensStated(meaning), ...priceFacts(meaning) }),
      latencyMs: durationMs(node.startedAt, node.endedAt),
      ...(firstChunkMs !== undefined && { firstChunkMs }),
      ...(cost !== undefined && {
        estimatedCostUsd: cost.costUsd,
        costBasis: cost.basis,
        ...(cost.key !== undefined && { priceKey: cost.key }),
        ...(cost.doubt !== undefined && { costDoubt: cost.doubt })
      }),
      ok: failure === undefined,
      ...(failure !== undefined && { error: failureData(failure) }),
      ...(responseId !== undefined && { responseId }),
      ...(finishReasons !== undefined && { finishReasons }),
      ...texts("prompt", meaning.input),
      ...texts("response", meaning.output),
      ...(meaning.instructions !== undefined && { instructions: meaning.instructions })
    },
    more: {
      ok: failure === undefined,
      ...(operation !== undefined && { operation }),
      ...(node.clues?.promptHash !== undefined && { promptHash: node.clues.promptHash }),
      counted: uncounted === undefined,
      ...(uncounted !== undefined && { countedReason: uncounted }),
      ...(usage !== undefined && { usageBasis: usage.basis }),
      ...(uncounted !== undefined && usage !== undefined && { statedUsage: tokensOf(usage.counts) }),
      ...(uncounted !== undefined && costUsd !== undefined && { statedCostUsd: costUsd }),
      ...(uncounted === undefined && isAboveBound(origin) && { uncountedCostUsd: costUsd }),
      ...(used !== undefined && { shadow: used })
    }
  })
}

const MISSING = { promptTokens: 0, completionTokens: 0, totalTokens: 0, usage: "missing" }

/** A call that failed without an answer, such as a refused one, may have used no tokens at all. */
const tokensStated = ({ failure, output, usage }: Meaning): JsonObject => {
  if (usage !== undefined) return tokensOf(usage.counts)
  return failure !== undefined && output === undefined ? { ...MISSING, answered: false } : MISSING
}

/** Parts and tier that decide about the price, beside the counts. */
const priceFacts = ({ serviceTier, usageParts = {} }: Meaning): JsonObject => ({
  ...usageParts,
  ...(serviceTier !== undefined && { serviceTier })
})

const tokensOf = (counts: TokenCounts): JsonObject => ({ ...counts })

/** Whether the span states a cost that one call cannot have. */
const isAboveBound = ({ meaning: { costUsd = 0 }, options }: EventOrigin): boolean =>
  costUsd > (options.maxStatedCostUsd ?? Number.POSITIVE_INFINITY)

/** As the span states it, else by its tokens. */
export const costOf = (origin: EventOrigin): CallCost | undefined => {
  const { meaning, node, options } = origin
  const { costUsd, model, provider, serviceTier, usage, usageParts = {} } = meaning
  if (costUsd !== undefined && !isAboveBound(origin))
    return { costUsd: Math.min(costUsd, MAX_COST_USD_PER_CALL), basis: "supplied" }
  if (usage === undefined) return undefined
  const { cachedTokens, cacheWriteTokens, completionTokens, promptTokens, reasoningTokens } = usage.counts
  return options.prices.price({
    model,
    provider,
    at: millisOf(node.startedAt),
    usage: {
      input: promptTokens,
      output: completionTokens,
      ...(cachedTokens !== undefined && { cacheRead: cachedTokens }),
      ...(cacheWriteTokens !== undefined && { cacheWrite: cacheWriteTokens }),
      ...(reasoningTokens !== undefined && { reasoning: reasoningTokens }),
      cacheWriteHour: usageParts.cacheWriteHourTokens,
      audioInput: usageParts.audioInputTokens,
      audioOutput: usageParts.audioOutputTokens,
      imageInput: usageParts.imageInputTokens,
      imageOutput: usageParts.imageOutputTokens,
      serviceTier
    }
  })
}

export const planReported = (origin: EventOrigin): EventDraft =>
  event(
    "progress.reported",
    origin,
    "participant",
    {
      type: "Plan",
      id: origin.node.spanId,
      payload: { message: lastTextOf(origin.meaning.output) ?? lastTextOf(origin.meaning.input) ?? origin.node.name }
    },
    origin.sender
  )

/** The outcome of a guardrail or an approval: a warning when it stopped something, and an error when it failed. */
export const checked = (origin: EventOrigin, signalType: "guardrail" | "approval"): EventDraft => {
  const { meaning, node } = origin
  const outcome = outcomeOf(meaning.attributes, meaning.output)
  const severity =
    meaning.failure !== undefined ? "error" : outcome !== undefined && STOPS.test(outcome) ? "warning" : "info"
  return event("signal.emitted", origin, "signal", {
    type: "Signal",
    id: node.spanId,
    payload: {
      signalType,
      severity,
      name: signalType,
      source: node.name,
      ...(outcome !== undefined && { outcome }),
      ...texts("input", meaning.input),
      ...texts("output", meaning.output)
    }
  })
}

const STOPS = /block|den(?:y|ied)|reject|refus|trigger|fail|true$|interven/i
const OUTCOMES = ["outcome", "result", "action", "decision", "status", "verdict", "triggered", "tripwire_triggered"]

const outcomeOf = (attributes: JsonObject | undefined, output: Schema.Json | undefined): string | undefined => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (OUTCOMES.some((outcome) => name.endsWith(`.${outcome}`))) return nameValue(name, value)
  }
  if (!isJsonObject(output)) return undefined
  const name = OUTCOMES.find((outcome) => output[outcome] !== undefined)
  return name === undefined ? undefined : nameValue(name, output[name])
}

const nameValue = (name: string, value: Schema.Json | undefined): string =>
  typeof value === "boolean" ? `${name.slice(name.lastIndexOf(".") + 1)}: ${value}` : String(value).slice(0, 200)

/** A statement on the decision, as the messages of the decision mode say it, at its own time within the span. */
export const statementEvent = (
  { node, ...made }: EventOrigin,
  { at, index, kind, payload }: Statement,
  id: string
): EventDraft => {
  const origin = { ...made, node: { ...node, startedAt: at, endedAt: at } }
  const message = { id: `${id}-${kind}-${index}`, payload }
  const proposalId = String(payload["proposal_id"] ?? message.id)
  switch (kind) {
    case "proposal":
      return event("proposal.created", origin, "proposal", { type: "Proposal", ...message }, proposalId)
    case "vote":
      return event("proposal.updated", origin, "proposal", { type: "Vote", ...message }, proposalId)
    case "decision":
      return event("decision.finalized", origin, "decision", { type: "Commitment", ...message })
  }
}

const texts = (name: string, value: Schema.Json | undefined): JsonObject =>
  value === undefined ? {} : { [name]: value }
