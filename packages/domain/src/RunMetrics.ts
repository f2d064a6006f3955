import * as Schema from "effect/Schema"
import { RunId } from "./Ids.ts"

/** Counters of one run (run-control-plane "Run metrics"; counting rules in http-details section 4.10). */
export const RunMetrics = Schema.Struct({
  runId: RunId,
  eventCount: Schema.Int,
  messageCount: Schema.Int,
  signalCount: Schema.Int,
  proposalCount: Schema.Int,
  toolCallCount: Schema.Int,
  decisionCount: Schema.Int,
  streamReconnectCount: Schema.Int,
  promptTokens: Schema.Number,
  completionTokens: Schema.Number,
  totalTokens: Schema.Number,
  /** US dollars. */
  estimatedCostUsd: Schema.Number,
  firstEventAt: Schema.optionalKey(Schema.String),
  lastEventAt: Schema.optionalKey(Schema.String),
  durationMs: Schema.optionalKey(Schema.Int),
  /** When the run ended; from then on `lastEventAt` and `durationMs` stand still. */
  endedAt: Schema.optionalKey(Schema.String),
  sessionState: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "RunMetrics" })
export type RunMetrics = typeof RunMetrics.Type
