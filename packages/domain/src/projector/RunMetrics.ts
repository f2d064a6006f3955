import * as Schema from "effect/Schema"
import { Field } from "../values/Field.ts"
import { RunId } from "../values/Ids.ts"
import { usageSums } from "./UsageSums.ts"

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
  ...usageSums,
  firstEventAt: Schema.optionalKey(Field.time("Time of the first event")),
  lastEventAt: Schema.optionalKey(Field.time("Time of the last event until the end of the run")),
  durationMs: Schema.optionalKey(
    Field.integer("Milliseconds from the first event to the last; from OpenTelemetry, from start to end by the spans")
  ),
  firstSpanAt: Schema.optionalKey(Field.time("Start of the first span of a run from OpenTelemetry")),
  lastSpanAt: Schema.optionalKey(Field.time("End of the last span of a run from OpenTelemetry until its end")),
  endedAt: Schema.optionalKey(Field.time("When the run ended")),
  sessionState: Schema.optionalKey(Field.text("Last state of the session that was seen", "RESOLVED"))
}).annotate({ identifier: "RunMetrics", description: "Counters of one run; 0 where nothing was recorded" })
export type RunMetrics = typeof RunMetrics.Type
