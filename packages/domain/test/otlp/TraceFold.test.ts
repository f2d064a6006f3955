import { assert, describe, it } from "@effect/vitest"
import { resumeTraceFold, stepTraceFold } from "@runplane/domain"
import { at, committee, dataOf, foldOf, ofType, summary } from "./support/Read.ts"
import { agent, chat, openInference, span, spanId, TRACE_ID, tool } from "./support/Spans.ts"
import { isCounted } from "./support/Summary.ts"
import { keyOf, OPTIONS, runFold, SETTLE_MS, sha256 } from "./support/TraceFolds.ts"

describe("a fold", () => {
  it("is in the order of the tree, with the times of the spans", () => {
    const { events } = foldOf(...committee().toReversed())
    assert.deepStrictEqual(
      events.map(({ type, recorded: { data } }) => [type, data["messageType"] ?? data["participantId"] ?? ""]),
      [
        ["run.created", ""],
        ["run.started", ""],
        ["session.state.changed", ""],
        ["participant.seen", "lead"],
        ["message.received", "AgentInvoked"],
        ["llm.call.completed", "ModelCall"],
        ["tool.called", "ToolCall"],
        ["participant.seen", "sre"],
        ["message.received", "AgentInvoked"],
        ["llm.call.completed", "ModelCall"],
        ["tool.called", "ToolCall"],
        ["tool.completed", "ToolResult"],
        ["message.received", "AgentAnswered"],
        ["tool.completed", "ToolResult"],
        ["llm.call.completed", "ModelCall"],
        ["message.received", "AgentAnswered"],
        ["run.completed", ""]
      ]
    )
    const [call] = ofType(events, "llm.call.completed")
    const { endedAt, parentSpanId, spanId: id, startedAt } = call === undefined ? {} : dataOf(call)
    assert.deepStrictEqual(
      { endedAt, parentSpanId, id, startedAt },
      {
        startedAt: "2026-11-25T14:18:31.001Z",
        endedAt: "2026-11-25T14:18:31.010Z",
        id: spanId("call1"),
        parentSpanId: spanId("lead")
      }
    )
    assert.deepStrictEqual(call?.trace, { traceId: TRACE_ID, spanId: spanId("call1"), parentSpanId: spanId("lead") })
    assert.strictEqual(call?.ts, "1970-01-01T00:00:01.000Z")
  })

  it("knows who called and who answered", () => {
    const { handoffs, invocations, participants, tools, totals } = summary(...committee())
    assert.deepStrictEqual(
      { handoffs, invocations, participants, totals },
      {
        participants: ["lead", "sre"],
        invocations: ["lead", "sre"],
        handoffs: ["lead > sre"],
        totals: { input: 350, output: 35 }
      }
    )
    assert.deepStrictEqual(tools, [
      { name: "ask_sre", agent: "lead", ok: true },
      { name: "error_budget", agent: "sre", ok: false, error: "timeout" }
    ])
  })

  it("has no participant for the user who gave the work, and no edge to it", () => {
    const { events, state } = foldOf(...committee())
    assert.deepStrictEqual(
      ofType(events, "message.received").map(({ data }) => [data.sender, ...data.to]),
      [
        ["user", "lead"],
        ["lead", "sre"],
        ["sre", "lead"],
        ["lead", "user"]
      ]
    )
    assert.deepStrictEqual(
      state.graph.edges.map(({ from, to }) => [from, to]),
      [
        ["lead", "sre"],
        ["sre", "lead"]
      ]
    )
    assert.isTrue(state.participants.every(({ status }) => status === "completed"))
  })

  it("has the facts that its root and its resource state", () => {
    const resource = {
      "service.name": "shop",
      "service.version": "2.4.0",
      "deployment.environment": "golden",
      "runplane.tags": "nightly, eu",
      "runplane.scenario": "release"
    }
    const inner = { ...agent("sre"), "gen_ai.conversation.id": "inner", "gen_ai.system_instructions": "be strict" }
    const { facts } = runFold([
      at(
        1_000,
        span("sre", [1, 9], inner, { parent: "lead", resource }),
        span(
          "lead",
          [0, 99],
          { ...agent("lead"), "gen_ai.conversation.id": "c1", "gen_ai.prompt.name": "p" },
          { resource }
        )
      )
    ])
    assert.deepStrictEqual(facts, {
      name: "release",
      sourceRef: "shop",
      environment: "golden",
      tags: ["nightly", "eu"],
      metadata: {
        conversationId: "c1",
        framework: "test",
        promptName: "p",
        promptHash: sha256("be strict").slice(0, 16),
        serviceVersion: "2.4.0"
      },
      models: [],
      startedAt: "2026-11-25T14:18:31.000Z",
      endedAt: "2026-11-25T14:18:31.099Z"
    })
  })

  it("shows a call before its run ends, once its agent is known", () => {
    const named = span("c1", [1, 2], chat(1, 1, { "gen_ai.agent.name": "lead" }), { parent: "lead" })
    const unnamed = span("c2", [2, 3], chat(1, 1), { parent: "lead" })
    const first = stepTraceFold(
      resumeTraceFold({ nodes: [], isCreated: false, isEnded: false, isProvisional: false }),
      [named, unnamed].map((telemetry) => ({ key: keyOf(telemetry), at: 1_000, telemetry })),
      1_000,
      OPTIONS
    )
    assert.deepStrictEqual(
      first.events.map(({ type }) => type),
      ["run.created", "run.started", "session.state.changed"]
    )
    assert.deepStrictEqual([first.waiting, first.nextAt], [2, 1_000 + SETTLE_MS])
    const other = span("x", [3, 4], {}, { parent: "lead" })
    const second = stepTraceFold(first.state, [{ key: keyOf(other), at: 5_900, telemetry: other }], 5_900, OPTIONS)
    const third = stepTraceFold(second.state, [], 6_000, OPTIONS)
    assert.deepStrictEqual(
      third.consumed.map(({ spanId: id }) => id),
      [named.spanId]
    )
    assert.deepStrictEqual(
      third.events.map(({ type }) => type),
      ["participant.seen", "llm.call.completed"]
    )
    assert.deepStrictEqual([third.waiting, third.nextAt], [2, 5_900 + SETTLE_MS])
  })

  it("assumes the service where no agent is known when the trace is silent", () => {
    const { events, end } = runFold([at(1_000, span("c", [1, 2], chat(1, 1), { parent: "gone" }))])
    const [call] = ofType(events, "llm.call.completed")
    assert.strictEqual(call?.data.sender, "shop")
    assert.strictEqual(call && dataOf(call)["attribution"], "assumed")
    assert.strictEqual(end?.endedBecause, "idle")
  })

  it("never attributes again what is appended", () => {
    const child = span("c", [1, 2], chat(1, 1), { parent: "lead" })
    const { events } = runFold([at(1_000, child), at(1_000 + 2 * SETTLE_MS, span("lead", [0, 9], agent("lead")))])
    assert.deepStrictEqual(
      ofType(events, "llm.call.completed").map(({ data }) => data.sender),
      ["shop"]
    )
    assert.deepStrictEqual(
      ofType(events, "participant.seen").map(({ data }) => data.participantId),
      ["shop", "lead"]
    )
  })

  it("appends later spans as late, and does not end again", () => {
    const late = span("late", [5, 6], chat(7, 7), { parent: "lead" })
    const { end, events, state } = runFold([at(1_000, span("lead", [0, 9], agent("lead"))), at(60_000, late)])
    const types = events.map(({ type }) => type)
    assert.isBelow(types.indexOf("run.completed"), types.indexOf("llm.call.completed"))
    assert.lengthOf(
      types.filter((type) => type === "run.completed"),
      1
    )
    assert.strictEqual(dataOf(ofType(events, "llm.call.completed")[0]!)["late"], true)
    assert.deepStrictEqual([end?.status, state.run.status, state.llm.totals.callCount], ["completed", "completed", 1])
  })

  it("counts spans beyond the limit of a run, and appends only those within it", () => {
    const options = { ...OPTIONS, maxSpans: 3 }
    const spans = committee()
    const { events, fold } = runFold([at(1_000, ...spans)], options)
    assert.strictEqual(fold.overflow, spans.length - 3)
    assert.lengthOf(events.filter(isCounted), 1)
  })
})

