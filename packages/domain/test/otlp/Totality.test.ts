import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  type Attributes,
  isUuid,
  makeRedactor,
  meaningOf,
  meaningOfLog,
  noRedactor,
  receivedTelemetry,
  resumeTraceFold,
  runIdOf,
  type Span,
  stepTraceFold,
  type Telemetry,
  TraceFoldNode
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { agent, chat, event, log, span, spanId, tool } from "./support/Spans.ts"
import { isCounted } from "./support/Summary.ts"
import { boundTo, keyOf, OPTIONS, runFold, SETTLE_MS, sha256 } from "./support/TraceFolds.ts"

const NAMES = [
  ...["gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.usage.input_tokens", "gen_ai.usage.total_tokens"],
  ...[
    "openinference.span.kind",
    "metadata",
    "input.value",
    "output.value",
    "gen_ai.input.messages",
    "llm.finish_reason"
  ],
  ...["gen_ai.prompt.0.content", "llm.input_messages.99999.message.role", "gen_ai.prompt.__proto__", "graph.node.id"],
  ...["gen_ai.tool.name", "gen_ai.tool.call.arguments", "traceloop.span.kind", "ai.operationId", "executor.id"],
  ...[
    "runplane.tags",
    "gen_ai.response.finish_reasons",
    "langfuse.observation.usage_details",
    "gen_ai.evaluation.name"
  ],
  ...["exception.type", "exception.message", "proposal.id", "vote", "action", "__proto__", "toString", "gen_ai.x"]
]
const WORDS = [
  ...["invoke_agent", "chat", "execute_tool", "handoff", "AGENT", "CHAIN", "LLM", "agent", "task", "ai.toolCall"],
  ...["__REDACTED__", "", " ", "{", "[", '{"a":[{"role":"system","parts":null}]}', "\u0000\ud800", "1e999", "-1"]
]

const junk = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      names: Schema.Array(Schema.Int).check(Schema.isMaxLength(12)),
      words: Schema.Array(Schema.Int).check(Schema.isMinLength(1), Schema.isMaxLength(12)),
      values: Schema.Array(Schema.Json).check(Schema.isMinLength(1), Schema.isMaxLength(12)),
      times: Schema.Array(Schema.Union([Schema.Int, Schema.String])).check(Schema.isMinLength(2), Schema.isMaxLength(2))
    })
  ),
  ({ names, times, values, words }) => {
    const attributes: Record<string, Schema.Json> = {}
    names.forEach((drawn, at) => {
      const name = NAMES[Math.abs(drawn) % NAMES.length] ?? "x"
      const word = WORDS[Math.abs(words[at % words.length] ?? 0) % WORDS.length] ?? ""
      attributes[name] = drawn % 2 === 0 ? word : (values[at % values.length] ?? null)
    })
    return { attributes, times: times.map(String) }
  }
)

const fromJunk = ({ attributes, times }: { attributes: Attributes; times: ReadonlyArray<string> }): Span => ({
  ...span("x", [0, 1], attributes, {
    name: WORDS[Object.keys(attributes).length % WORDS.length] ?? "x",
    parent: "y",
    status: "error",
    resource: attributes,
    events: [
      { name: "gen_ai.choice", at: "x", attributes },
      { name: "runplane.vote", at: "", attributes }
    ],
    links: [{ traceId: "", spanId: "", attributes }]
  }),
  startedAt: times[0] ?? "",
  endedAt: times[1] ?? ""
})

