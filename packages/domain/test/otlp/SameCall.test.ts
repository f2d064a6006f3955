import { assert, describe, it } from "@effect/vitest"
import type { Attributes, Span, Telemetry } from "@runplane/domain"
import { goldenFolders, readGolden } from "./support/Golden.ts"
import { at, dataOf, foldOf, ofType } from "./support/Read.ts"
import { agent, chat, span, tool } from "./support/Spans.ts"
import { runFold } from "./support/TraceFolds.ts"

const totalsOf = (...spans: ReadonlyArray<Telemetry>) => {
  const { cachedTokens, callCount, completionTokens, promptTokens } = foldOf(...spans).state.llm.totals
  return [callCount, promptTokens, completionTokens, ...(cachedTokens === undefined ? [] : [cachedTokens])]
}

/** The totals, and the reasons, by span; the same for each order of arrival. */
const decided = (...spans: ReadonlyArray<Span>) => {
  const reasons = Object.fromEntries(
    ofType(foldOf(...spans).events, "llm.call.completed").map((call) => [
      spans.find(({ spanId }) => spanId === dataOf(call)["spanId"])?.name,
      dataOf(call)["countedReason"] ?? "counted"
    ])
  )
  assert.deepStrictEqual(totalsOf(...spans.toReversed()), totalsOf(...spans))
  return { totals: totalsOf(...spans), reasons }
}

const cached = (tokens: number) => ({ "gen_ai.usage.cache_read.input_tokens": tokens })
const bare: Attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o" }
const desk = span("desk", [0, 100], agent("desk"))

describe("calls of two instrumentations inside of each other", () => {
  it("count where the usage is, not where it is missing", () => {
    const { reasons, totals } = decided(
      desk,
      span("outer", [1, 50], chat(1_000, 100), { parent: "desk" }),
      span("http", [2, 49], {}, { parent: "outer" }),
      span("inner", [3, 48], bare, { parent: "http" })
    )
    assert.deepStrictEqual(totals, [1, 1_000, 100])
    assert.deepStrictEqual(reasons, { outer: "counted", inner: "a model call around it is counted" })
  })

  it("count the richer of two, and the inner one of equals", () => {
    const outer = (more: Attributes) => span("outer", [1, 50], chat(1_000, 100, more), { parent: "desk" })
    const inner = (more: Attributes) => span("inner", [3, 48], chat(1_000, 100, more), { parent: "outer" })
    assert.deepStrictEqual(decided(desk, outer(cached(900)), inner({})).totals, [1, 1_000, 100, 900])
    assert.deepStrictEqual(decided(desk, outer({}), inner(cached(900))).totals, [1, 1_000, 100, 900])
    assert.strictEqual(decided(desk, outer({}), inner({})).reasons["outer"], "a model call inside repeats it")
    const cut = span("inner", [3, 48], chat(1_000, 0), { parent: "outer" })
    assert.deepStrictEqual(decided(desk, outer({}), cut).totals, [1, 1_000, 100])
  })

  it("count the tries inside of a call, unless only the call has the usage of all", () => {
    const outer = (input: number) => span("outer", [1, 50], chat(input, 100), { parent: "desk" })
    const tries = [
      span("first", [2, 20], chat(400, 40), { parent: "outer" }),
      span("second", [21, 49], chat(600, 60), { parent: "outer" })
    ]
    assert.deepStrictEqual(decided(desk, outer(1_000), ...tries).totals, [2, 1_000, 100])
    const [first = desk] = tries
    const silent = span("second", [21, 49], bare, { parent: "outer" })
    assert.deepStrictEqual(decided(desk, outer(1_000), first, silent).totals, [1, 1_000, 100])
  })

  it("end at tools and agents", () => {
    const { totals } = decided(
      desk,
      span("outer", [1, 90], chat(1_000, 100), { parent: "desk" }),
      span("lookup", [10, 60], tool("lookup"), { parent: "outer" }),
      span("inner", [11, 50], chat(500, 50), { parent: "lookup" })
    )
    assert.deepStrictEqual(totals, [2, 1_500, 150])
    const sre = span("sre", [10, 60], agent("sre"), { parent: "outer" })
    const call = span("inner", [11, 50], chat(500, 50), { parent: "sre" })
    const outer = span("outer", [1, 90], chat(1_000, 100), { parent: "desk" })
    assert.deepStrictEqual(decided(desk, outer, sre, call).totals, [2, 1_500, 150])
  })

  it("keep what an earlier step has counted", () => {
    const inner = span("inner", [3, 48], { ...chat(1_000, 100), "gen_ai.agent.name": "desk" }, { parent: "outer" })
    const outer = span("outer", [1, 50], chat(1_000, 100, cached(900)), { parent: "desk" })
    const { state } = runFold([at(1_000, inner), at(60_000, outer, desk)])
    assert.deepStrictEqual([state.llm.totals.callCount, state.llm.totals.promptTokens], [1, 1_000])
  })

  it("are decided for ten thousand of them without a deep stack", () => {
    const deep = Array.from({ length: 10_000 }, (_, nth) =>
      span(String(nth), [nth, 30_000 - nth], chat(10, 1), nth === 0 ? {} : { parent: String(nth - 1) })
    )
    assert.deepStrictEqual(totalsOf(...deep), [1, 10, 1])
  })
})

