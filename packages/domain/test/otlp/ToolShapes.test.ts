import { assert, describe, it } from "@effect/vitest"
import { booleanAt, type KnownEvent, objectAt, textAt } from "@runplane/domain"
import { dataOf, foldOf, ofType, summary } from "./support/Read.ts"
import { agent, chat, openInference, span, tool } from "./support/Spans.ts"

const outcomeOf = (event: KnownEvent | undefined) => {
  const data = event === undefined ? {} : dataOf(event)
  const error = objectAt(data, "error") ?? {}
  return [booleanAt(data, "ok"), booleanAt(data, "refused"), textAt(error, "type"), textAt(error, "message")]
}

describe("a tool call", () => {
  it.each([
    ["a status text", { "acme.tool.status": "error", "acme.tool.error_message": "no route" }, "no route"],
    [
      "a level",
      { "langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "no route" },
      "no route"
    ],
    ["no success", { success: false, error: "no route" }, "no route"],
    ["a text of no success", { "tool.success": "false" }, undefined],
    ["a flag of an error", { "tool.is_error": true }, undefined],
    ["a result of MCP", { "gen_ai.tool.call.result": JSON.stringify({ isError: true, content: [] }) }, undefined]
  ])("has failed by %s, though its span is not ERROR", (_, attributes, message) => {
    const called = span("t", [1, 2], { ...tool("scan"), ...attributes }, { parent: "lead" })
    const [completed] = ofType(foldOf(span("lead", [0, 9], agent("lead")), called).events, "tool.completed")
    assert.deepStrictEqual(outcomeOf(completed), [false, undefined, undefined, message])
  })

  it("has the type of its error", () => {
    const called = span("t", [1, 2], { ...tool("scan"), "error.type": "net.TimeoutError" }, { parent: "lead" })
    const [completed] = ofType(foldOf(span("lead", [0, 9], agent("lead")), called).events, "tool.completed")
    assert.deepStrictEqual(outcomeOf(completed), [false, undefined, "TimeoutError", undefined])
  })

  it.each([
    ["a decision", { decision: "reject", reason: "not on a Friday" }],
    ["a permission", { "acme.tool.permission": "denied", "acme.tool.reason": "not on a Friday" }],
    ["a flag", { "acme.approved": false, "acme.error": "not on a Friday" }]
  ])("was refused by %s", (_, attributes) => {
    const called = span("t", [1, 2], { ...tool("deploy"), ...attributes }, { parent: "lead" })
    const [completed] = ofType(foldOf(span("lead", [0, 9], agent("lead")), called).events, "tool.completed")
    assert.deepStrictEqual(outcomeOf(completed), [false, true, "ToolRefused", "not on a Friday"])
  })

  it.each([
    ["a status", { "acme.tool.status": "ok", level: "INFO" }],
    ["a decision", { decision: "accept", success: true }],
    ["a level that is not one of an error", { "langfuse.observation.level": "DEFAULT" }],
    ["texts", { "acme.error": "none so far", status: 200 }]
  ])("has not failed by %s", (_, attributes) => {
    const called = span("t", [1, 2], { ...tool("scan"), ...attributes }, { parent: "lead" })
    const [completed] = ofType(foldOf(span("lead", [0, 9], agent("lead")), called).events, "tool.completed")
    assert.deepStrictEqual(outcomeOf(completed), [true, undefined, undefined, undefined])
  })
})

describe("an agent that stands only in a text", () => {
  const step = (id: string, input: unknown) =>
    span(id, [1, 20], { ...openInference("CHAIN"), "input.value": JSON.stringify(input) }, { parent: "flow" })
  const flow = span("flow", [0, 99], openInference("CHAIN"))
  const call = (id: string, parent: string) => span(id, [2, 9], chat(10, 1), { parent })

  it("is a participant, marked as assumed", () => {
    const found = foldOf(
      flow,
      step("one", { ev: "AgentSetup(input=[...], current_agent_name='security')" }),
      call("c1", "one"),
      step("two", { ev: { current_agent_name: "finance" } }),
      call("c2", "two")
    )
    const seen = ofType(found.events, "participant.seen").map(({ data, recorded }) => [
      data.participantId,
      textAt(recorded.data, "attribution")
    ])
    assert.deepStrictEqual(seen, [
      ["security", "assumed"],
      ["finance", "assumed"]
    ])
    const calls = ofType(found.events, "llm.call.completed")
    assert.deepStrictEqual(
      calls.map(({ data, recorded }) => [data.sender, textAt(recorded.data, "attribution")]),
      [
        ["security", "assumed"],
        ["finance", "assumed"]
      ]
    )
  })

  it("is none without a model call inside, and none that the text leaves open", () => {
    const other = step("one", { ev: "AgentSetup(current_agent_name='security')" })
    assert.deepStrictEqual(summary(flow, other).participants, [])
    const open = step("one", { ev: "AgentSetup(current_agent_name=None)" })
    assert.notInclude(summary(flow, open, call("c1", "one")).participants, "None")
  })
})

describe("texts of an agent under a name of its emitter", () => {
  it("are its input and its output", () => {
    const desk = span("desk", [0, 9], {
      ...agent("desk"),
      "acme.agent_run.input": "ship?",
      "acme.agent_run.output": JSON.stringify([{ role: "assistant", content: "hold" }])
    })
    const { events } = foldOf(desk)
    const texts = ofType(events, "message.received").map(({ recorded }) => {
      const payload = objectAt(recorded.data, "decodedPayload") ?? {}
      return payload["input"] ?? payload["output"]
    })
    assert.deepStrictEqual(texts, ["ship?", [{ role: "assistant", content: "hold" }]])
  })
})
