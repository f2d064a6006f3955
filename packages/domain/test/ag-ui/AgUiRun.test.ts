import { AbstractAgent, type BaseEvent, EventType, verifyEvents } from "@ag-ui/client"
import { assert, describe, it } from "@effect/vitest"
import {
  type AgUiFrame,
  breakAgUi,
  type CanonicalEvent,
  emptyRunState,
  finishAgUi,
  isAgUiEnded,
  MAX_AG_UI_STATE,
  openAgUi,
  projectAll,
  type RunState,
  translate
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { from, lastValueFrom, toArray } from "rxjs"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { commits, type Drafts, eventsOf, opened, proposes, says, votes } from "../support/deliberations.ts"
import { draft, end, number, RUN_ID } from "../support/events.ts"

const IDS = { threadId: "thread-1", runId: "ui-run-1" }

/** The frames of a stream that begins at a state and receives its events in batches. */
const streamOf = (
  state: RunState,
  batches: ReadonlyArray<ReadonlyArray<CanonicalEvent>>,
  finish = true
): ReadonlyArray<AgUiFrame> => {
  const [opened, first] = openAgUi(IDS, state)
  const frames = [...first]
  let run = opened
  for (const batch of batches) {
    const [after, next] = translate(run, batch)
    run = after
    frames.push(...next)
  }
  return finish ? [...frames, ...finishAgUi(run)] : [...frames, ...breakAgUi(run, "STOPPED", "the service stops")]
}

const decoded = (frames: ReadonlyArray<AgUiFrame>): Array<BaseEvent> => frames.map(({ json }) => JSON.parse(json))

/** The protocol's own client, fed with these events: it verifies their order and applies them. */
class Recorded extends AbstractAgent {
  readonly events: ReadonlyArray<BaseEvent>
  constructor(events: ReadonlyArray<BaseEvent>) {
    super({ threadId: IDS.threadId })
    this.events = events
  }
  run() {
    return from(this.events)
  }
}

const shownBy = async (frames: ReadonlyArray<AgUiFrame>) => {
  const events = decoded(frames)
  await lastValueFrom(from(events).pipe(verifyEvents(false), toArray()))
  const agent = new Recorded(events)
  await agent.runAgent({ runId: IDS.runId })
  return { state: agent.state, messages: agent.messages }
}

/** Cuts a list into batches at these positions. */
const inBatches = <A>(items: ReadonlyArray<A>, cuts: ReadonlyArray<number>) => {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (items.length + 1)), items.length])].toSorted((a, b) => a - b)
  return at.slice(1).map((to, index) => items.slice(at[index], to))
}

const json = (value: unknown) => JSON.parse(JSON.stringify(value))

const decidedRun = eventsOf(
  opened(),
  proposes("a"),
  says("b", "Evaluation", { recommendation: "APPROVE", confidence: 0.9, reason: "lag is\nsmall" }),
  votes("b", "APPROVE"),
  draft(
    "tool.called",
    { sender: "b", messageType: "ToolCall", decodedPayload: { name: "lag", arguments: { s: 4 } } },
    "t1"
  ),
  draft("tool.completed", { sender: "b", messageType: "ToolResult", decodedPayload: { result: "4 s" } }, "t1"),
  draft("llm.call.completed", { sender: "b", decodedPayload: { promptTokens: 5, completionTokens: 2 } }),
  commits(true),
  end("run.completed")
)

const decision = {
  action: "decision.selected",
  outcomePositive: true,
  proposalId: "c1",
  resolvedBy: "lead",
  reasons: ["counted"]
}

