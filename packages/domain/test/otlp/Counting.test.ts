import { assert, describe, it } from "@effect/vitest"
import type { Telemetry } from "@runplane/domain"
import { at, committee, dataOf, foldOf, ofType, summary } from "./support/Read.ts"
import { agent, chat, log, openInference, span, spanId } from "./support/Spans.ts"
import { OPTIONS, runFold } from "./support/TraceFolds.ts"

describe("counting", () => {
  const uncounted = (...spans: ReadonlyArray<Telemetry>) =>
    ofType(foldOf(...spans).events, "llm.call.completed").flatMap((call) => {
      const { countedReason } = dataOf(call)
      return countedReason === undefined ? [] : [[dataOf(call)["spanId"], countedReason]]
    })

  it("leaves out a call that repeats the ones inside", () => {
    const spans = [
      span("outer", [0, 9], chat(10, 1)),
      span("http", [1, 8], { "http.request.method": "POST" }, { parent: "outer" }),
      span("inner", [2, 7], chat(10, 1), { parent: "http" })
    ]
    assert.deepStrictEqual(uncounted(...spans), [[spanId("outer"), "a model call inside repeats it"]])
    const { state } = foldOf(...spans)
    assert.deepStrictEqual(
      [state.llm.totals.callCount, state.llm.totals.promptTokens, state.llm.calls.length],
      [1, 10, 1]
    )
  })

  it("counts spans that are each other's parents once, the same in any order", () => {
    const cycle = (...ids: ReadonlyArray<string>) =>
      ids.map((id, at) => span(id, [at, 9], chat(10, 1), { parent: ids.at(at - 1) ?? "" }))
    for (const spans of [cycle("one", "two"), cycle("one", "two", "three")]) {
      const last = spans.length - 1
      for (const given of [spans, spans.toReversed()]) {
        assert.strictEqual(foldOf(...given).state.llm.totals.callCount, 1)
        assert.strictEqual(uncounted(...given).length, last)
        assert.notInclude(
          uncounted(...given).map(([id]) => id),
          spans[last]?.spanId
        )
      }
    }
    const inside = span("inside", [3, 4], chat(10, 1), { parent: "one" })
    assert.strictEqual(foldOf(...cycle("one", "two"), inside).state.llm.totals.callCount, 1)
    assert.notInclude(
      uncounted(...cycle("one", "two"), inside).map(([id]) => id),
      inside.spanId
    )
    const [one, two] = cycle("one", "two")
    const later = [one, two].flatMap((each, nth) => (each === undefined ? [] : [at(1_000 + nth * 60_000, each)]))
    assert.strictEqual(runFold(later).state.llm.totals.callCount, 1)
  })

  it("counts a call once whose gateway reports it below its client, without a response id", () => {
    const root = span("root", [0, 10], {})
    const tokens = { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 10, "llm.token_count.completion": 1 }
    const client = span("client", [1, 9], openInference("LLM", tokens), { parent: "root" })
    const server = span("server", [2, 8], { "http.request.method": "POST" }, { parent: "client" })
    const gateway = span("gateway", [3, 7], chat(10, 1, { "gen_ai.response.id": "r1" }), { parent: "server" })
    assert.strictEqual(foldOf(root, client, server, gateway).state.llm.totals.callCount, 1)
  })

  it("counts one of two spans with a response id, the same in any order", () => {
    const twin = (id: string, more = {}) => span(id, [0, 9], chat(10, 1, { "gen_ai.response.id": "r1", ...more }))
    const root = span("root", [0, 10], {})
    const spans = [root, twin("one"), twin("two")]
    assert.lengthOf(uncounted(...spans), 1)
    assert.deepStrictEqual(uncounted(...spans), uncounted(...spans.toReversed()))
    const later = runFold([at(1_000, twin("one")), at(100_000, twin("two"))])
    assert.strictEqual(later.state.llm.totals.callCount, 1)
  })

  it("leaves out an empty call beside one with tokens", () => {
    const empty = span("empty", [0, 1], { "gen_ai.operation.name": "chat" }, { parent: "root" })
    const spans = [span("root", [0, 10], {}), empty, span("full", [2, 3], chat(10, 1), { parent: "root" })]
    assert.deepStrictEqual(uncounted(...spans), [[spanId("empty"), "a model call beside it has the usage"]])
    assert.deepStrictEqual(uncounted(span("root", [0, 10], {}), empty), [])
  })

  it("counts the tokens of a log record for its span, once", () => {
    const details = log("c", 3, "gen_ai.client.inference.operation.details", {
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 1
    })
    const bare = span("c", [0, 9], { "gen_ai.operation.name": "chat" })
    assert.deepStrictEqual(summary(details, bare).totals, { input: 10, output: 1 })
    assert.deepStrictEqual(summary(details, span("c", [0, 9], chat(10, 1))).totals, { input: 10, output: 1 })
    const alone = runFold([at(1_000, details), at(400_000, span("c", [0, 9], chat(10, 1)))])
    assert.deepStrictEqual(alone.state.llm.totals.promptTokens, 10)
    assert.deepStrictEqual(alone.state.llm.totals.callCount, 1)
  })

  it("never counts the tokens of an agent", () => {
    const sums = { "gen_ai.usage.input_tokens": 99, "gen_ai.aggregated_usage.input_tokens": 99 }
    assert.deepStrictEqual(summary(span("a", [0, 9], { ...agent("a"), ...sums })).calls, [])
  })

  it("counts joined calls only when the setting says so", () => {
    const spans = [at(1_000, ...committee())]
    const counts = (usage: boolean) => {
      const { end, events, state } = runFold(spans, { ...OPTIONS, joined: { usage } })
      assert.isUndefined(end)
      assert.deepStrictEqual([...new Set(events.map(({ type }) => type))].toSorted(), [
        "llm.call.completed",
        "tool.called",
        "tool.completed"
      ])
      return state.llm.totals.promptTokens
    }
    assert.deepStrictEqual([counts(false), counts(true)], [0, 350])
  })
})