describe("a fold is total", () => {
  it.prop(
    "over attributes of any name and type",
    { drawn: junk },
    ({ drawn }) => {
      const whole = fromJunk(drawn)
      const record = log("x", 1, "gen_ai.choice", drawn.attributes, { message: drawn.attributes })
      assert.isString(meaningOf(whole).kind)
      assert.isString(meaningOfLog(record).kind)
      const { redactor } = makeRedactor("a,\\d+")
      const options = { redactor, content: "drop" as const, keepUser: false, sha256 }
      const received = [whole, record].map((each) => receivedTelemetry(options, each))
      const { events, nodes } = runFold([{ at: 1_000, telemetry: received }])
      assert.isTrue(nodes.every(Schema.is(TraceFoldNode)))
      for (const { recorded } of events) {
        assert.deepStrictEqual(JSON.parse(JSON.stringify(recorded)), recorded)
        assert.notInclude(JSON.stringify(recorded), "\\u0000")
      }
      assert.isString(boundTo([whole, record]).state)
    },
    { arbitrary: { runs: 500 }, timeout: 60_000 }
  )

  it("over texts of a megabyte", () => {
    const text = "[{".repeat(500_000)
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`gen_ai.prompt.${at}.content`, "x"]))
    const { events, nodes } = runFold([
      {
        at: 1_000,
        telemetry: [
          span("a", [0, 9], { ...agent("a"), "gen_ai.input.messages": text, "output.value": text }),
          span(
            "c",
            [1, 2],
            { ...chat(1, 1), ...many, "gen_ai.output.messages": JSON.stringify(text) },
            { parent: "a" }
          ),
          span("t", [2, 3], tool("t", { "gen_ai.tool.call.arguments": text }), { parent: "a" })
        ]
      }
    ])
    assert.isAbove(events.length, 8)
    assert.isTrue(nodes.every((node) => JSON.stringify(node).length < 8_192))
  })

  it("over a trace as deep as it has spans", () => {
    const depth = 10_000
    const chain = Array.from({ length: depth }, (_, at) =>
      span(`n${at}`, [at, 2 * depth - at], at === depth - 1 ? chat(1, 1) : at === 0 ? agent("deep") : {}, {
        ...(at > 0 && { parent: `n${at - 1}` })
      })
    )
    for (const telemetry of [chain, chain.toReversed()]) {
      const { events, state } = runFold([{ at: 1_000, telemetry }])
      assert.deepStrictEqual(
        events.filter(isCounted).map(({ data }) => data.sender),
        ["deep"]
      )
      assert.strictEqual(state.run.status, "completed")
    }
  })

  it("over many spans of one parent", () => {
    const count = 10_000
    const children = Array.from({ length: count }, (_, at) =>
      span(`c${at}`, [at, at + 1], at % 2 === 0 ? chat(1, 1) : tool("transfer_to_agent"), { parent: "root" })
    )
    const { state } = runFold([{ at: 1_000, telemetry: [...children, span("root", [0, count], agent("wide"))] }])
    assert.strictEqual(state.llm.totals.callCount, count / 2)
  })

  it("over cycles of parents, and a span that is its own parent", () => {
    const cycle = [
      span("a", [0, 9], agent("a"), { parent: "c" }),
      span("b", [1, 8], chat(1, 1), { parent: "a" }),
      span("c", [2, 7], tool("t"), { parent: "b" }),
      span("self", [3, 4], chat(2, 2), { parent: "self" })
    ]
    const { end, events } = runFold([{ at: 1_000, telemetry: cycle }])
    assert.lengthOf(
      events.filter(({ type }) => type === "llm.call.completed"),
      2
    )
    assert.strictEqual(end?.status, "completed")
  })
})

describe("repetitions", () => {
  it("change nothing, whether they come while the span waits or later", () => {
    const one = span("a", [0, 9], chat(1, 1))
    const other: Span = { ...one, name: "another text" }
    const given = (telemetry: Telemetry, at: number) => ({ key: keyOf(telemetry), at, telemetry })
    const fresh = resumeTraceFold({ nodes: [], isCreated: false, isEnded: false, isProvisional: false })
    const first = stepTraceFold(fresh, [given(one, 1_000)], 1_000, OPTIONS)
    const second = stepTraceFold(
      first.state,
      [{ ...given(other, 1_100), key: "other" }, given(one, 1_100)],
      1_100,
      OPTIONS
    )
    assert.deepStrictEqual(second.consumed, [{ key: "other", traceId: one.traceId, spanId: one.spanId }])
    const third = stepTraceFold(second.state, [], 1_000 + SETTLE_MS, OPTIONS)
    assert.lengthOf(
      third.events.filter(({ type }) => type === "llm.call.completed"),
      1
    )
    const fourth = stepTraceFold(third.state, [given(one, 9_000)], 9_000, OPTIONS)
    assert.deepStrictEqual([fourth.events.length, fourth.consumed.length, fourth.waiting], [0, 1, 0])
  })
})

