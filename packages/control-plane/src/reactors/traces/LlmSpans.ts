import { boundName, type EventOf } from "@runplane/domain"
import { ControlPlaneSettings, readSetting } from "@runplane/server"
import * as Effect from "effect/Effect"
import { nanosOf } from "./LifecycleSpan.ts"

/** The value of the standard variable that selects the GenAI conventions. */
const GENAI_CONVENTIONS = "gen_ai_latest_experimental"

/** A call that is said to have taken longer is shown as this long, milliseconds. */
const MAX_CALL_MS = 86_400_000

const NANOS_PER_MS = 1_000_000

/** The span of one model call, as its agent reported it. Times are Unix nanoseconds. */
export interface LlmSpan {
  readonly name: string
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, string | number | undefined>>
}

/**
 * How a reported model call becomes a span (docs/reference/admin.md#tracing): under names of our own, or by the GenAI
 * semantic conventions when `OTEL_SEMCONV_STABILITY_OPT_IN` selects them. It ends at the time of the report and has
 * the duration that the agent reports. Prompts and responses are never in a span.
 */
export const makeLlmSpan = Effect.map(readSetting(ControlPlaneSettings.OTEL_SEMCONV_STABILITY_OPT_IN), (optIn) => {
  const describe = optIn.split(",").some((value) => value.trim() === GENAI_CONVENTIONS) ? byConventions : byOurNames
  return ({ data, ts }: EventOf<"llm.call.completed">): LlmSpan => {
    const end = nanosOf(new Date(ts))
    const ms = Math.min(Math.max(data.latencyMs ?? 0, 0), MAX_CALL_MS)
    return { ...describe(data), start: end - BigInt(Math.round(ms * NANOS_PER_MS)), end }
  }
})

type LlmCall = EventOf<"llm.call.completed">["data"]

/** The counts; undefined where the agent stated none. */
const tokensOf = ({ completionTokens, promptTokens, usage }: LlmCall) =>
  usage === "missing" ? { input: undefined, output: undefined } : { input: promptTokens, output: completionTokens }

const named = (text: string | undefined) => (text === undefined || text === "" ? undefined : boundName(text))

const byOurNames = (call: LlmCall) => {
  const { input, output } = tokensOf(call)
  return {
    name: "llm.call",
    attributes: {
      "llm.model": named(call.model),
      "llm.provider": named(call.provider),
      "llm.prompt_tokens": input,
      "llm.completion_tokens": output,
      "llm.estimated_cost_usd": call.estimatedCostUsd,
      "proto.sender": named(call.sender),
      "proto.session_id": call.sessionId
    }
  }
}

const byConventions = (call: LlmCall) => {
  const model = named(call.model)
  const { input, output } = tokensOf(call)
  return {
    name: model === undefined ? "chat" : `chat ${model}`,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": named(call.provider),
      "gen_ai.request.model": model,
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
      "gen_ai.agent.name": named(call.sender),
      "gen_ai.conversation.id": call.sessionId
    }
  }
}
