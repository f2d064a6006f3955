import { assert, describe, it } from "@effect/vitest"
import { at, boundBy, end, given, received, seen } from "../support/events.ts"

describe("participants", () => {
  it("appear in the order of first sight, idle until their first message", () => {
    const state = given(seen("b", "voter"), seen("a")).when(received("Evaluation", "a"), received("Vote", "c"))
    assert.deepStrictEqual(state.participants, [
      { participantId: "b", role: "voter", status: "idle" },
      { participantId: "a", status: "active", latestActivityAt: at(3), latestSummary: "Evaluation" },
      { participantId: "c", status: "active", latestActivityAt: at(4), latestSummary: "Vote" }
    ])
  })

  it("come in the declared order once the session is bound, whatever the order of earlier messages, and in the graph too", () => {
    const early = [seen("x"), received("Vote", "x"), seen("c"), received("Vote", "c")]
    const state = given(...early).when(boundBy("a", "b", "c"), seen("a"), seen("b"))
    assert.deepStrictEqual(
      state.participants.map(({ participantId, status }) => `${participantId} ${status}`),
      ["a idle", "b idle", "c active", "x active"]
    )
    assert.deepStrictEqual(
      state.graph.nodes.filter(({ kind }) => kind === "participant").map(({ id, status }) => `${id} ${status}`),
      ["a idle", "b idle", "c active", "x active"]
    )
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

  it("are settled when the run completes: completed after a message, else skipped", () => {
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

  it("are settled likewise when it is cancelled, and a received message is not activity", () => {
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

  it("keep their status after the run, and a new sender has completed", () => {
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
