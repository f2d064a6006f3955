import { assert, describe, it } from "@effect/vitest"
import {
  emptyRunMetrics,
  emptyRunState,
  MAX_COMMITMENT_EVALUATIONS,
  MAX_DECISION_PROPOSALS,
  MAX_GRAPH_EDGES,
  MAX_LLM_CALLS,
  MAX_PROGRESS_ENTRIES,
  MAX_SIGNALS,
  MAX_TIMELINE_RECENT,
  measure,
  project,
  projectAll,
  RunMetrics,
  RunState
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { derived, fold, number, RUN_ID, received, reread, seen } from "../support/events.ts"

const isState = Schema.is(RunState)
const isMetrics = Schema.is(RunMetrics)
const throughJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))
const text = (value: unknown) => JSON.stringify(value)

describe("properties of the fold", () => {
  it.prop(
    "is the same live, from the stored events, and from any state on the way",
    { drafts: arbitraryDrafts },
    ({ drafts }) => {
      const events = number(drafts)
      let live = emptyRunState(RUN_ID)
      let resumed = emptyRunState(RUN_ID)
      events.forEach((event, position) => {
        live = project(live, event)
        resumed = project(throughJson(resumed), reread(event))
        assert.strictEqual(text(projectAll(RUN_ID, events.slice(0, position + 1))), text(live))
      })
      assert.strictEqual(text(projectAll(RUN_ID, events.map(reread))), text(live))
      assert.strictEqual(text(resumed), text(live))
    }
  )

  it.prop("yields states that satisfy their schema and survive JSON", { drafts: arbitraryDrafts }, ({ drafts }) => {
    const state = fold(drafts)
    assert.deepStrictEqual(throughJson(state), state)
    assert.isTrue(isState(state))
    assert.strictEqual(state.timeline.totalEvents, drafts.length)
    assert.strictEqual(state.timeline.latestIndex, drafts.length)
  })

  it.prop("measures the same live and from stored events", { drafts: arbitraryDrafts }, ({ drafts }) => {
    const empty = emptyRunMetrics(Schema.decodeUnknownSync(RunMetrics.fields.runId)(RUN_ID))
    const live = number(drafts).reduce<RunMetrics>(measure, empty)
    const stored = number(drafts)
      .map(reread)
      .reduce((metrics, event) => measure(throughJson(metrics), event), empty)
    assert.strictEqual(text(stored), text(live))
    assert.isTrue(isMetrics(live))
    assert.strictEqual(live.eventCount, drafts.length)
  })

  it.prop("never changes the state it is given", { drafts: arbitraryDrafts }, ({ drafts }) => {
    let state = emptyRunState(RUN_ID)
    for (const event of number(drafts)) {
      const before = text(state)
      const next = project(state, event)
      assert.strictEqual(text(state), before)
      state = next
    }
  })

  it.prop(
    "has in the graph one node for each participant, with its status, and no edge twice",
    { drafts: arbitraryDrafts },
    ({ drafts }) => {
      const { graph, participants } = fold(drafts)
      assert.deepStrictEqual(
        graph.nodes.filter(({ kind }) => kind === "participant").map(({ id, status }) => ({ id, status })),
        participants.map(({ participantId, status }) => ({ id: participantId, status }))
      )
      const keys = graph.edges.map(({ from, kind, to }) => text([from, kind, to]))
      assert.strictEqual(new Set(keys).size, keys.length)
      assert.isTrue(graph.edges.every(({ from, to }) => from !== to))
    }
  )
})

describe("caps of the projection", () => {
  const many = Array.from({ length: 1001 }, (_, position) => position)

  it("keep the most recent entries of every list while the counts go on", () => {
    const state = fold(
      many.flatMap((position) => [
        derived("proposal.updated", "Vote", `p${position}`, { proposalId: `p${position}`, vote: "APPROVE" }, "m"),
        derived("policy.commitment.evaluated", "X", "rt", { commitmentId: `c${position}`, decision: "deny" }),
        derived("llm.call.completed", "Signal", "a", { promptTokens: position, completionTokens: 0 }),
        derived("signal.emitted", "Signal", "a", { signalType: `s${position}` }, `s${position}`),
        derived("progress.reported", "Progress", "a", { message: `m${position}` }),
        received("Vote", `v${position}`)
      ])
    )
    const last = many.length - 1
    assert.strictEqual(state.decision.current?.proposals.length, MAX_DECISION_PROPOSALS)
    assert.strictEqual(state.decision.current?.proposals.at(-1)?.participantId, `p${last}`)
    assert.strictEqual(state.policy.commitmentEvaluations.length, MAX_COMMITMENT_EVALUATIONS)
    assert.strictEqual(state.policy.commitmentEvaluations.at(-1)?.commitmentId, `c${last}`)
    assert.strictEqual(state.policy.voteTally?.length, many.length)
    assert.notProperty(state.policy, "voteTallyTruncated")
    assert.strictEqual(state.llm.calls.length, MAX_LLM_CALLS)
    assert.strictEqual(state.llm.totals.callCount, many.length)
    assert.strictEqual(state.llm.totals.promptTokens, (last * (last + 1)) / 2)
    assert.strictEqual(state.signals.signals.length, MAX_SIGNALS)
    assert.strictEqual(state.signals.signals[0]?.id, `s${many.length - MAX_SIGNALS}`)
    assert.strictEqual(state.progress.entries.length, MAX_PROGRESS_ENTRIES)
    assert.strictEqual(state.timeline.recent.length, MAX_TIMELINE_RECENT)
    assert.strictEqual(state.timeline.totalEvents, many.length * 6)
    assert.strictEqual(state.graph.edges.length, MAX_GRAPH_EDGES)
    assert.strictEqual(state.graph.edges.at(-1)?.from, `v${last}`)
  })

  it("hold for the fan-out of a session with a thousand participants", () => {
    const ids = many.map((position) => `p${position}`)
    const state = fold([
      ...ids.map((id) => seen(id)),
      received("SessionStart", "p0", { participants: ids }),
      received("Proposal", "p1")
    ])
    assert.strictEqual(state.graph.edges.length, MAX_GRAPH_EDGES)
    assert.strictEqual(state.participants.filter(({ status }) => status === "waiting").length, 1000)
  })
})