describe("calls of two instrumentations beside each other", () => {
  const native = (id: string, [from, to]: readonly [number, number], more: Attributes = {}) =>
    span(id, [from, to], chat(1_000, 100, { "gen_ai.response.id": id, ...more }), { parent: "desk", scope: "x.native" })
  const client = (id: string, [from, to]: readonly [number, number], more: Attributes = {}) =>
    span(
      id,
      [from, to],
      { ...chat(1_000, 100), "gen_ai.request.model": "gpt-4o-2024-08-06", ...more },
      {
        ...{ parent: "desk", scope: "y.client" }
      }
    )

  it("are one call, which the richer one counts", () => {
    const { reasons, totals } = decided(desk, native("n1", [10, 20]), client("c1", [9, 21]))
    assert.deepStrictEqual(totals, [1, 1_000, 100])
    assert.deepStrictEqual(reasons, { n1: "counted", c1: "a span beside it is the same call" })
    assert.deepStrictEqual(decided(desk, native("n1", [10, 20]), client("c1", [9, 21], cached(900))).totals, [
      ...[1, 1_000, 100, 900]
    ])
  })

  it("are as many calls as the instrumentation with the most has", () => {
    const two = [native("n1", [10, 20]), native("n2", [11, 21])]
    assert.deepStrictEqual(decided(desk, ...two).totals, [2, 2_000, 200])
    assert.deepStrictEqual(decided(desk, ...two, client("c1", [9, 21]), client("c2", [10, 22])).totals, [
      ...[2, 2_000, 200]
    ])
  })

  it.each<[string, Span]>([
    ["of another time", client("c1", [21, 30])],
    ["of another model", client("c1", [9, 21], { "gen_ai.request.model": "gpt-5" })],
    ["with other counts", client("c1", [9, 21], { "gen_ai.usage.output_tokens": 101 })],
    ["below another span", span("c1", [9, 21], chat(1_000, 100), { parent: "else", scope: "y.client" })]
  ])("are two calls where one is %s", (_, other) => {
    assert.strictEqual(decided(desk, native("n1", [10, 20]), other).totals[0], 2)
  })

  it("keep what an earlier step has counted", () => {
    const named = { "gen_ai.agent.name": "desk" }
    const first = client("c1", [9, 21], named)
    const { state } = runFold([at(1_000, first), at(60_000, native("n1", [10, 20], cached(900)), desk)])
    assert.deepStrictEqual([state.llm.totals.callCount, state.llm.totals.promptTokens], [1, 1_000])
  })

  it("are compared in time that grows with their number", () => {
    const many = Array.from({ length: 4_000 }, (_, nth) => [
      native(`n${nth}`, [10, 20]),
      client(`c${nth}`, [9, 21])
    ]).flat()
    const started = performance.now()
    assert.strictEqual(totalsOf(desk, ...many)[0], 4_000)
    assert.isBelow(performance.now() - started, 20_000)
  })
})

/** What the instrumentation of a client library adds: a span for each call, inside of it or beside it. */
const withClient = (telemetry: ReadonlyArray<Telemetry>, position: "inside" | "beside"): ReadonlyArray<Telemetry> =>
  telemetry.flatMap((each) => {
    if (each.kind !== "span" || !isChat(each)) return [each]
    const by = (nanos: string, ms: number) => String(BigInt(nanos) + BigInt(ms * 1_000))
    const { "gen_ai.response.id": _, ...attributes } = each.attributes
    const client: Span = {
      ...each,
      scope: "opentelemetry.instrumentation.client",
      spanId: each.spanId.replace(/^./, (digit) => (digit === "f" ? "e" : "f")),
      parentSpanId: position === "inside" ? each.spanId : (each.parentSpanId ?? ""),
      startedAt: by(each.startedAt, position === "inside" ? 1 : -1),
      endedAt: by(each.endedAt, position === "inside" ? -1 : 1),
      attributes
    }
    return [each, client]
  })

const isChat = ({ attributes, parentSpanId }: Span): boolean =>
  attributes["gen_ai.operation.name"] === "chat" &&
  attributes["gen_ai.usage.input_tokens"] !== undefined &&
  parentSpanId !== undefined

describe.skipIf(goldenFolders.length === 0)("a recording with the instrumentation of its client", () => {
  const folders = goldenFolders.filter((name) =>
    readGolden(name)
      .requests.flat()
      .some((each) => each.kind === "span" && isChat(each))
  )

  it.each(folders)("%s has the same bill", (name) => {
    const { requests } = readGolden(name)
    const billOf = (change: (telemetry: ReadonlyArray<Telemetry>) => ReadonlyArray<Telemetry>) => {
      const sent = requests.map((telemetry, nth) => ({ at: 1_000 + nth * 10, telemetry: change(telemetry) }))
      return runFold(sent).state.llm.totals
    }
    const bill = billOf((telemetry) => telemetry)
    assert.deepStrictEqual(
      billOf((telemetry) => withClient(telemetry, "inside")),
      bill
    )
    assert.deepStrictEqual(
      billOf((telemetry) => withClient(telemetry, "beside")),
      bill
    )
  })
})
