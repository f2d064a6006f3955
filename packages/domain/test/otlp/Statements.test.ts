import { assert, describe, it } from "@effect/vitest"
import {
  activePolicy,
  decisionRecord,
  forecast,
  type KnownEvent,
  objectAt,
  resumeTraceFold,
  stepTraceFold,
  type Telemetry,
  why
} from "@runplane/domain"
import { dataOf, foldOf, ofType } from "./support/Read.ts"
import { agent, event, log, openInference, span } from "./support/Spans.ts"
import { keyOf, OPTIONS } from "./support/TraceFolds.ts"

const payloadOf = (event: KnownEvent) => objectAt(dataOf(event), "decodedPayload") ?? {}

describe("statements", () => {
  const run = span("root", [0, 100], { "runplane.policy": "policy.default" })
  const statements = [
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
    const { events, state } = foldOf(...statements, ...spans)
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
    const record = decisionRecord(foldOf(...statements, ...spans).events)
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

  it("have the participant of the first proposal as their initiator", () => {
    assert.strictEqual(decisionRecord(foldOf(...statements, ...spans).events).initiator, "lead")
  })

  it("of a span that has others inside are in the order of their times", () => {
    const vote = (at: number) => ({ events: [event("runplane.vote", { "proposal.id": "p1", vote: "approve" }, at)] })
    const { events } = foldOf(
      span("root", [0, 100], agent("lead"), {
        events: [
          event("runplane.proposal", { "proposal.id": "p1", option: "ship" }, 5),
          event("runplane.decision", { action: "ship" }, 90)
        ]
      }),
      span("sre", [10, 20], agent("sre"), { parent: "root", ...vote(15) }),
      span("security", [30, 40], agent("security"), { parent: "root", ...vote(35) })
    )
    const steps = events.filter(({ type }) => type.startsWith("proposal.") || type.startsWith("decision."))
    assert.deepStrictEqual(
      steps.map(({ data, type }) => [type, "sender" in data ? data.sender : ""]),
      [
        ["proposal.created", "lead"],
        ["proposal.updated", "sre"],
        ["proposal.updated", "security"],
        ["decision.finalized", "lead"]
      ]
    )
  })

  it("do not wait when they name their participant, and come as span events too", () => {
    const stated = log("lead", 1, "runplane.proposal", { "proposal.id": "p1", option: "x", participant: "sre" })
    const first = stepTraceFold(
      resumeTraceFold({ nodes: [], isCreated: false, isEnded: false, isProvisional: false }),
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
    assert.strictEqual(ofType(foldOf(asEvent).events, "proposal.updated")[0]?.data.sender, "lead")
  })
})

describe("marks and signals", () => {
  it("makes marks of the model call that is judged: by its response id, else the span or the one around", () => {
    const result = (over: Readonly<Record<string, string>> = {}) =>
      event("gen_ai.evaluation.result", {
        "gen_ai.evaluation.name": "tone",
        "gen_ai.evaluation.score.value": 1,
        ...over
      })
    const { marks } = foldOf(
      span("a", [0, 20], agent("a"), { events: [result(), result({ "gen_ai.response.id": "r1" })] }),
      span(
        "call",
        [1, 9],
        { "gen_ai.operation.name": "chat", "gen_ai.response.id": "r1" },
        { parent: "a", events: [result()] }
      ),
      span("judge", [2, 3], openInference("EVALUATOR", { "output.value": "1" }), { parent: "call" })
    )
    const call = marks.find(({ name }) => name === "judge")?.callSpanId
    assert.isString(call)
    assert.deepStrictEqual(
      marks.map(({ callSpanId, name }) => [name, callSpanId]),
      [
        ["tone", undefined],
        ["tone", call],
        ["tone", call],
        ["judge", call]
      ]
    )
  })

  it("makes marks of evaluation results and evaluators", () => {
    const { marks } = foldOf(
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
    const { events } = foldOf(
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

  it("give a vote without a proposal to the only one, and say where there are none or several", () => {
    const vote = log("sre", 2, "runplane.vote", { vote: "reject", participant: "sre" })
    const proposal = (id: string) => log("lead", 1, "runplane.proposal", { "proposal.id": id, participant: "lead" })
    const votesOf = (...telemetry: ReadonlyArray<Telemetry>) =>
      ofType(foldOf(span("lead", [0, 9], agent("lead")), ...telemetry).events, "proposal.updated").map((one) => [
        one.data.proposalId,
        payloadOf(one)["inferredBy"] ?? payloadOf(one)["problem"]
      ])
    assert.deepStrictEqual(votesOf(proposal("p1"), vote), [["p1", "only proposal"]])
    assert.deepStrictEqual(votesOf(vote, proposal("p1")), [["p1", "only proposal"]])
    const [two = []] = votesOf(proposal("p1"), proposal("p2"), vote)
    assert.strictEqual(two[1], "the vote names no proposal, and the run has 2")
    const [none = []] = votesOf(vote)
    assert.strictEqual(none[1], "the vote names no proposal, and the run has 0")
  })

  it.each<[number | string, Readonly<Record<string, unknown>>]>([
    [0.9, { confidence: 0.9 }],
    [1, { confidence: 1 }],
    [90, { confidence: 0.9, confidenceUnit: "percent" }],
    ["85", { confidence: 0.85, confidenceUnit: "percent" }],
    [250, { droppedConfidence: 250 }],
    [-0.2, { droppedConfidence: -0.2 }]
  ])("have the confidence %s as %o", (confidence, stated) => {
    const vote = log("sre", 2, "runplane.vote", { "proposal.id": "p1", vote: "reject", confidence, participant: "sre" })
    const [found] = ofType(foldOf(span("lead", [0, 9], agent("lead")), vote).events, "proposal.updated")
    const { proposal_id: _, vote: __, ...said } = found === undefined ? {} : payloadOf(found)
    assert.deepStrictEqual(said, stated)
  })
})