describe("a run as AG-UI events", () => {
  it("is a run with steps, messages, tools, state and an outcome", async () => {
    const frames = streamOf(
      emptyRunState(RUN_ID),
      decidedRun.map((event) => [event])
    )
    const events = decoded(frames)
    const named = (type: EventType) => events.filter((event) => event.type === type)
    assert.deepStrictEqual(events[0], { type: EventType.RUN_STARTED, ...IDS, protocolVersion: "1.0" })
    assert.deepStrictEqual(
      named(EventType.STEP_STARTED).map(({ stepName }) => stepName),
      ["opening", "proposal", "deliberation", "outcome"]
    )
    assert.lengthOf(named(EventType.STATE_SNAPSHOT), 1)
    assert.lengthOf(named(EventType.STATE_DELTA), decidedRun.length)
    const { messages, state } = await shownBy(frames)
    assert.deepStrictEqual(state, json(projectAll(RUN_ID, decidedRun)))
    const texts = messages.filter(({ content }) => content !== undefined && content !== "")
    assert.deepStrictEqual(
      texts.map((message) => ["name" in message ? message.name : message.role, message.content]),
      [
        ["a", "a proposes option of p1"],
        ["b", "b recommends APPROVE with confidence 0.9: lag is\nsmall"],
        ["b", "b votes APPROVE"],
        ["tool", "4 s"],
        ["lead", "lead commits an approval: counted"]
      ]
    )
    const [call] = messages.flatMap((message) => ("toolCalls" in message ? (message.toolCalls ?? []) : []))
    assert.deepStrictEqual(call?.function, { name: "lag", arguments: '{"s":4}' })
    assert.deepStrictEqual(
      named(EventType.CUSTOM).map(({ name }) => name),
      [
        "runplane.session.bound",
        "runplane.proposal.created",
        "runplane.proposal.updated",
        "runplane.proposal.updated",
        "runplane.llm.call.completed",
        "runplane.decision.finalized"
      ]
    )
    const { type, ...last } = events.at(-1) ?? { type: undefined }
    assert.strictEqual(type, EventType.RUN_FINISHED)
    assert.deepStrictEqual(last, {
      ...IDS,
      outcome: { type: "success" },
      result: {
        status: "completed",
        decision
      },
      usage: [{ inputTokens: 5, outputTokens: 2, totalTokens: 7 }]
    })
  })

  it("leaves the tokens out whose sum is not exact, which the client would refuse", async () => {
    const absurd = draft("llm.call.completed", {
      sender: "b",
      decodedPayload: { promptTokens: Number.MAX_SAFE_INTEGER, completionTokens: Number.MAX_SAFE_INTEGER }
    })
    const run = eventsOf(opened(), proposes("a"), absurd, commits(true), end("run.completed"))
    const frames = streamOf(emptyRunState(RUN_ID), [run])
    await shownBy(frames)
    assert.notProperty(decoded(frames).at(-1), "usage")
  })

  it("names the proposal of a vote as soon as there are two, in batches of any size", async () => {
    const events = eventsOf(
      opened(),
      says("a", "Proposal", { option: "go" }, "p1"),
      votes("b", "REJECT", "p1"),
      says("c", "Proposal", { option: "hold" }, "p2"),
      votes("a", "REJECT", "p1"),
      votes("a", "APPROVE", "p2")
    )
    for (const batches of [[events], events.map((event) => [event])]) {
      const { messages } = await shownBy(streamOf(emptyRunState(RUN_ID), batches))
      assert.deepStrictEqual(
        messages.map(({ content }) => content),
        ["a proposes go", "b votes REJECT", "c proposes hold", "a votes REJECT on go", "a votes APPROVE on hold"]
      )
    }
  })

  it("says how it ended", () => {
    const lastOf = (...drafts: Drafts) =>
      decoded(streamOf(emptyRunState(RUN_ID), [eventsOf(opened(), ...drafts)])).at(-1)
    assert.deepInclude(lastOf(end("run.cancelled")), { type: EventType.RUN_FINISHED, outcome: { type: "cancelled" } })
    assert.deepInclude(lastOf(draft("run.failed", { error: "the session expired", errorCode: "SESSION_EXPIRED" })), {
      type: EventType.RUN_ERROR,
      message: "the session expired",
      code: "SESSION_EXPIRED"
    })
    const broken = decoded(streamOf(emptyRunState(RUN_ID), [eventsOf(opened())], false))
    assert.deepStrictEqual(broken.at(-1), { type: EventType.RUN_ERROR, code: "STOPPED", message: "the service stops" })
  })

  it("continues behind an event with the state as of then", async () => {
    for (let from = 0; from <= decidedRun.length; from++) {
      const before = json(projectAll(RUN_ID, decidedRun.slice(0, from)))
      const rest = decidedRun.slice(from)
      const { state } = await shownBy(streamOf(before, [rest]))
      assert.deepStrictEqual(state, json(projectAll(RUN_ID, decidedRun)), `from ${from}`)
    }
    const [opened] = openAgUi(IDS, projectAll(RUN_ID, decidedRun))
    assert.strictEqual(opened.phase, "outcome")
    assert.isTrue(isAgUiEnded(opened))
    const lastOf = (card?: ReadonlyArray<string>) => JSON.parse(finishAgUi(opened, card).at(-1)?.json ?? "")
    assert.deepInclude(lastOf(), { result: { status: "completed", decision } })
    const text = "Approved\na voted for it"
    assert.deepInclude(lastOf(text.split("\n")), { result: { status: "completed", decision: { ...decision, text } } })
  })

  it("has the seq of each event on its last frame, in order", () => {
    const seqs = streamOf(emptyRunState(RUN_ID), inBatches(decidedRun, [3, 5])).flatMap(({ seq }) => seq ?? [])
    assert.deepStrictEqual(
      seqs,
      seqs.toSorted((a, b) => a - b)
    )
    assert.strictEqual(new Set(seqs).size, seqs.length)
  })

  it("leaves out a state that is too large, and says so once", async () => {
    const fat = "x".repeat(4_000)
    const signals = Array.from({ length: 180 }, (_, at) =>
      draft("signal.emitted", { sender: "a", decodedPayload: { signalType: "s", data: fat } }, `s${at}`)
    )
    const frames = streamOf(
      emptyRunState(RUN_ID),
      [...number([...opened(), ...signals])].map((event) => [event])
    )
    const events = decoded(frames)
    const omitted = events.filter(({ name }) => name === "runplane.state.omitted")
    assert.lengthOf(omitted, 1)
    assert.deepInclude(omitted[0]?.value, { runId: RUN_ID, limit: MAX_AG_UI_STATE, href: `/runs/${RUN_ID}/state` })
    const after = events.slice(events.findIndex(({ name }) => name === "runplane.state.omitted"))
    assert.isEmpty(after.filter(({ type }) => type === EventType.STATE_DELTA || type === EventType.STATE_SNAPSHOT))
    const largest = frames.reduce((most, { json }) => Math.max(most, json.length), 0)
    assert.isBelow(largest, MAX_AG_UI_STATE + 1)
  })

  it("bounds texts, arguments and values of any size", () => {
    const huge = "é".repeat(400_000)
    const frames = streamOf(emptyRunState(RUN_ID), [
      eventsOf(
        opened(),
        says("a", "Proposal", { option: huge, rationale: huge }),
        draft("tool.called", { sender: "a", messageType: "ToolCall", decodedPayload: { arguments: { huge } } }, "t1"),
        draft("signal.emitted", { sender: huge, decodedPayload: { signalType: huge, list: [huge, huge] } })
      )
    ])
    for (const { json } of frames) assert.isBelow(Buffer.byteLength(json), 300 * 1024)
    for (const event of decoded(frames).filter(
      ({ type }) => type !== EventType.STATE_SNAPSHOT && type !== EventType.STATE_DELTA
    )) {
      assert.isBelow(Buffer.byteLength(JSON.stringify(event)), 80 * 1024, String(event.type))
    }
  })

  it.prop(
    "passes the protocol's verifier and gives the folded state, for any events in any batches",
    [
      arbitraryDrafts,
      Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))))
    ],
    async ([drafts, cuts]) => {
      const events = number(drafts)
      const { state } = await shownBy(streamOf(emptyRunState(RUN_ID), inBatches(events, cuts)))
      assert.deepStrictEqual(state, json(projectAll(RUN_ID, events)))
    }
  )
})
