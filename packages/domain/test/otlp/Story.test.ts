import { assert, describe, it } from "@effect/vitest"
import {
  activePolicy,
  decisionRecord,
  type EventOf,
  forecast,
  type KnownEvent,
  resumeStory,
  type Span,
  stepStory,
  type Telemetry,
  why
} from "@runplane/domain"
import { agent, chat, event, log, openInference, span, spanId, TRACE_ID, tool } from "./support/Spans.ts"
import { IDLE_MS, keyOf, OPTIONS, type Request, runStory, SETTLE_MS, sha256 } from "./support/Stories.ts"
import { isCounted, summaryOf } from "./support/Summary.ts"

const at = (ms: number, ...telemetry: ReadonlyArray<Telemetry>): Request => ({ at: ms, telemetry })
const storyOf = (...telemetry: ReadonlyArray<Telemetry>) => runStory([at(1_000, ...telemetry)])
const summary = (...telemetry: ReadonlyArray<Telemetry>) => summaryOf(storyOf(...telemetry))
const dataOf = ({ recorded: { data } }: KnownEvent) => data
const ofType = <Type extends KnownEvent["type"]>(events: ReadonlyArray<KnownEvent>, type: Type) =>
  events.filter((each): each is EventOf<Type> => each.type === type)

/** A lead that calls a tool, which calls another agent. */
const committee = (): ReadonlyArray<Span> => [
  span("lead", [0, 100], agent("lead")),
  span("call1", [1, 10], chat(100, 10), { parent: "lead" }),
  span("ask", [11, 50], tool("ask_sre"), { parent: "lead" }),
  span("sre", [12, 49], agent("sre"), { parent: "ask" }),
  span("call2", [13, 20], chat(50, 5), { parent: "sre" }),
  span("budget", [21, 30], tool("error_budget"), { parent: "sre", status: "error", statusMessage: "timeout" }),
  span("call3", [51, 60], chat(200, 20), { parent: "lead" })
]

