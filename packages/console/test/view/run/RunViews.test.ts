import { assert, describe, it } from "@effect/vitest"
import { flowOf, groupNames, pathOf } from "../../../src/view/run/Flow.ts"
import { messagesOf, signalsOf } from "../../../src/view/run/Messages.ts"
import { changedVotesParam, turnVote } from "../../../src/view/run/WhatIfState.ts"
import { DECISION, eventsOf, said } from "../../support.ts"

describe("the votes of what-if in an address", () => {
  it("are read as they were written, and anything else is nothing", () => {
    const votes = [{ participantId: "a,b", proposalId: "p:1", vote: "REJECT" }]
    assert.deepStrictEqual(changedVotesParam.read(changedVotesParam.write(votes) ?? null), votes)
    for (const text of ["", "{", "3", '[["a"]]', "[[1,2,3]]", null]) {
      assert.deepStrictEqual(changedVotesParam.read(text), [])
    }
    assert.isUndefined(changedVotesParam.write([]))
  })

  it("turn to each word that was not cast, and back", () => {
    const once = turnVote([], "ana", "p1", "APPROVE")
    assert.deepStrictEqual(once, [{ participantId: "ana", proposalId: "p1", vote: "REJECT" }])
    const twice = turnVote(once, "ana", "p1", "APPROVE")
    assert.strictEqual(twice[0]?.vote, "ABSTAIN")
    assert.deepStrictEqual(turnVote(twice, "ana", "p1", "APPROVE"), [])
  })
})

describe("the graph", () => {
  const people = ["lead", "ana", "bob"].map((participantId) => ({ participantId }))

  it("counts the messages of each edge, and keeps the positions of nodes while the run grows", () => {
    const events = eventsOf([
      ...DECISION,
      { type: "message.received", data: { messageType: "Note", sender: "ana", to: ["bob"] } }
    ])
    const whole = flowOf(events, people)
    const line = whole.edges.find(({ from, to }) => from === "p:ana" && to === "q:p1")
    assert.deepStrictEqual(line?.types, [
      ["Evaluation", 1],
      ["Vote", 2]
    ])
    assert.isTrue(whole.edges.some(({ from, to }) => from === "p:ana" && to === "p:bob"))
    const last = new Map(whole.nodes.map((node) => [node.id, node]))
    for (let until = 0; until < events.length; until++) {
      for (const node of flowOf(events.slice(0, until), people.slice(0, 2)).nodes) {
        assert.deepStrictEqual([last.get(node.id)?.x, last.get(node.id)?.y], [node.x, node.y])
      }
    }
    const [one, other] = whole.nodes
    if (one === undefined || other === undefined) throw new Error("nothing is drawn")
    assert.match(pathOf(one, other), /^M /)
  })

  it("draws participants that differ in a number as one node, with the sum of their messages", () => {
    const crowd = ["lead", ...Array.from({ length: 6 }, (_, at) => `agent-${at + 1}`), "bob-1"]
    const people = crowd.map((participantId) => ({ participantId }))
    const events = eventsOf(
      crowd.slice(1).map((sender) => ({
        type: "message.received",
        data: { messageType: "Note", sender, messageId: sender, to: ["lead"] }
      }))
    )
    const flow = flowOf(events, people, { nameOf: groupNames(people) })
    assert.deepStrictEqual(
      flow.nodes.map(({ title }) => title),
      ["lead", "agent (6)", "bob-1"]
    )
    assert.deepStrictEqual(
      flow.edges.map(({ count, from }) => [from, count]),
      [
        ["p:agent (6)", 6],
        ["p:bob-1", 1]
      ]
    )
    // A filter keeps a node with those that it exchanged messages with.
    const found = flowOf(events, people, { filter: "BOB" })
    assert.deepStrictEqual(
      found.nodes.map(({ title }) => title),
      ["lead", "bob-1"]
    )
    assert.deepStrictEqual(flowOf(events, people, { filter: "none of these" }).nodes, [])
  })

  it("draws a limited number, and counts the others", () => {
    const crowd = Array.from({ length: 320 }, (_, at) => ({ participantId: `p${at}` }))
    assert.strictEqual(flowOf([], crowd).leftOut, 20)
  })
})

describe("messages and signals", () => {
  it("shows the result of each message", () => {
    const rows = messagesOf(
      eventsOf([
        { type: "message.received", data: { messageType: "Vote", sender: "ana", messageId: "m1", to: "bob" } },
        { type: "message.sent", data: { messageId: "m1", ok: true } },
        { type: "message.sent", data: { messageId: "m1", ok: true, duplicate: true } },
        { type: "message.sent", data: { messageId: "m2", ok: false, errorCode: "X", errorMessage: "no" } },
        { type: "message.send_failed", data: { messageId: "m3", errorCode: "Y" } }
      ])
    )
    assert.deepStrictEqual(
      rows.map(({ fate, messageId, why }) => [messageId, fate, why]),
      [
        ["m1", "accepted", ""],
        ["m1", "repeated", ""],
        ["m2", "refused", "X: no"],
        ["m3", "refused", "Y"]
      ]
    )
    assert.deepStrictEqual(rows[0]?.to, ["bob"])
  })

  it("shows the first acknowledgement of a signal", () => {
    const rows = signalsOf(
      eventsOf([
        said("signal.emitted", "Signal", "ana", { signalType: "alarm", severity: "high" }),
        { ...said("signal.acknowledged", "SignalAck", "bob", {}), subject: { kind: "signal", id: "ana-Signal" } },
        { ...said("signal.acknowledged", "SignalAck", "lead", {}), subject: { kind: "signal", id: "ana-Signal" } }
      ])
    )
    assert.strictEqual(rows.length, 1)
    assert.strictEqual(rows[0]?.acknowledged?.by, "bob")
  })
})
