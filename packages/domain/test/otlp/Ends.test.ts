import { assert, describe, it } from "@effect/vitest"
import { resumeTraceFold, type Span, stepTraceFold } from "@runplane/domain"
import { foldOf, summary } from "./support/Read.ts"
import { agent, chat, event, openInference, span, spanId, TRACE_ID, tool } from "./support/Spans.ts"
import { keyOf, OPTIONS, PARENT_WAIT_MS, SETTLE_MS } from "./support/TraceFolds.ts"

describe("the end of a run", () => {
  const root = (status: Span["status"], more: Partial<Parameters<typeof span>[3]> = {}) =>
    span("root", [0, 100], {}, { status, ...more })
  const failed = (id: string, from: number, more: Parameters<typeof span>[3] = {}) =>
    span(id, [from, from + 5], agent(id), { parent: "root", status: "error", ...more })
  const ok = (id: string, from: number) => span(id, [from, from + 5], agent(id), { parent: "root" })
  const exception = (type: string, message: string) =>
    event("exception", { "exception.type": type, "exception.message": message })

  it.each<[string, ReadonlyArray<Span>, "completed" | "failed"]>([
    ["a root without an error", [root("unset"), ok("a", 1)], "completed"],
    ["a root with an error", [root("error"), ok("a", 1)], "failed"],
    ["the last agent with an error", [root("ok"), ok("a", 1), failed("b", 10)], "failed"],
    ["an error that a later agent answered", [root("ok"), failed("a", 1), ok("b", 10)], "completed"],
    [
      "an error that a later tool answered",
      [root("ok"), failed("a", 1), span("t", [20, 30], tool("fix"), { parent: "root" })],
      "completed"
    ],
    [
      "an error below spans of a framework",
      [
        root("ok"),
        span("chain", [1, 50], openInference("CHAIN"), { parent: "root" }),
        span("b", [2, 40], agent("b"), { parent: "chain", status: "error" })
      ],
      "failed"
    ],
    [
      "an error of a tool",
      [root("ok"), span("t", [20, 30], tool("fix"), { parent: "root", status: "error" })],
      "completed"
    ]
  ])("is judged by %s", (_, spans, status) => {
    assert.strictEqual(summary(...spans).status, status)
  })

  it("takes code and message of the call inside, where the root is a request that states its HTTP status", () => {
    const { end } = foldOf(
      span("root", [0, 100], { "http.request.method": "POST", "error.type": "500" }, { status: "error" }),
      span("handler", [1, 90], { "code.function.name": "chat" }, { parent: "root" }),
      span("call", [2, 40], chat(1, 1, { "error.type": "<class 'litellm.InternalServerError'>" }), {
        ...{ parent: "handler", status: "error", statusMessage: "no capacity" }
      }),
      span("end", [91, 95], { "error.type": "acme.ProxyException" }, { parent: "root", status: "error" })
    )
    assert.deepInclude(end, { status: "failed", errorCode: "InternalServerError", errorMessage: "no capacity" })
    const alone = foldOf(
      span("root", [0, 100], { "http.request.method": "POST", "error.type": "500" }, { status: "error" }),
      ok("a", 1)
    )
    assert.deepInclude(alone.end, { status: "failed", errorCode: "500" })
  })

  it("takes the code of the deepest failure that the root's comes from, without its module path", () => {
    const { end } = foldOf(
      root("error", { statusMessage: "boom\nTraceback (most recent call last)" }),
      failed("a", 1, { statusMessage: "x" }),
      span("c", [2, 3], chat(1, 1), {
        parent: "a",
        status: "error",
        events: [exception("openai.BadRequestError", "too long")]
      }),
      span("t", [50, 60], tool("other", { "error.type": "Timeout" }), { parent: "b", status: "error" })
    )
    assert.deepStrictEqual(
      [end?.status, end?.errorCode, end?.errorMessage, end?.endedBecause],
      ["failed", "BadRequestError", "boom", "root"]
    )
  })

  it("takes the code of the root first, and has one when nothing says any", () => {
    const coded = root("error", { events: [exception("ValueError", "no\nyes")] })
    assert.deepStrictEqual(
      [foldOf(coded).end?.errorCode, foldOf(coded).end?.errorMessage, foldOf(root("error")).end?.errorCode],
      ["ValueError", "no", "APPLICATION_ERROR"]
    )
  })

  it("judges spans whose root never came by the last of them, after the idle time", () => {
    const orphan = (id: string, from: number, status: Span["status"]) =>
      span(id, [from, from + 1], agent(id), { parent: "never", status })
    const { end, events } = foldOf(orphan("a", 1, "unset"), orphan("b", 5, "error"))
    assert.deepStrictEqual([end?.status, end?.endedBecause], ["failed", "idle"])
    assert.strictEqual(Date.parse(events.at(-1)?.ts ?? ""), 1_000 + PARENT_WAIT_MS)
    assert.strictEqual(foldOf(orphan("a", 1, "error"), orphan("b", 5, "unset")).end?.status, "completed")
  })

  it("judges linked traces by the last root with work inside, not by an acknowledgement that ends later", () => {
    const other = { traceId: "1".repeat(32), links: [{ traceId: TRACE_ID, spanId: spanId("root"), attributes: {} }] }
    const acknowledgement = span("ack", [150, 160], { "messaging.system": "x" }, other)
    assert.strictEqual(foldOf(root("error"), acknowledgement).end?.status, "completed")
    assert.strictEqual(foldOf(root("error"), ok("a", 1), acknowledgement).end?.status, "failed")
    const work = span("work", [150, 160], agent("b"), other)
    assert.strictEqual(foldOf(root("error"), ok("a", 1), work).end?.status, "completed")
  })

  const NOW = Date.parse("2026-11-25T14:18:31.000Z")
  const endAt = (now: number, ...spans: ReadonlyArray<Span>) => {
    const arrivals = spans.map((telemetry) => ({ key: keyOf(telemetry), at: now - SETTLE_MS, telemetry }))
    const step = stepTraceFold(
      resumeTraceFold({ nodes: [], isCreated: false, isEnded: false, isProvisional: false }),
      arrivals,
      now,
      OPTIONS
    )
    return { ...step, data: step.events.at(-1)?.recorded.data }
  }
  const outlived = [root("ok"), span("early", [-5, 3], chat(1, 1), { parent: "root" }), ok("a", 98)]

  it("has the times of the root, which others outlive, and which arrive after later ones", () => {
    const { data, end, startedAt } = endAt(NOW + 60_000, ...outlived)
    const times = { startedAt: "2026-11-25T14:18:31.000Z", endedAt: "2026-11-25T14:18:31.100Z" }
    assert.deepInclude(end, times)
    assert.deepInclude(data, times)
    assert.strictEqual(startedAt, "2026-11-25T14:18:30.995Z")
    assert.notProperty(data, "spansEndedAt")
  })

  it.each([
    ["more than a day late", NOW + 86_500_000],
    ["ahead", NOW - 1_000]
  ])("keeps its duration when the clock of the application is %s", (_, now) => {
    const { data, end } = endAt(now, ...outlived)
    assert.deepInclude(end, { startedAt: new Date(now - 100).toISOString(), endedAt: new Date(now).toISOString() })
    assert.deepInclude(data, { endedAt: end?.endedAt, spansEndedAt: "2026-11-25T14:18:31.100Z" })
  })

  it("lasts 30 days at most, and says the times of spans that claim more", () => {
    const years = 3.2 * 365 * 86_400_000
    const from = NOW - years
    const long = { ...root("ok"), startedAt: `${BigInt(from) * 1_000_000n}`, endedAt: `${BigInt(NOW) * 1_000_000n}` }
    const { data, end } = endAt(NOW + 1_000, long)
    assert.strictEqual(Date.parse(end?.endedAt ?? "") - Date.parse(end?.startedAt ?? ""), 30 * 86_400_000)
    assert.deepInclude(data, {
      startedAt: end?.startedAt,
      spansStartedAt: new Date(from).toISOString(),
      spansEndedAt: new Date(NOW).toISOString()
    })
  })
})
