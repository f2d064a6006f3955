import type { RunMetrics } from "./RunMetrics.ts"
import type { RunState } from "./RunState.ts"

/** The keys that the end of a run adds to its metadata. */
export interface RunEnrichment {
  readonly durationMs?: number
  readonly eventCount?: number
  readonly signalCount?: number
  readonly decisionCount?: number
  readonly finalAction?: string
  readonly finalConfidence?: number
  readonly totalTokens?: number
  readonly estimatedCostUsd?: number
  readonly guessedCostUsd?: number
  readonly callsWithoutUsage?: number
}

/**
 * What a completed or failed run's metadata is enriched with. A key is present only when its value is present and not
 * zero.
 * `run` holds the ISO times of the run record.
 */
export const enrichMetadata = (
  state: RunState,
  metrics: RunMetrics,
  run: { readonly startedAt?: string | undefined; readonly endedAt?: string | undefined }
): RunEnrichment => {
  const decision = state.decision.current?.finalized === true ? state.decision.current : undefined
  const durationMs = durationOf(run.startedAt, run.endedAt)
  const { callsWithoutUsage = 0, decisionCount, estimatedCostUsd, eventCount, signalCount, totalTokens } = metrics
  const { guessedCostUsd = 0 } = metrics
  return {
    ...(durationMs > 0 && { durationMs }),
    ...(eventCount > 0 && { eventCount }),
    ...(signalCount > 0 && { signalCount }),
    ...(decisionCount > 0 && { decisionCount }),
    ...(decision?.action !== undefined && { finalAction: decision.action }),
    ...(decision?.confidence !== undefined && decision.confidence !== 0 && { finalConfidence: decision.confidence }),
    ...(totalTokens > 0 && { totalTokens }),
    ...(estimatedCostUsd > 0 && { estimatedCostUsd }),
    ...(guessedCostUsd > 0 && { guessedCostUsd }),
    ...(callsWithoutUsage > 0 && { callsWithoutUsage })
  }
}

const durationOf = (startedAt: string | undefined, endedAt: string | undefined): number =>
  startedAt === undefined || endedAt === undefined ? 0 : Date.parse(endedAt) - Date.parse(startedAt)
