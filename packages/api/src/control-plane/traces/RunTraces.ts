import { Field, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

/** The answer of `GET /runs/:id/traces` (docs/reference/runs.md#traces). */
export const RunTraces = Schema.Struct({
  traceId: optional(Field.text("W3C trace id: 32 hex digits")),
  spanCount: Field.integer("Events of the run that carry a span id"),
  lastSpanId: optional(Field.text("The last of them: 16 hex digits")),
  linkedArtifacts: Field.texts("Ids of the run's artifacts"),
  runStatus: RunStatus,
  scenarioRef: optional(Field.text("Scenario that the run was made from; absent when there was none"))
}).annotate({ identifier: "RunTraces", description: "The trace of a run, and what it is linked to" })
export type RunTraces = typeof RunTraces.Type

const TraceSpan = Schema.Struct({
  traceId: Field.text("W3C trace id: 32 hex digits"),
  spanId: Field.text("Span id: 16 hex digits"),
  parentSpanId: optional(Field.text("Id of the span around it, which may be unknown: 16 hex digits")),
  name: Field.text("Name of the span", "chat gpt-4o"),
  kind: Field.text("What it is: agent, step, model, tool, retrieval, handoff, workflow or other", "model"),
  startedAtUnixMs: Field.number("Start by the clock of the application: Unix milliseconds, to three decimals"),
  durationMs: Field.number("Milliseconds, to three decimals"),
  agent: optional(Field.text("Agent that the span names", "coordinator")),
  tool: optional(Field.text("Tool that it calls", "lookup")),
  model: optional(Field.text("Model that it calls", "gpt-4o")),
  ok: Field.flag("False when it failed"),
  errorCode: optional(Field.text("Type of its error", "TimeoutError")),
  errorMessage: optional(Field.text("Message of its error, one line"))
}).annotate({ identifier: "TraceSpan", description: "A span that was received for a run" })
export type TraceSpan = typeof TraceSpan.Type

/** The answer of `GET /runs/:id/spans` (docs/reference/runs.md#traces). */
export const RunSpans = Schema.Struct({
  data: Schema.Array(TraceSpan).annotate({ description: "The spans of this page, in the order of their decision" }),
  nextCursor: Field.integer("To be given as after for the next page, also for spans that arrive later"),
  hasMore: Field.flag("Whether more spans are stored")
}).annotate({ identifier: "RunSpans", description: "One page of the spans of a run" })
export type RunSpans = typeof RunSpans.Type
