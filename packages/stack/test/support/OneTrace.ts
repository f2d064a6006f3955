import { assert } from "@effect/vitest"
import type { CollectedSpan } from "@runplane/testing"

/** Settings under which the services of a stack export their traces to a collector. */
export const tracedTo = (url: string): Readonly<Record<string, string>> => ({
  OTEL_ENABLED: "true",
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_SEMCONV_STABILITY_OPT_IN: "gen_ai_latest_experimental"
})

const ERROR = 2

/**
 * The launch of a run is one tree of spans, from the request to the launch service down to the model calls of its
 * agents; nothing that was exported is red (docs/reference/admin.md#tracing).
 */
export const checkTraces = (spans: ReadonlyArray<CollectedSpan>, runId: string, agents: number) => {
  const red = spans.filter(({ status }) => status.code === ERROR)
  assert.deepStrictEqual(red.map(lineOf), [], "red")
  const [lifecycle, ...others] = spans.filter(({ name }) => name === "run.lifecycle")
  assert.isDefined(lifecycle)
  assert.lengthOf(others, 0)
  assert.strictEqual(lifecycle.attributes["run_id"], runId)

  const trace = spans.filter(({ traceId }) => traceId === lifecycle.traceId)
  const byId = new Map(trace.map((span) => [span.spanId, span]))
  assert.strictEqual(byId.size, trace.length)
  const [root, ...roots] = trace.filter(({ parentSpanId }) => parentSpanId === undefined)
  assert.deepStrictEqual(roots.map(lineOf), [], "further roots")
  assert.deepStrictEqual([root?.service, root?.name], ["scenario-launch-service", "POST /examples/run"])
  const lost = trace.filter(({ parentSpanId }) => parentSpanId !== undefined && !byId.has(parentSpanId))
  assert.deepStrictEqual(lost.map(lineOf), [], "spans whose parent was never exported")

  const observed = trace.filter(({ service }) => service === "run-control-plane").map(({ name }) => name)
  for (const name of ["POST /runs", "run.observation", "runtime.initialize", "stream.handle_raw_event"]) {
    assert.include(observed, name)
  }
  const calls = trace.filter(({ attributes }) => attributes["gen_ai.operation.name"] === "chat")
  assert.strictEqual(new Set(calls.map(({ attributes }) => attributes["gen_ai.agent.name"])).size, agents)
  for (const { attributes, endMs, name, parentSpanId, startMs } of calls) {
    assert.strictEqual(parentSpanId, lifecycle.spanId)
    assert.strictEqual(name, `chat ${attributes["gen_ai.request.model"]}`)
    assert.strictEqual(attributes["gen_ai.conversation.id"], runId)
    assert.isAbove(Number(attributes["gen_ai.usage.input_tokens"]), 0)
    assert.isAbove(Number(attributes["gen_ai.usage.output_tokens"]), 0)
    assert.isAbove(endMs, startMs)
  }

  const instances = new Map(spans.map(({ resource, service }) => [service, resource["service.instance.id"]]))
  assert.sameMembers([...instances.keys()], ["scenario-launch-service", "run-control-plane"])
  assert.strictEqual(new Set(instances.values()).size, instances.size)
  for (const { resource } of spans) assert.match(String(resource["service.version"]), /^\d+\.\d+\.\d+/)
}

const lineOf = ({ attributes, name, service, status }: CollectedSpan) =>
  `${service}: ${name} ${status.message ?? ""} ${JSON.stringify(attributes)}`
