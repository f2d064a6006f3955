import { spread } from "./Seed.ts"

/** A language model an example agent pretends to use. */
export interface Model {
  readonly model: string
  readonly provider: string
  /** Milliseconds the model needs, before the length of its answer counts. */
  readonly baseLatencyMs: number
}

/** Approximate characters of prompt text in a token. */
const CHARACTERS_PER_TOKEN = 4

/**
 * The data of an `llm.call.completed` signal. No model is called: the numbers are realistic and follow from the facts
 * and the seed alone, so the same run costs the same each time.
 */
export const llmCallOf = (
  { baseLatencyMs, model, provider }: Model,
  participantId: string,
  context: unknown,
  summary: string
) => {
  const prompt = `${participantId} ${JSON.stringify(context ?? {})}`
  const promptTokens = spread(`${summary}:${prompt}`, 420, 640) + Math.ceil(prompt.length / CHARACTERS_PER_TOKEN)
  const completionTokens = spread(`${prompt}:${summary}`, 70, 160) + Math.ceil(summary.length / CHARACTERS_PER_TOKEN)
  return {
    model,
    provider,
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    latencyMs: baseLatencyMs + completionTokens * 2,
    tokenUsage: { promptTokens, completionTokens, model },
    participantId,
    summary
  }
}
