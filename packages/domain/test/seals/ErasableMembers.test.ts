import { assert, describe, it } from "@effect/vitest"
import {
  activePolicy,
  type CanonicalEvent,
  type Deliberation,
  decisionRecord,
  ERASABLE,
  type EventDraft,
  emptyRunMetrics,
  erasableInEvent,
  erasableInFrame,
  frameText,
  type JsonObject,
  measure,
  projectAll,
  RunId,
  type RunState,
  why
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import { HISTORIES } from "../insight/Histories.ts"
import { goldenFolders, readGolden } from "../otlp/support/Golden.ts"
import { committee, foldOf } from "../otlp/support/Read.ts"
import { runFold } from "../otlp/support/TraceFolds.ts"
import { arbitraryDrafts, arbitraryFrame } from "../support/arbitraries.ts"
import { commits, type Drafts, opened, says, votes } from "../support/deliberations.ts"
import { derived, draft, end, number, RUN_ID, received, textOf } from "../support/events.ts"
import { ack, base64, envelopeFrame, json, normalise, proto } from "../support/frames.ts"
import { bytesOf, erasableIn, whollyErased } from "./erasures.ts"

/** The projection without the texts that it repeats from the events: figures, ids, states and times are left. */
const figuresOf = (state: RunState) => {
  const { intent: _, ...run } = state.run
  const { policyDescription: __, commitmentEvaluations, denials, expectedCommitments, ...policy } = state.policy
  const { current } = state.decision
  return {
    ...state,
    run,
    decision: current && {
      ...current,
      prompt: undefined,
      reasons: [],
      proposals: current.proposals.map((proposal) => ({ ...proposal, reasons: [] }))
    },
    signals: state.signals.signals.map((signal) => ({ ...signal, payload: undefined })),
    progress: state.progress.entries.map((entry) => ({ ...entry, message: "" })),
    policy: {
      ...policy,
      commitmentEvaluations: commitmentEvaluations.map((evaluation) => ({ ...evaluation, reasons: [] })),
      denials: denials?.map((denial) => ({
        ...denial,
        message: "",
        denials: denial.denials.map((reason) => ({ ...reason, message: "" }))
      })),
      expectedCommitments: expectedCommitments?.map((expected) => ({
        ...expected,
        title: undefined,
        description: undefined
      }))
    }
  }
}

/** The record of a decision without its texts. An option is an action, and stays. */
const arithmeticOf = (record: Deliberation) => ({
  ...record,
  intent: undefined,
  context: undefined,
  subject: record.subject === undefined,
  acts: record.acts.map((act) => ({ ...act, reason: undefined })),
  commitment: record.commitment && { ...record.commitment, reason: undefined },
  denials: record.denials.map((denial) => ({
    ...denial,
    text: "",
    denials: denial.denials.map((reason) => ({ ...reason, message: "" }))
  })),
  descriptor: record.descriptor && { ...record.descriptor, description: undefined },
  unopened: record.unopened === undefined,
  models: [...record.models]
})

/** Titles and prompts are the option of an act without a stated one: they are texts then. */
const withoutWordedOptions = (events: ReadonlyArray<CanonicalEvent>, record: ReturnType<typeof arithmeticOf>) => {
  const stated = new Set(
    events.flatMap((event) =>
      (event.type === "proposal.created" || event.type === "proposal.updated") && event.data.action !== undefined
        ? [event.index]
        : []
    )
  )
  return { ...record, acts: record.acts.map((act) => (stated.has(act.index) ? act : { ...act, option: undefined })) }
}

const assertSameArithmetic = (events: ReadonlyArray<CanonicalEvent>) => {
  const erased = events.map(whollyErased)
  assert.deepStrictEqual(figuresOf(projectAll(RUN_ID, erased)), figuresOf(projectAll(RUN_ID, events)))
  const empty = emptyRunMetrics(RunId.make(RUN_ID))
  assert.deepStrictEqual(erased.reduce(measure, empty), events.reduce(measure, empty))
  const [before, after] = [decisionRecord(events), decisionRecord(erased)]
  assert.deepStrictEqual(
    withoutWordedOptions(events, arithmeticOf(after)),
    withoutWordedOptions(events, arithmeticOf(before))
  )
  assert.strictEqual(after.commitment?.positive, before.commitment?.positive)
  assert.strictEqual(after.commitment?.action, before.commitment?.action)
  return { before, after }
}

/** How the decision came about, in figures and in words. */
const explained = (record: Deliberation) => {
  const { rules, summary, tallies, warnings } = why(record, activePolicy(record))
  return { rules, summary, tallies, warnings }
}

const eventsIn = (drafts: Drafts) => number(drafts.flat())
const RUNS = { arbitrary: { runs: 300 }, timeout: 60_000 }

/** Business data, free texts and the arithmetic in one run. */
const BUSINESS: Drafts = [
  received("SessionStart", "lead", { intent: "refund Ann", participants: ["a", "b"], maxSuspendMs: 5, claim: "C-7" }),
  opened({ rules: { voting: { algorithm: "majority" } } }),
  draft("signal.emitted", {
    messageType: "Signal",
    sender: "a",
    data: base64("Ann called"),
    decodedPayload: { signalType: "session.context", severity: "high", confidence: 0.5, data: base64("Ann called") }
  }),
  derived("proposal.created", "Proposal", "lead", {
    proposalId: "p1",
    option: "refund",
    prompt: "shall Ann get 300?",
    rationale: "she waited",
    customer: { name: "Ann", age: 61 }
  }),
  votes("a", "APPROVE"),
  says("b", "Objection", { severity: "critical", reason: "Ann has no receipt", "a/b~c": ["Ann"] }),
  derived("policy.commitment.evaluated", "PolicyCommitmentEvaluated", "b", { decision: "deny", reasons: ["Ann"] }),
  draft("policy.denied", {
    messageType: "PolicyDenied",
    sender: "b",
    errorMessage: "Ann",
    denials: [{ code: "veto", message: "Ann", participants: ["b"] }],
    decodedPayload: { decision: "deny", reasons: ["Ann"] }
  }),
  draft("llm.call.completed", {
    sender: "a",
    model: "m",
    decodedPayload: { model: "m", promptTokens: 3, completionTokens: 4, prompt: "Ann?", response: { text: "Ann!" } }
  }),
  derived("progress.reported", "Progress", "a", { percentage: 5, message: "Ann" }),
  says("a", "TaskComplete", { taskId: "t1", output: "Ann", summary: "Ann" }, "t1"),
  derived("tool.called", "ToolCall", "a", { toolCallId: "t", name: "find", arguments: { who: "Ann" } }),
  draft("artifact.created", { artifactId: "x", kind: "json", label: "Ann", uri: "https://a/Ann", contentSha256: "00" }),
  commits(true),
  draft("run.failed", { status: "failed", error: "Ann", errorCode: "X" }),
  end("run.completed")
]

describe("the erasable members of an event", () => {
  it.prop(
    "leave the figures of any events as they are",
    { drafts: arbitraryDrafts },
    ({ drafts }) => {
      assertSameArithmetic(number(drafts))
    },
    RUNS
  )

  it.prop(
    "leave the figures of what a runtime sends as they are",
    { frames: Arbitrary.array(arbitraryFrame, { maxLength: 12 }) },
    ({ frames }) => {
      assertSameArithmetic(number(frames.flatMap((frame): ReadonlyArray<EventDraft> => normalise(frame).drafts)))
    },
    RUNS
  )

  for (const { drafts, name } of HISTORIES) {
    it(`leave the decision of ${name}`, () => {
      const { after, before } = assertSameArithmetic(eventsIn(drafts))
      assert.deepStrictEqual(explained(after), explained(before))
    })
  }

  it.each(goldenFolders)("leave the figures of the recorded spans %s", (name) => {
    const { requests } = readGolden(name)
    const { events } = runFold(requests.map((telemetry, at) => ({ at: 1_000 + at * 10, telemetry })))
    assert.isNotEmpty(events)
    assertSameArithmetic(events)
  })

  it("leave the figures of a committee that spans report", () => {
    const { events } = foldOf(...committee())
    assert.isNotEmpty(events)
    assertSameArithmetic(events)
  })

  it("take every text about a person out of a run, and leave what is counted", () => {
    const events = eventsIn(BUSINESS)
    assertSameArithmetic(events)
    const left = JSON.stringify(events.map((event) => whollyErased(event).recorded))
    assert.notInclude(left, "Ann")
    assert.notInclude(left, base64("Ann called"))
  })

  it("leave the bytes of the output of a task", () => {
    const { drafts } = normalise(envelopeFrame("TaskComplete", json({ taskId: "t1", output: base64("Ann") })))
    const [answer] = number(drafts).filter(({ type }) => type === "proposal.updated")
    assert(answer?.type === "proposal.updated")
    const erased = whollyErased(answer)
    assert(erased.type === "proposal.updated")
    assert.notInclude(JSON.stringify(erased.recorded), base64("Ann"))
    assert.deepStrictEqual([erased.data.task?.outputBytes, answer.data.task?.outputBytes], [3, 3])
  })

  it("leave it open which proposal is committed where the reason alone says so", () => {
    const [one, other] = ["p1", "p2"].map((about) => says("a", "Proposal", { option: `option ${about}` }, about))
    const committed = (reason: string) => {
      const commitment = { commitmentId: "c1", action: "selected", outcome_positive: true, reason }
      const drafts = [opened(), one ?? [], other ?? [], derived("decision.finalized", "Commitment", "lead", commitment)]
      const { after, before } = assertSameArithmetic(eventsIn(drafts))
      return [before, after].map((record) =>
        (explained(record).tallies ?? []).flatMap(({ isCommitted, proposalId }) => (isCommitted ? [proposalId] : []))
      )
    }
    assert.deepStrictEqual(committed("option p2: 2 approve"), [["p2"], []])
  })

  it("are the members of a payload one by one, by pointers with escapes", () => {
    const event = number([says("b", "Objection", { severity: "low", "a/b~c": 1, 'q"\\': 2, é: null, reason: "no" })])
    const pointers = event.flatMap((each) => erasableIn(textOf(each)))
    assert.deepStrictEqual(
      pointers,
      ["a~1b~0c", 'q"\\', "é", "reason"].map((name) => `/data/decodedPayload/${name}`)
    )
  })

  it("are a payload as a whole only where it has no members", () => {
    const whole = (decodedPayload: JsonObject[string]) =>
      number([draft("tool.called", { sender: "a", decodedPayload })]).flatMap((event) => erasableIn(textOf(event)))
    assert.deepStrictEqual(whole("Ann"), ["/data/decodedPayload"])
    assert.deepStrictEqual(whole(["Ann"]), ["/data/decodedPayload"])
    assert.deepStrictEqual(whole({}), [])
  })

  it("are all members of an event that no reader reads", () => {
    const [event] = number([draft("tool.called", { vote: "yes", a: { b: 1 } })])
    const text = event === undefined ? "" : textOf(event).replace("tool.called", "tool.paused")
    assert.deepStrictEqual(erasableIn(text), ["/data/vote", "/data/a"])
    assert.deepStrictEqual(erasableIn("[]"), [])
  })

  it("are not determined where names are given twice", () => {
    const event = (payload: string) => bytesOf(`{"type":"tool.called","data":{"decodedPayload":${payload}}}`)
    assert.isDefined(erasableInEvent(event('{"who":1,"why":2}')))
    assert.isUndefined(erasableInEvent(event('{"who":1,"why":2,"who":3}')))
    assert.isUndefined(erasableInEvent(event('{"who":1,"\\u0077ho":3}')))
  })

  it("never are ids, votes, confidences, outcomes or usage, whatever the type", () => {
    const payload = {
      ...{ proposalId: "p", proposal_id: "p", vote: "APPROVE", recommendation: "REJECT", severity: "high" },
      ...{ confidence: 1, action: "x", option: "x", outcomePositive: true, outcome_positive: true, messageId: "m" }
    }
    for (const type of Object.keys(ERASABLE)) {
      const text = JSON.stringify({ type, data: { sender: "a", messageId: "m", decodedPayload: payload, payload } })
      const isRead = !/^(?:run|session|participant|artifact|message\.sent|message\.send)/.test(type)
      if (isRead) assert.deepStrictEqual(erasableIn(text), [], type)
    }
    const usage = { model: "m", promptTokens: 1, completionTokens: 1, totalTokens: 2, estimatedCostUsd: 1 }
    const call = JSON.stringify({ type: "llm.call.completed", data: { decodedPayload: usage, ...usage } })
    assert.deepStrictEqual(erasableIn(call), [])
  })
})

describe("the erasable members of a raw frame", () => {
  const pointersOf = (kind: string, payload: JsonObject) =>
    erasableInFrame(bytesOf(frameText({ seq: 1, ts: "t", kind, sourceName: "s" }, JSON.stringify(payload))))?.map(
      ({ pointer }) => pointer
    )

  it("are the bytes of an envelope as one, and the words of an answer", () => {
    const { raw } = normalise(envelopeFrame("Vote", proto({ vote: "APPROVE", reason: "Ann" })))
    assert.deepStrictEqual(pointersOf(raw.kind, raw.payload), ["/payload/envelope/payloadBase64"])
    const error = { code: "X", message: "Ann", sessionId: "s", messageId: "m", details: json({ reasons: ["Ann"] }) }
    const answer = normalise({ kind: "send-ack", ack: ack({ ok: false, error }) }).raw
    assert.deepStrictEqual(pointersOf(answer.kind, answer.payload), [
      "/payload/ack/errorMessage",
      "/payload/ack/error/message",
      "/payload/ack/error/details"
    ])
    const inline = normalise({ kind: "stream-inline-error", error }).raw
    assert.deepStrictEqual(pointersOf(inline.kind, inline.payload), [
      "/payload/error/message",
      "/payload/error/details"
    ])
  })

  it("are every member of a kind that is not listed, and none of what is not a frame", () => {
    assert.deepStrictEqual(pointersOf("later-kind", { a: 1, b: "x" }), ["/payload/a", "/payload/b"])
    assert.isUndefined(erasableInFrame(bytesOf("{}")))
    assert.isUndefined(erasableInFrame(bytesOf('[1,"t","k"]')))
  })
})
