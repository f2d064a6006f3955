import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Characters of a model's name in an answer. */
export const MAX_MODEL_TEXT = 256

/** The members of a recorded call, for `json_to_record`: a row is parsed once, however long its texts are. */
export const callColumns = `
  model text, provider text, "promptTokens" numeric, "completionTokens" numeric, "totalTokens" numeric,
  "cachedTokens" numeric, "cacheWriteTokens" numeric, "reasoningTokens" numeric, batch boolean,
  "estimatedCostUsd" numeric, "costBasis" text, calls int`

const DEFAULT_WINDOW_MS = 30 * 86_400_000

/** The start of a time window, ISO: as given, else 30 days ago. */
export const windowStart = (since: string | undefined) =>
  since === undefined
    ? Effect.map(Clock.currentTimeMillis, (now) => new Date(now - DEFAULT_WINDOW_MS).toISOString())
    : Effect.succeed(since)
