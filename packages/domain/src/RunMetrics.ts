import * as Schema from "effect/Schema"
import { Field } from "./Field.ts"
import { RunId } from "./Ids.ts"

/** Counters of one run (docs/reference/events.md#metrics). */
export const RunMetrics = Schema.Struct({
  runId: RunId,
  eventCount: Field.integer("Canonical events of any type"),
  messageCount: Field.integer("Events whose type starts with message."),
  signalCount: Field.integer("Signals emitted"),
  proposalCount: Field.integer("Events whose type starts with proposal."),
  toolCallCount: Field.integer("Events whose type starts with tool."),
  decisionCount: Field.integer("Decisions proposed or finalized"),
  streamReconnectCount: Field.integer("Times the stream of the session was opened again"),
  promptTokens: Field.number("Input tokens of all LLM calls"),
  completionTokens: Field.number("Output tokens of all LLM calls"),
  totalTokens: Field.number("Tokens of all LLM calls"),
  estimatedCostUsd: Field.number("US dollars: as the agents stated, else by the rate of the model"),
  guessedCostUsd: Schema.optionalKey(
    Field.number("Part of estimatedCostUsd whose model has no known price; absent when there is none")
  ),
  callsWithoutUsage: Schema.optionalKey(
    Field.integer("LLM calls of which the agents stated no count; absent when there are none. The sums lack them", 1)
  ),
  firstEventAt: Schema.optionalKey(Field.time("Time of the first event")),
  lastEventAt: Schema.optionalKey(Field.time("Time of the last event until the end of the run")),
  durationMs: Schema.optionalKey(Field.integer("Milliseconds from the first event to the last")),
  endedAt: Schema.optionalKey(Field.time("When the run ended")),
  sessionState: Schema.optionalKey(Field.text("Last state of the session that was seen", "RESOLVED"))
}).annotate({ identifier: "RunMetrics", description: "Counters of one run; 0 where nothing was recorded" })
export type RunMetrics = typeof RunMetrics.Type