describe("a story", () => {
  it("is in the order of the tree, with the times of the spans", () => {
    const { events } = storyOf(...committee().toReversed())
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
    const { events, state } = storyOf(...committee())
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
    const { facts } = runStory([
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
    const first = stepStory(
      resumeStory({ nodes: [], isCreated: false, isEnded: false }),
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
    const second = stepStory(first.state, [{ key: keyOf(other), at: 5_900, telemetry: other }], 5_900, OPTIONS)
    const third = stepStory(second.state, [], 6_000, OPTIONS)
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
    const { events, end } = runStory([at(1_000, span("c", [1, 2], chat(1, 1), { parent: "gone" }))])
    const [call] = ofType(events, "llm.call.completed")
    assert.strictEqual(call?.data.sender, "shop")
    assert.strictEqual(call && dataOf(call)["attribution"], "assumed")
    assert.strictEqual(end?.endedBecause, "idle")
  })

  it("never attributes again what is appended", () => {
    const child = span("c", [1, 2], chat(1, 1), { parent: "lead" })
    const { events } = runStory([at(1_000, child), at(1_000 + 2 * SETTLE_MS, span("lead", [0, 9], agent("lead")))])
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
    const { end, events, state } = runStory([at(1_000, span("lead", [0, 9], agent("lead"))), at(60_000, late)])
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
    const { events, story } = runStory([at(1_000, ...spans)], options)
    assert.strictEqual(story.overflow, spans.length - 3)
    assert.lengthOf(events.filter(isCounted), 1)
  })
})

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

  it("takes the code of the deepest failure that the root's comes from, without its module path", () => {
    const { end } = storyOf(
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
      [storyOf(coded).end?.errorCode, storyOf(coded).end?.errorMessage, storyOf(root("error")).end?.errorCode],
      ["ValueError", "no", "APPLICATION_ERROR"]
    )
  })

  it("judges spans whose root never came by the last of them, after the idle time", () => {
    const orphan = (id: string, from: number, status: Span["status"]) =>
      span(id, [from, from + 1], agent(id), { parent: "never", status })
    const { end, events } = storyOf(orphan("a", 1, "unset"), orphan("b", 5, "error"))
    assert.deepStrictEqual([end?.status, end?.endedBecause], ["failed", "idle"])
    assert.strictEqual(Date.parse(events.at(-1)?.ts ?? ""), 1_000 + IDLE_MS)
    assert.strictEqual(storyOf(orphan("a", 1, "error"), orphan("b", 5, "unset")).end?.status, "completed")
  })
})

describe("counting", () => {
  const uncounted = (...spans: ReadonlyArray<Telemetry>) =>
    ofType(storyOf(...spans).events, "llm.call.completed").flatMap((call) => {
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
    const { state } = storyOf(...spans)
    assert.deepStrictEqual(
      [state.llm.totals.callCount, state.llm.totals.promptTokens, state.llm.calls.length],
      [1, 10, 1]
    )
  })

  it("counts one of two spans with a response id, the same in any order", () => {
    const twin = (id: string, more = {}) => span(id, [0, 9], chat(10, 1, { "gen_ai.response.id": "r1", ...more }))
    const root = span("root", [0, 10], {})
    const spans = [root, twin("one"), twin("two")]
    assert.lengthOf(uncounted(...spans), 1)
    assert.deepStrictEqual(uncounted(...spans), uncounted(...spans.toReversed()))
    const later = runStory([at(1_000, twin("one")), at(100_000, twin("two"))])
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
    const alone = runStory([at(1_000, details), at(400_000, span("c", [0, 9], chat(10, 1)))])
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
      const { end, events, state } = runStory(spans, { ...OPTIONS, joined: { usage } })
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

describe("handoffs", () => {
  it("takes the next agent by start when no target is stated, and says so", () => {
    const spans = [
      span("root", [0, 100], { "gen_ai.operation.name": "invoke_workflow" }),
      span("a", [1, 10], agent("a"), { parent: "root" }),
      span("t", [5, 6], tool("transfer_to_agent"), { parent: "a" }),
      span("c", [30, 40], agent("c"), { parent: "root" }),
      span("b", [20, 25], agent("b"), { parent: "root" })
    ]
    const { events } = storyOf(...spans)
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

describe("contributions", () => {
  const run = span("root", [0, 100], { "runplane.policy": "policy.default" })
  const contributions = [
    log("lead", 1, "runplane.proposal", { "proposal.id": "p1", option: "ship 2.4", rationale: "tests pass" }),
    log("sre", 2, "runplane.vote", { "proposal.id": "p1", vote: "reject", reason: "no data", confidence: 0.9 }),
    log("lead", 3, "runplane.decision", { action: "hold", positive: false, "proposal.id": "p1" })
  ]
  const spans = [
    run,
    span("lead", [1, 50], agent("lead"), { parent: "root" }),
    span("sre", [2, 40], agent("sre"), { parent: "lead" })
  ]

  it("become a proposal, a vote and a decision of the agents that they are made in", () => {
    const { events, state } = storyOf(...contributions, ...spans)
    const [proposal] = ofType(events, "proposal.created")
    const [vote] = ofType(events, "proposal.updated")
    const [decision] = ofType(events, "decision.finalized")
    assert.deepStrictEqual(
      [proposal?.data.sender, proposal?.data.proposalId, proposal?.data.action, proposal?.data.rationale],
      ["lead", "p1", "ship 2.4", "tests pass"]
    )
    assert.deepStrictEqual(
      [vote?.data.sender, vote?.data.messageType, vote?.data.vote, vote?.data.confidence],
      ["sre", "Vote", "REJECT", 0.9]
    )
    assert.deepStrictEqual([decision?.data.action, decision?.data.outcomePositive], ["hold", false])
    assert.strictEqual(state.decision.current?.action, "hold")
  })

  it("are a deliberation under the registered policy", () => {
    const record = decisionRecord(storyOf(...contributions, ...spans).events)
    assert.deepStrictEqual([record.mode, record.participants.toSorted()], ["decision", ["lead", "sre"]])
    assert.strictEqual(record.commitment?.action, "hold")
    const policy = activePolicy(record)
    assert.deepStrictEqual([policy.policySource, policy.fault], ["registry", undefined])
    assert.deepStrictEqual(
      forecast(record, policy).outcomes.map(({ outcome }) => outcome),
      ["positive", "negative"]
    )
    assert.isAbove(why(record, policy).claims.length, 0)
  })

  it("do not wait when they name their participant, and come as span events too", () => {
    const stated = log("lead", 1, "runplane.proposal", { "proposal.id": "p1", option: "x", participant: "sre" })
    const first = stepStory(
      resumeStory({ nodes: [], isCreated: false, isEnded: false }),
      [{ key: keyOf(stated), at: 1_000, telemetry: stated }],
      1_000,
      OPTIONS
    )
    assert.deepStrictEqual(
      first.events.slice(3).map(({ type }) => type),
      ["participant.seen", "proposal.created"]
    )
    const asEvent = span("lead", [0, 9], agent("lead"), {
      events: [event("runplane.vote", { "proposal.id": "p1", vote: "APPROVE" })]
    })
    assert.strictEqual(ofType(storyOf(asEvent).events, "proposal.updated")[0]?.data.sender, "lead")
  })
})

describe("marks and signals", () => {
  it("makes marks of evaluation results and evaluators", () => {
    const { marks } = storyOf(
      span("a", [0, 9], agent("a"), {
        events: [
          event("gen_ai.evaluation.result", {
            "gen_ai.evaluation.name": "relevance",
            "gen_ai.evaluation.score.value": 0.5,
            "gen_ai.evaluation.score.label": "fair"
          })
        ]
      }),
      span("judge", [1, 2], openInference("EVALUATOR", { "output.value": '{"score":-1,"explanation":"off"}' }), {
        parent: "a"
      }),
      log("a", 1, "gen_ai.evaluation.result", { "gen_ai.evaluation.name": "ok", "gen_ai.evaluation.score.value": true })
    )
    assert.deepStrictEqual(
      marks.map(({ name, participantId, value }) => [name, value, participantId]),
      [
        ["relevance", 0.5, "a"],
        ["ok", true, "a"],
        ["judge", -1, "a"]
      ]
    )
  })

  it("reports plans, guardrails and approvals", () => {
    const { events } = storyOf(
      span("a", [0, 9], agent("a")),
      span(
        "plan",
        [1, 2],
        { "gen_ai.operation.name": "plan", "gen_ai.output.messages": "first the tests" },
        { parent: "a" }
      ),
      span("guard", [2, 3], openInference("GUARDRAIL", { "output.value": '{"tripwire_triggered":true}' }), {
        parent: "a"
      }),
      span("approval", [3, 4], { "gen_ai.operation.name": "request_approval" }, { parent: "a" })
    )
    assert.strictEqual(ofType(events, "progress.reported")[0]?.data.message, "first the tests")
    assert.deepStrictEqual(
      ofType(events, "signal.emitted").map(({ data }) => [data.signalType, data.severity, data.sender]),
      [
        ["guardrail", "warning", "a"],
        ["approval", "info", "a"]
      ]
    )
  })
})