describe("handoffs", () => {
  it("takes the next agent by start when no target is stated, and says so", () => {
    const spans = [
      span("root", [0, 100], { "gen_ai.operation.name": "invoke_workflow" }),
      span("a", [1, 10], agent("a"), { parent: "root" }),
      span("t", [5, 6], tool("transfer_to_agent"), { parent: "a" }),
      span("c", [30, 40], agent("c"), { parent: "root" }),
      span("b", [20, 25], agent("b"), { parent: "root" })
    ]
    const { events } = foldOf(...spans)
    const handoffs = events.filter((each) => dataOf(each)["messageType"] === "Handoff")
    assert.deepStrictEqual(
      handoffs.map((each) => [dataOf(each)["sender"], dataOf(each)["to"], dataOf(each)["attribution"]]),
      [["a", "b", "assumed"]]
    )
    assert.lengthOf(ofType(events, "tool.called"), 0)
  })

  it.each([
    ["transfer_to_b", {}],
    ["handoff_to_agent", { "gen_ai.tool.call.arguments": '{"agent_name":"b","message":"go"}' }],
    ["Handoff-transfer_to_b", {}],
    ["handoff", { "gen_ai.tool.call.arguments": '{"target":"b"}' }]
  ])("reads the target of the tool %s", (name, more) => {
    assert.deepStrictEqual(
      summary(span("a", [0, 9], agent("a")), span("t", [1, 2], tool(name, more), { parent: "a" })).handoffs,
      ["a > b"]
    )
  })

  it("makes a handoff once, though a link and the node's parent repeat it", () => {
    const link = [{ traceId: TRACE_ID, spanId: spanId("send"), attributes: {} }]
    const spans = [
      span("root", [0, 100], {}),
      span("a", [1, 10], agent("a"), { parent: "root" }),
      span("send", [5, 6], { "message.destination_executor_id": "b" }, { parent: "a", name: "message.send" }),
      span(
        "b",
        [20, 25],
        { ...openInference("AGENT"), "graph.node.id": "b", "graph.node.parent_id": "a" },
        {
          parent: "root",
          links: link
        }
      )
    ]
    assert.deepStrictEqual(summary(...spans).handoffs, ["a > b"])
    assert.deepStrictEqual(summary(...spans.filter(({ name }) => name !== "message.send")).handoffs, ["a > b"])
  })
})
