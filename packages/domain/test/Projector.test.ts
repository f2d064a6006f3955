import { assert, describe, it } from "@effect/vitest"
import {
  type CanonicalEventType,
  type EventDraft,
  emptyRunState,
  type JsonObject,
  projectAll,
  RunState,
  type RunStatus
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { at, derived, draft, fold, given, number, RUN_ID, received, seen } from "./support/events.ts"

const created = draft("run.created", {
  status: "queued",
  modeName: "macp.mode.decision.v1",
  runtimeKind: "rust",
  sessionId: "session-1",
  traceId: "trace-1"
})
const started = draft("run.started", { status: "starting", startedAt: "2026-07-01T09:59:00.000Z" })
const bound = draft("session.bound", {
  sessionId: "session-1",
  initiator: "lead",
  policyVersion: "policy.default",
  contextId: "ctx",
  extensionKeys: ["x"]
})
const stateChanged = (state: string, data: JsonObject = {}) => draft("session.state.changed", { state, ...data })
const end = (type: CanonicalEventType) => draft(type, { endedAt: "2026-07-01T11:00:00.000Z" })
const running = [created, started, bound, stateChanged("OPEN")]
const resolvedStates = ["RESOLVED", "EXPIRED", "CANCELLED"]

describe("the empty state", () => {
  it("has every section and satisfies its schema", () => {
    assert.strictEqual(
      JSON.stringify(emptyRunState("r")),
      '{"run":{"runId":"r","status":"queued"},"participants":[],"graph":{"nodes":[],"edges":[]},"decision":{},' +
        '"signals":{"signals":[]},"progress":{"entries":[]},' +
        '"timeline":{"latestSeq":0,"latestIndex":0,"totalEvents":0,"recent":[]},' +
        '"trace":{"spanCount":0,"linkedArtifacts":[]},' +
        '"outboundMessages":{"total":0,"queued":0,"accepted":0,"rejected":0},' +
        '"policy":{"policyVersion":"","commitmentEvaluations":[]},' +
        '"llm":{"calls":[],"totals":{"callCount":0,"promptTokens":0,"completionTokens":0,"totalTokens":0,"estimatedCostUsd":0}}}'
    )
    assert.isTrue(Schema.is(RunState)(emptyRunState("r")))
  })
})

describe("run", () => {
  const statuses: ReadonlyArray<readonly [string, ReadonlyArray<EventDraft>, RunStatus]> = [
    ["run.created", [created], "queued"],
    ["run.started", [created, started], "starting"],
    ["session.bound", [created, started, bound], "binding_session"],
    ["an OPEN session", running, "running"],
    ["a watched stream", [created, bound, draft("session.stream.opened", { status: "opened" })], "running"],
    ["a SUSPENDED session", [...running, stateChanged("SUSPENDED")], "suspended"],
    ["run.suspended", [...running, draft("run.suspended", {})], "suspended"],
    ["run.resumed", [...running, draft("run.suspended", {}), draft("run.resumed", {})], "running"],
    ["an OPEN session after a suspension", [...running, stateChanged("SUSPENDED"), stateChanged("OPEN")], "running"],
    ["a RESOLVED session", [...running, stateChanged("RESOLVED")], "completed"],
    ["an EXPIRED session", [...running, stateChanged("EXPIRED")], "failed"],
    ["a CANCELLED session", [...running, stateChanged("CANCELLED")], "cancelled"],
    ["a session state with the runtime's prefix", [...running, stateChanged("SESSION_STATE_RESOLVED")], "completed"],
    ["run.completed", [...running, end("run.completed")], "completed"],
    ["run.failed", [...running, end("run.failed")], "failed"],
    ["run.cancelled", [...running, end("run.cancelled")], "cancelled"],
    [
      "the record, whatever the session said",
      [...running, stateChanged("RESOLVED"), end("run.cancelled")],
      "cancelled"
    ],
    ["a Commitment alone", [...running, derived("decision.finalized", "Commitment", "a", {})], "running"],
    [
      "a reconnecting stream",
      [created, bound, draft("session.stream.opened", { status: "reconnecting" })],
      "binding_session"
    ]
  ]
  it.each(statuses)("has after %s the status it tells", (_, events, status) => {
    assert.strictEqual(fold(events).run.status, status)
  })

  it("never leaves a terminal status for one that is not", () => {
    for (const state of resolvedStates) {
      const ended = given(...running, stateChanged(state))
      const status = ended.when().run.status
      for (const late of [
        created,
        started,
        bound,
        stateChanged("OPEN"),
        stateChanged("SUSPENDED"),
        end("run.resumed")
      ]) {
        assert.strictEqual(ended.when(late).run.status, status)
      }
      for (const other of resolvedStates) assert.strictEqual(ended.when(stateChanged(other)).run.status, status)
    }
  })

  it("collects identity and times", () => {
    assert.deepStrictEqual(given(...running).when(end("run.completed")).run, {
      runId: RUN_ID,
      status: "completed",
      modeName: "macp.mode.decision.v1",
      runtimeSessionId: "session-1",
      traceId: "trace-1",
      startedAt: "2026-07-01T09:59:00.000Z",
      initiator: "lead",
      contextId: "ctx",
      extensionKeys: ["x"],
      endedAt: "2026-07-01T11:00:00.000Z"
    })
  })

  it("ends at the time of the session's end until the record tells its own", () => {
    assert.strictEqual(given(...running).when(stateChanged("RESOLVED")).run.endedAt, at(5))
    const both = given(...running).when(stateChanged("RESOLVED"), end("run.completed"))
    assert.strictEqual(both.run.endedAt, "2026-07-01T11:00:00.000Z")
  })

  it("takes maxSuspendMs from the SessionStart, when it is more than 0", () => {
    const start = (maxSuspendMs: number) => fold([received("SessionStart", "lead", { maxSuspendMs })]).run
    assert.strictEqual(start(5000).maxSuspendMs, 5000)
    assert.notProperty(start(0), "maxSuspendMs")
  })

  it("remembers a gap in the history", () => {
    assert.strictEqual(given().when(draft("session.stream.opened", { status: "gap" })).run.historyGap, true)
    assert.notProperty(given().when(draft("session.stream.opened", { status: "opened" })).run, "historyGap")
  })
})

describe("participants", () => {
  it("appear in the order of first sight, idle until they are heard of", () => {
    const state = given(seen("b", "voter"), seen("a")).when(received("Evaluation", "a"), received("Vote", "c"))
    assert.deepStrictEqual(state.participants, [
      { participantId: "b", role: "voter", status: "idle" },
      { participantId: "a", status: "active", latestActivityAt: at(3), latestSummary: "Evaluation" },
      { participantId: "c", status: "active", latestActivityAt: at(4), latestSummary: "Vote" }
    ])
  })

  it("wait when a message is for them: of a SessionStart those it lists, of a Proposal all others", () => {
    const start = given(seen("a")).when(received("SessionStart", "a", { participants: ["a", "b"] }))
    assert.deepStrictEqual(
      start.participants.map(({ participantId, status }) => [participantId, status]),
      [
        ["a", "active"],
        ["b", "waiting"]
      ]
    )
    const proposal = given(seen("a"), seen("b"), seen("c")).when(received("Vote", "c"), received("Proposal", "b"))
    assert.deepStrictEqual(
      proposal.participants.map(({ status }) => status),
      ["waiting", "active", "waiting"]
    )
  })

  it("wait when data.to names them", () => {
    const state = given(seen("a"), seen("b"), seen("c")).when(received("Custom", "a", {}, { to: ["b", "a"] }))
    assert.deepStrictEqual(
      state.participants.map(({ status }) => status),
      ["active", "waiting", "idle"]
    )
  })

  it("are swept when the run completes: completed who was heard of, skipped who was not", () => {
    const state = given(seen("a"), seen("b"), seen("c")).when(
      received("Proposal", "a"),
      received("Vote", "b"),
      end("run.completed")
    )
    assert.deepStrictEqual(
      state.participants.map(({ status }) => status),
      ["completed", "completed", "skipped"]
    )
    assert.deepStrictEqual(
      state.graph.nodes.filter(({ kind }) => kind === "participant").map(({ status }) => status),
      ["completed", "completed", "skipped"]
    )
  })

  it("are swept likewise when it is cancelled, and having been a recipient is no activity", () => {
    const state = given(seen("a"), seen("b")).when(received("Proposal", "a"), end("run.cancelled"))
    assert.deepStrictEqual(
      state.participants.map(({ status }) => status),
      ["completed", "skipped"]
    )
  })

  it("fail in the person of the last active one when the run fails", () => {
    const state = given(seen("a"), seen("b"), seen("c")).when(
      received("Vote", "a"),
      received("Vote", "b"),
      received("Vote", "a"),
      end("run.failed")
    )
    assert.deepStrictEqual(
      state.participants.map(({ status }) => status),
      ["failed", "completed", "skipped"]
    )
  })

  it("keep their status after the run, and who is first heard of then has completed", () => {
    const state = given(seen("a"), seen("b"), received("Vote", "a"), end("run.failed")).when(
      received("Proposal", "a"),
      received("Vote", "b"),
      seen("late"),
      received("Signal", "late")
    )
    assert.deepStrictEqual(
      state.participants.map(({ participantId, status }) => [participantId, status]),
      [
        ["a", "failed"],
        ["b", "skipped"],
        ["late", "completed"]
      ]
    )
  })
})

describe("graph", () => {
  const edges = (...events: ReadonlyArray<EventDraft>) =>
    fold(events).graph.edges.map(({ from, kind, to }) => `${from} -${kind}> ${to}`)
  const nodes = (...events: ReadonlyArray<EventDraft>) =>
    fold(events)
      .graph.nodes.filter(({ kind }) => kind !== "participant")
      .map(({ id, kind, status }) => `${id} ${kind} ${status}`)

  it("draws the start of a session and its fan-out", () => {
    const start = received("SessionStart", "a", { participants: ["a", "b"] })
    assert.deepStrictEqual(edges(start), ["__start -session.bound> a", "a -fanout> b", "a -SessionStart> b"])
    assert.deepStrictEqual(nodes(start), ["__start start completed"])
  })

  it("draws a Proposal and its review", () => {
    const events = [seen("a"), seen("b"), received("Proposal", "a")]
    assert.deepStrictEqual(edges(...events), ["a -proposes> __proposal", "__proposal -review> b", "a -Proposal> b"])
    assert.deepStrictEqual(nodes(...events), ["__start start completed", "__proposal proposal active"])
  })

  it.each(["Vote", "Evaluation", "Objection"])("draws a %s into the decision", (messageType) => {
    const event = received(messageType, "a")
    assert.deepStrictEqual(edges(event), [`a -${messageType.toLowerCase()}> __decision`])
    assert.deepStrictEqual(nodes(event), ["__start start completed", "__decision decision active"])
  })

  it("completes the decision with the Commitment, and never moves it back", () => {
    const events = [
      received("Proposal", "a"),
      received("Vote", "a"),
      received("Commitment", "a"),
      received("Vote", "b")
    ]
    assert.deepStrictEqual(nodes(...events), [
      "__start start completed",
      "__proposal proposal completed",
      "__decision decision completed",
      "__outcome output completed"
    ])
    assert.include(edges(...events), "__decision -commits> __outcome")
  })

  it("refreshes an edge instead of repeating it, and draws none from a node to itself", () => {
    const state = fold([received("Vote", "a"), received("Vote", "a"), received("Custom", "a", {}, { to: "a" })])
    assert.deepStrictEqual(state.graph.edges, [{ from: "a", to: "__decision", kind: "vote", ts: at(2) }])
  })
})

describe("decision", () => {
  const proposal = (payload: JsonObject = {}, sender = "lead") =>
    derived("proposal.created", "Proposal", sender, { proposalId: "p1", option: "ship", ...payload }, "p1")
  const contribution = (messageType: string, sender: string, payload: JsonObject = {}) =>
    derived("proposal.updated", messageType, sender, { proposalId: "p1", ...payload }, "p1")
  const commitment = (payload: JsonObject) => derived("decision.finalized", "Commitment", "lead", payload, "c1")

  it("is absent until something is proposed", () => {
    assert.deepStrictEqual(given().when(received("Proposal", "a")).decision, {})
  })

  it("opens with the proposal and has no outcome yet", () => {
    const { current } = given(bound).when(proposal({ rationale: "because", confidence: 0.4 })).decision
    assert.deepStrictEqual(current, {
      action: "p1",
      confidence: 0.4,
      finalized: false,
      proposalId: "p1",
      prompt: "because",
      reasons: ["because"],
      proposals: [
        {
          participantId: "lead",
          action: "ship",
          confidence: 0.4,
          reasons: ["because"],
          ts: at(2),
          messageType: "Proposal"
        }
      ]
    })
  })

  it("takes the prompt from the initiator's first Proposal only", () => {
    const promptOf = (...events: ReadonlyArray<EventDraft>) => fold(events).decision.current?.prompt
    assert.strictEqual(promptOf(bound, proposal({ prompt: "Q", rationale: "R" })), "Q")
    assert.isUndefined(promptOf(bound, proposal({ prompt: "Q" }, "other")))
    assert.isUndefined(promptOf(proposal({ prompt: "Q" })))
    assert.strictEqual(
      promptOf(bound, proposal({ prompt: "Q" }, "other"), proposal({ prompt: "1" }), proposal({ prompt: "2" })),
      "1"
    )
    assert.strictEqual(promptOf(received("SessionStart", "lead"), proposal({ prompt: "Q" })), "Q")
  })

  it("is as confident as the share of allowing contributions", () => {
    const { current } = given(proposal()).when(
      contribution("Vote", "a", { vote: "APPROVE", reason: "good" }),
      contribution("Vote", "b", { vote: "REJECT" }),
      contribution("Vote", "c", { vote: "ABSTAIN" }),
      contribution("Evaluation", "d", { recommendation: "approve", confidence: 0.7, summary: "s", reasons: ["x", ""] })
    ).decision
    assert.strictEqual(current?.confidence, 2 / 3)
    assert.deepStrictEqual(current?.reasons, ["s"])
    assert.deepStrictEqual(
      current?.proposals.slice(1).map(({ action, confidence, reasons, vote }) => [action, confidence, reasons, vote]),
      [
        ["APPROVE", 1, ["good"], "allow"],
        ["REJECT", 1, [], "deny"],
        ["ABSTAIN", 1, [], undefined],
        ["approve", 0.7, ["s", "x"], "allow"]
      ]
    )
  })

  it("names the event type when a contribution gives no reason, and the message type when it names no action", () => {
    const { current } = given().when(contribution("Withdraw", "a")).decision
    assert.deepStrictEqual(current?.reasons, ["proposal.updated"])
    assert.strictEqual(current?.proposals[0]?.action, "Withdraw")
  })

  it("marks an acceptance that the runtime gave in somebody's name", () => {
    const implicit = (payload: JsonObject, messageId = "m") =>
      fold([
        draft("proposal.updated", { messageType: "HandoffAccept", sender: "b", messageId, decodedPayload: payload })
      ]).decision.current?.proposals[0]?.implicit
    assert.strictEqual(implicit({ implicit: true }), true)
    assert.strictEqual(implicit({}, "implicit-accept:h1"), true)
    assert.isUndefined(implicit({ implicit: false }))
  })

  it("is finalized by the commitment with action, outcome, time and sender", () => {
    const hash = `sha256:${"a".repeat(64)}`
    const { current } = given(bound, proposal({ prompt: "Q" }), contribution("Vote", "a", { vote: "APPROVE" })).when(
      commitment({
        commitmentId: "c1",
        proposalId: "p1",
        action: "decision.selected",
        reason: "majority",
        supersedes: { sessionId: "s0", commitmentHash: hash }
      })
    ).decision
    assert.deepStrictEqual(
      { ...current, proposals: current?.proposals.length },
      {
        action: "decision.selected",
        confidence: 1,
        finalized: true,
        proposalId: "p1",
        outcomePositive: true,
        prompt: "Q",
        resolvedAt: at(4),
        resolvedBy: "lead",
        reasons: ["majority"],
        proposals: 2,
        supersedes: { sessionId: "s0", commitmentHash: hash, canonical: true }
      }
    )
  })

  it.each([
    [{ action: "approve" }, true],
    [{ action: "decision.rejected" }, false],
    [{ action: "step_up" }, null],
    [{ action: "step_up", outcome_positive: true }, true],
    [{ action: "approve", outcomePositive: false }, false],
    [{}, null]
  ])("has with the commitment %j the outcome %s", (payload, outcome) => {
    const state = given().when(commitment(payload))
    assert.strictEqual(state.decision.current?.outcomePositive, outcome)
    assert.strictEqual(state.policy.outcomePositive, outcome)
  })

  it("falls back to the commitment's id, then to the proposal before it, and to default texts", () => {
    const current = (payload: JsonObject) => given(proposal()).when(commitment(payload)).decision.current
    assert.strictEqual(current({ commitmentId: "c1" })?.proposalId, "c1")
    assert.strictEqual(current({})?.proposalId, "p1")
    assert.strictEqual(current({})?.action, "resolved")
    assert.strictEqual(current({})?.reasons.length, 1)
    const supersedes = current({ supersedes: { session_id: "s", commitment_hash: "md5:1" } })?.supersedes
    assert.deepStrictEqual(supersedes, { sessionId: "s", commitmentHash: "md5:1", canonical: false })
  })

  it("keeps the decision final when a vote arrives late", () => {
    const before = given(proposal()).when(commitment({ action: "approve" })).decision.current
    const late = contribution("Vote", "z", { vote: "REJECT" })
    const after = given(proposal(), commitment({ action: "approve" })).when(late).decision.current
    assert.deepStrictEqual({ ...after, proposals: [] }, { ...before, proposals: [] })
    assert.strictEqual(after?.proposals.length, 2)
  })
})

describe("policy", () => {
  const vote = (messageType: string, sender: string, payload: JsonObject = {}) =>
    derived("proposal.updated", messageType, sender, payload, "p1")
  const evaluation = (decision: string) =>
    derived("policy.commitment.evaluated", "PolicyCommitmentEvaluated", "rt", {
      commitmentId: "c1",
      decision,
      reasons: ["r"]
    })

  it("is known from the binding, and better from policy.resolved", () => {
    const resolved = draft("policy.resolved", {
      policyVersion: "v2",
      decodedPayload: {
        description: "D",
        expectedCommitments: [
          { id: "e1", title: "T", requiredRoles: ["voter"] },
          { commitmentId: "e2", description: "d", policyRef: "p" },
          { title: "no id" },
          7
        ]
      }
    })
    assert.strictEqual(given(bound).when().policy.policyVersion, "policy.default")
    const { policy } = given(bound, resolved).when(bound)
    assert.deepStrictEqual(policy, {
      policyVersion: "v2",
      policyDescription: "D",
      resolvedAt: at(2),
      commitmentEvaluations: [],
      expectedCommitments: [
        { id: "e1", commitmentId: "e1", title: "T", requiredRoles: ["voter"] },
        { id: "e2", commitmentId: "e2", description: "d", policyRef: "p" }
      ],
      quorumStatus: "pending"
    })
  })

  it("tallies votes per proposal against half of the participants", () => {
    const { policy } = given(seen("a"), seen("b"), seen("c")).when(
      vote("Vote", "a", { vote: "APPROVE" }),
      vote("Evaluation", "b", { recommendation: "BLOCK" }),
      vote("Vote", "c", { vote: "ABSTAIN" }),
      vote("Accept", "c"),
      vote("TaskAccept", "c"),
      vote("Approve", "c", { proposalId: "p2" })
    )
    assert.deepStrictEqual(policy.voteTally, [
      { commitmentId: "p1", allow: 2, deny: 1, threshold: 2, quorum: { required: 3, cast: 3 } },
      { commitmentId: "p2", allow: 1, deny: 0, threshold: 2, quorum: { required: 3, cast: 1 } }
    ])
    assert.strictEqual(policy.quorumStatus, "pending")
  })

  it("requires only the voters when there are some", () => {
    const { policy } = given(seen("a", "voter"), seen("b"), seen("c")).when(vote("Reject", "a"))
    assert.deepStrictEqual(policy.voteTally, [
      { commitmentId: "p1", allow: 0, deny: 1, threshold: 1, quorum: { required: 1, cast: 1 } }
    ])
  })

  it("counts no vote of a proposal.created", () => {
    const created = derived("proposal.created", "Proposal", "a", { vote: "APPROVE" })
    assert.notProperty(given().when(created).policy, "voteTally")
  })

  it("gives the tally the id of the commitment that names its proposal", () => {
    const events = [
      vote("Accept", "a"),
      derived("decision.finalized", "Commitment", "a", { proposalId: "p1", commitmentId: "c1" })
    ]
    assert.strictEqual(fold(events).policy.voteTally?.[0]?.commitmentId, "c1")
  })

  it("reaches the quorum with an evaluation that allows", () => {
    assert.strictEqual(given().when(evaluation("deny")).policy.quorumStatus, "pending")
    const { policy } = given(evaluation("deny")).when(evaluation("allow"))
    assert.strictEqual(policy.quorumStatus, "reached")
    assert.deepStrictEqual(policy.commitmentEvaluations, [
      { commitmentId: "c1", decision: "deny", reasons: ["r"], ts: at(1) },
      { commitmentId: "c1", decision: "allow", reasons: ["r"], ts: at(2) }
    ])
  })

  it("derives the quorum from a bare commitment", () => {
    const commitment = (action: string) => derived("decision.finalized", "Commitment", "a", { action })
    assert.strictEqual(given().when(commitment("approve")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("step_up")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("reject")).policy.quorumStatus, "failed")
    assert.strictEqual(given(evaluation("allow")).when(commitment("reject")).policy.quorumStatus, "reached")
    assert.strictEqual(given().when(commitment("reject")).policy.resolvedAt, at(1))
  })

  it("misses the quorum when the run fails or is cancelled without an evaluation that allows", () => {
    for (const type of ["run.failed", "run.cancelled"] as const) {
      assert.strictEqual(given().when(end(type)).policy.quorumStatus, "failed")
      assert.strictEqual(given(vote("Accept", "a")).when(end(type)).policy.quorumStatus, "failed")
      assert.strictEqual(given(evaluation("deny")).when(end(type)).policy.quorumStatus, "failed")
      assert.strictEqual(given(evaluation("allow")).when(end(type)).policy.quorumStatus, "reached")
    }
    assert.notProperty(given().when(end("run.completed")).policy, "quorumStatus")
  })

  it("does not fold policy.denied", () => {
    const { policy } = given().when(draft("policy.denied", { decodedPayload: { decision: "deny", reasons: ["r"] } }))
    assert.deepStrictEqual(policy, { policyVersion: "", commitmentEvaluations: [] })
  })
})

describe("telemetry sections", () => {
  const signal = (id: string) =>
    derived("signal.emitted", "Signal", "a", { signalType: "alert", data: "", severity: "high", confidence: 0.5 }, id)

  it("lists signals with their payload and fills in the acknowledgement", () => {
    const ack = derived("signal.acknowledged", "SignalAck", "b", { signalId: "s1" }, "s1")
    const { signals } = given(signal("s1"), signal("s2")).when(
      ack,
      derived("signal.acknowledged", "SignalAck", "c", {}, "s1")
    ).signals
    const entry = {
      name: "alert",
      severity: "high",
      sourceParticipantId: "a",
      confidence: 0.5,
      payload: { signalType: "alert", data: "", severity: "high", confidence: 0.5 }
    }
    assert.deepStrictEqual(signals, [
      { id: "s1", ...entry, ts: at(1), acknowledgedAt: at(3), acknowledgedBy: "b" },
      { id: "s2", ...entry, ts: at(2) }
    ])
  })

  it("ignores an acknowledgement of nothing, and names a signal without type by its message", () => {
    const state = given(derived("signal.emitted", "Signal", "a", {}, "s1")).when(
      derived("signal.acknowledged", "SignalAck", "b", {}, "nowhere")
    )
    assert.strictEqual(state.signals.signals[0]?.name, "Signal")
    assert.notProperty(state.signals.signals[0], "acknowledgedAt")
  })

  it("lists progress", () => {
    const state = given().when(
      derived("progress.reported", "Progress", "a", { percentage: 30, message: "on it" }),
      derived("progress.reported", "TaskFail", "a", { message: "failed" })
    )
    assert.deepStrictEqual(state.progress.entries, [
      { participantId: "a", percentage: 30, message: "on it", ts: at(1) },
      { participantId: "a", message: "failed", ts: at(2) }
    ])
  })

  it("keeps the timeline of every event", () => {
    const state = given(created).when(draft("tool.called", {}, "t1"))
    assert.deepStrictEqual(state.timeline, {
      latestSeq: 20,
      latestIndex: 2,
      totalEvents: 2,
      recent: [
        { id: "event-1", seq: 10, ts: at(1), type: "run.created", subject: { kind: "message", id: "s1" } },
        { id: "event-2", seq: 20, ts: at(2), type: "tool.called", subject: { kind: "message", id: "t1" } }
      ]
    })
  })

  it("counts spans and links each artifact once", () => {
    const artifact = draft("artifact.created", { artifactId: "a1" })
    const traced = { ...artifact, trace: { traceId: "t2", spanId: "s2" } }
    const state = given({ ...created, trace: { traceId: "t1", spanId: "s1" } }).when(traced, artifact, {
      ...artifact,
      trace: { traceId: "t3" }
    })
    assert.deepStrictEqual(state.trace, { traceId: "t3", spanCount: 2, lastSpanId: "s2", linkedArtifacts: ["a1"] })
  })

  it("counts captured messages", () => {
    const state = given().when(
      received("Vote", "a"),
      draft("message.received", { messageType: "Signal", messageId: "", sender: "a" }),
      draft("message.sent", { ok: true }),
      draft("message.sent", { ok: false }),
      draft("message.send_failed", {})
    )
    assert.deepStrictEqual(state.outboundMessages, { total: 4, queued: 0, accepted: 2, rejected: 2 })
  })

  it("lists LLM calls and adds them up", () => {
    const call = { promptTokens: 10, completionTokens: 5, totalTokens: 15, estimatedCostUsd: 0.25 }
    const state = given().when(
      derived("llm.call.completed", "Signal", "a", { model: "m", ...call, latencyMs: 9, artifactId: "x" }, "m1"),
      derived("llm.call.completed", "Signal", "b", call, "m2")
    )
    assert.deepStrictEqual(state.llm, {
      calls: [
        {
          participantId: "a",
          model: "m",
          promptTokens: 10,
          completionTokens: 5,
          totalTokens: 15,
          latencyMs: 9,
          ts: at(1),
          messageId: "m1",
          artifactId: "x",
          estimatedCostUsd: 0.25
        },
        {
          participantId: "b",
          promptTokens: 10,
          completionTokens: 5,
          totalTokens: 15,
          ts: at(2),
          messageId: "m2",
          estimatedCostUsd: 0.25
        }
      ],
      totals: { callCount: 2, promptTokens: 20, completionTokens: 10, totalTokens: 30, estimatedCostUsd: 0.5 }
    })
  })
})

describe("the fold", () => {
  it("keeps sections that an event does not touch the same objects", () => {
    const before = given(...running).when()
    const after = projectAll(RUN_ID, number([...running, draft("tool.called", {})]))
    assert.deepStrictEqual({ ...after, timeline: before.timeline }, before)
  })

  it("folds events with missing or foreign data without failing", () => {
    for (const data of [{}, { messageType: 5, sender: [], decodedPayload: "x", payload: null, to: {} }]) {
      for (const type of CANONICAL) assert.strictEqual(fold([draft(type, data)]).timeline.totalEvents, 1)
    }
  })
})

const CANONICAL: ReadonlyArray<CanonicalEventType> = [
  "run.created",
  "session.bound",
  "session.state.changed",
  "participant.seen",
  "message.received",
  "message.sent",
  "signal.emitted",
  "signal.acknowledged",
  "proposal.created",
  "proposal.updated",
  "decision.finalized",
  "progress.reported",
  "policy.resolved",
  "policy.commitment.evaluated",
  "llm.call.completed",
  "artifact.created"
]
