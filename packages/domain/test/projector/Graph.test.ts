import { assert, describe, it } from "@effect/vitest"
import type { EventDraft } from "@runplane/domain"
import { at, fold, received, seen } from "../support/events.ts"

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
