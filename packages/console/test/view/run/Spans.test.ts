import { assert, describe, it } from "@effect/vitest"
import type { TraceSpan } from "@runplane/api"
import type { CanonicalEvent } from "@runplane/domain"
import { spansOf } from "../../../src/view/run/Spans.ts"
import { rowsOfTree, treeOfSpans } from "../../../src/view/run/SpanTree.ts"
import { eventsOf, type Given, said } from "../../support.ts"

const at = (seconds: number) => new Date(Date.parse("2026-07-01T10:00:00.000Z") + seconds * 1_000).toISOString()
const ours = { runtimeKind: "rust", createdAt: at(0), endedAt: at(9), metadata: {} }
const ingested = { ...ours, runtimeKind: "otlp" }

const received = (spanId: string, over: Partial<TraceSpan> = {}): TraceSpan => ({
  traceId: "t",
  spanId,
  name: spanId,
  kind: "other",
  startedAtUnixMs: Date.parse(at(1)),
  durationMs: 10,
  ok: true,
  ...over
})

/** Events of spans, as the ingest makes them. */
const withSpan = (given: Given, spanId: string, parentSpanId?: string): CanonicalEvent => {
  const [event] = eventsOf([{ ...given, data: { ...given.data, startedAt: at(2), endedAt: at(3), spanId } }])
  if (event === undefined) throw new Error("no event")
  return { ...event, trace: { traceId: "t", spanId, ...(parentSpanId !== undefined && { parentSpanId }) } }
}

const call = (totalTokens: number, estimatedCostUsd: number, more: object = {}) =>
  said("llm.call.completed", "ModelCall", "ana", { model: "m-1", totalTokens, estimatedCostUsd, ...more })

const tree = (given: Partial<Parameters<typeof spansOf>[0]>) =>
  rowsOfTree(
    treeOfSpans(spansOf({ run: ours, events: [], received: [], isPast: false, ...given })).roots,
    new Set()
  ).map(({ depth, span: { kind, name } }) => `${"-".repeat(depth)}${kind} ${name}`)

describe("the spans of an ingested run", () => {
  it("are the received ones, with tokens and cost of their events", () => {
    const events = [withSpan(call(30, 0.5), "model", "step"), withSpan(call(0, 0, { calls: 0 }), "twin", "model")]
    const spans = spansOf({
      run: ingested,
      events,
      received: [
        received("root"),
        received("step", { parentSpanId: "root" }),
        received("model", { parentSpanId: "step", kind: "model", ok: false, errorCode: "Timeout" }),
        received("twin", { parentSpanId: "model", kind: "model" })
      ],
      isPast: false
    })
    const { roots, total } = treeOfSpans(spans)
    assert.deepInclude(total, { calls: 1, tokens: 30, costUsd: 0.5 })
    assert.deepStrictEqual(
      rowsOfTree(roots, new Set()).map(({ depth, span: { error, name, who } }) => [depth, name, who, error]),
      [
        [0, "root", "", undefined],
        [1, "step", "", undefined],
        [2, "model", "ana", "Timeout"],
        [3, "twin", "ana", undefined]
      ]
    )
  })

  it("come from the events where none was received yet, with the times of the span", () => {
    const [span] = spansOf({ run: ingested, events: [withSpan(call(1, 0), "m", "p")], received: [], isPast: false })
    assert.deepInclude(span, { name: "m-1", kind: "model", start: Date.parse(at(2)), end: Date.parse(at(3)) })
  })

  it("of the past are those with an event, and the spans around them", () => {
    const spans = [
      received("root"),
      received("step", { parentSpanId: "root" }),
      received("later", { parentSpanId: "root" })
    ]
    const events = [withSpan(call(1, 0), "step", "root")]
    assert.deepStrictEqual(tree({ run: ingested, events, received: spans, isPast: true }), [
      "other root",
      "-other step"
    ])
  })
})

describe("the spans of a run of ours", () => {
  it("are the run, its participants and their calls; a tool call lasts until its answer", () => {
    const payload = { name: "lookup" }
    const [called, ...others] = eventsOf([
      { ...said("tool.called", "ToolCall", "ana", payload), subject: { kind: "tool", id: "c1" }, after: 1_000 },
      {
        ...said("tool.completed", "ToolResult", "ana", { ok: false }),
        subject: { kind: "tool", id: "c1" },
        after: 3_000
      },
      { ...call(5, 0.25, { latencyMs: 500 }), after: 4_000 },
      { ...said("proposal.created", "Proposal", "bob", { proposalId: "p1" }), after: 5_000 }
    ])
    if (called === undefined) throw new Error("no event")
    const events = [called, ...others]
    assert.deepStrictEqual(tree({ events }), [
      "run Run",
      "-participant ana",
      "--tool lookup",
      "--model m-1",
      "-participant bob"
    ])
    const spans = spansOf({ run: ours, events, received: [], isPast: false })
    const times = spans.map(({ end, name, start }) => [name, start - Date.parse(at(0)), end - Date.parse(at(0))])
    assert.deepStrictEqual(times, [
      ["Run", 0, 9_000],
      ["ana", 1_000, 4_000],
      ["bob", 5_000, 5_000],
      ["lookup", 1_000, 3_000],
      ["m-1", 3_500, 4_000]
    ])
    assert.strictEqual(treeOfSpans(spans).total.costUsd, 0.25)
  })

  it("have the spans of their events below the participant, and received spans below the run", () => {
    const [vote] = eventsOf([said("proposal.updated", "Vote", "bob", { proposalId: "p1", vote: "APPROVE" })])
    if (vote === undefined) throw new Error("no event")
    const carried = { ...vote, trace: { traceId: "t2", spanId: "s", parentSpanId: "unknown" } }
    assert.deepStrictEqual(
      tree({ events: [vote, carried], received: [received("root", { startedAtUnixMs: Date.parse(at(8)) })] }),
      ["run Run", "-participant bob", "--message Vote", "-other root"]
    )
  })
})