describe("a run", () => {
  const options = { settleMs: SETTLE_MS }
  const keyed = (attributes: Attributes) => boundTo([span("a", [0, 1], {}), span("b", [1, 2], attributes)])

  it("is named by any span of the trace, else by the trace", () => {
    const plain = keyed(chat(1, 1))
    assert.deepStrictEqual(plain, { state: "bound", key: span("a", [0, 1], {}).traceId, isNamed: false, links: [] })
    const named = keyed({ "runplane.run.key": "order-7" })
    assert.deepStrictEqual(named.state === "bound" && [named.key, named.isNamed], ["order-7", true])
    const blank = keyed({ ...chat(1, 1), "runplane.run.key": " \u2800" })
    assert.deepStrictEqual(blank, plain)
    const joined = keyed({ "macp.session.id": "s1" })
    assert.strictEqual(joined.state === "bound" && joined.sessionId, "s1")
    assert.strictEqual(options.settleMs, SETTLE_MS)
  })

  it.each<[string, Attributes, string]>([
    ["a health check", { "http.request.method": "GET", "url.path": "/healthz" }, "unrelated"],
    ["a span with a name of ours", { "runplane.scenario": "desk" }, "bound"],
    ["a tool", { "gen_ai.operation.name": "execute_tool" }, "bound"]
  ])("is decided for a trace of %s", (_, attributes, state) => {
    assert.strictEqual(keyed(attributes).state, state)
  })

  it("has an id that depends on its source and key alone", () => {
    const sha1 = (bytes: Uint8Array) => createHash("sha1").update(bytes).digest()
    const ids = [runIdOf(sha1, "a", "b"), runIdOf(sha1, "a", "b"), runIdOf(sha1, "ab", ""), runIdOf(sha1, "", "ab")]
    assert.isTrue(ids.every((id) => isUuid(id) && id[14] === "5"))
    assert.strictEqual(new Set(ids).size, 3)
  })
})

describe("the receiver of telemetry", () => {
  const instructed = span("a", [0, 1], {
    ...chat(1, 1),
    "gen_ai.system_instructions": '[{"type":"text","content":"be brief"}]',
    "gen_ai.input.messages": "secret",
    "gen_ai.prompt.0.content": "secret",
    "gen_ai.response.id": "r1",
    "user.id": "u1"
  })
  const receive = (content: "keep" | "drop", keepUser = false) =>
    receivedTelemetry({ redactor: noRedactor, content, keepUser, sha256 }, instructed)

  it("drops content but keeps tokens, ids and the hash of the instructions", () => {
    const { attributes } = receive("drop")
    assert.notInclude(JSON.stringify(attributes), "secret")
    assert.deepStrictEqual(
      [attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.response.id"], attributes["runplane.prompt.hash"]],
      [1, "r1", sha256("be brief").slice(0, 16)]
    )
    const { events, facts } = runFold([{ at: 1, telemetry: [receive("drop")] }])
    const [called] = events.flatMap((event) => (event.type === "llm.call.completed" ? [event] : []))
    assert.strictEqual(called?.data.promptHash, sha256("be brief").slice(0, 16))
    assert.notInclude(JSON.stringify(events), "be brief")
    assert.strictEqual(facts.metadata["promptHash"], sha256("be brief").slice(0, 16))
    assert.strictEqual(
      runFold([{ at: 1, telemetry: [receive("keep")] }]).facts.metadata["promptHash"],
      facts.metadata["promptHash"]
    )
  })

  it("keeps the user only when the setting says so", () => {
    assert.isUndefined(receive("keep").attributes["user.id"])
    assert.strictEqual(receive("keep", true).attributes["user.id"], "u1")
    assert.strictEqual(spanId("a"), instructed.spanId)
  })

  it("redacts values and messages", () => {
    const { redactor } = makeRedactor("secret")
    const redacted = receivedTelemetry(
      { redactor, content: "keep", keepUser: true, sha256 },
      { ...instructed, name: "call secret", events: [event("a secret", {})], statusMessage: "secret" }
    )
    assert.notInclude(JSON.stringify(redacted), "secret")
  })
})
