import { assert, describe, it } from "@effect/vitest"
import {
  activePolicy,
  DEFAULT_POLICY,
  decisionRecord,
  PINNED_RELEASE,
  type PolicyText,
  readPolicy
} from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { proposalsOf } from "../../src/view/Decision.ts"
import { flowOf, groupNames, pathOf } from "../../src/view/Flow.ts"
import { jsonLines, jsonMatches, jsonParents, valueAt } from "../../src/view/JsonLines.ts"
import { messagesOf, signalsOf } from "../../src/view/Messages.ts"
import { jsonDifferences, ruleDifferences } from "../../src/view/PolicyDiff.ts"
import { policyWords } from "../../src/view/PolicyWords.ts"
import { tallyMarks, tallyOf } from "../../src/view/Tally.ts"
import { changedVotesParam, turnVote } from "../../src/view/WhatIfState.ts"
import { DECISION, eventsOf, said } from "../support.ts"

const bound = {
  type: "session.bound",
  data: { modeName: "macp.mode.decision.v1", participants: ["lead", "ana", "bob"], initiator: "lead" }
}
const balanced: PolicyText = {
  policyId: "p",
  mode: "macp.mode.decision.v1",
  schemaVersion: 3,
  rules: JSON.stringify({
    voting: { algorithm: "supermajority", threshold: 0.75, quorum: { type: "percentage", value: 60 } },
    objection_handling: { critical_severity_vetoes: true, veto_threshold: 2, critical_objection_action: "hold" },
    evaluation: { required_before_voting: true, minimum_confidence: 0.5 },
    commitment: { authority: "designated_role", designated_roles: ["lead"], require_vote_quorum: true }
  })
}

describe("the differences of two policies", () => {
  const policy = (over: object) => ({
    policyId: "p",
    mode: "macp.mode.decision.v1",
    description: "",
    schemaVersion: 3,
    rules: { voting: { algorithm: "majority", threshold: 0.5 }, commitment: { designated_roles: [] }, ...over }
  })
  const strict = policy({ voting: { algorithm: "majority", threshold: 0.75 }, extra: [1, { deep: null }] })

  it("are the leaves of their JSON, and the rules in words", () => {
    assert.deepStrictEqual(jsonDifferences(policy({}).rules, strict.rules), [
      { at: "/voting/threshold", left: "0.5", right: "0.75" },
      { at: "/extra/0", left: undefined, right: "1" },
      { at: "/extra/1/deep", left: undefined, right: "null" }
    ])
    const [rule, ...others] = ruleDifferences(policy({}), policy({ voting: { algorithm: "unanimous" } }))
    assert.deepStrictEqual(others, [])
    assert.deepInclude(rule, { right: "Every participant must approve." })
    assert.match(rule?.left ?? "", /at least 50 %/)
  })

  it.prop("are none of a value and itself", [Schema.Json], ([value]) => {
    assert.deepStrictEqual(jsonDifferences(value, structuredClone(value)), [])
  })
})

describe("the rules of a policy in words", () => {
  it("says each rule with its numbers, defaults included", () => {
    const { rules } = Result.getOrThrow(readPolicy(balanced, PINNED_RELEASE))
    assert.deepStrictEqual(
      policyWords("decision", rules).map(({ text }) => text),
      [
        "Approvals must be at least 75 % of the votes for and against.",
        "At least 60 % of the participants must vote; an abstention counts as a vote here.",
        "There must be an evaluation with a confidence of at least 50 %.",
        "2 critical objections are a veto: hold the decision.",
        "A negative outcome may not be committed while the votes approve.",
        "Only lead may commit."
      ]
    )
  })

  it("has words for every mode", () => {
    for (const mode of ["decision", "proposal", "task", "handoff", "quorum"] as const) {
      const texts = policyWords(mode, DEFAULT_POLICY.rules)
      assert.isAtLeast(texts.length, 2)
      assert.strictEqual(texts.at(-1)?.text, "Only the initiator commits.")
    }
  })
})

describe("the tally", () => {
  it("lists the votes and the missing voters", () => {
    const events = eventsOf([bound, ...DECISION])
    const run = decisionRecord(events)
    const [row] = tallyOf(proposalsOf(events), run)
    assert.deepStrictEqual(row?.approve, ["ana", "bob"])
    assert.deepStrictEqual(row?.missing, ["lead"])
    const { sessionRules } = activePolicy({ ...run, descriptor: { ...balanced, description: undefined } })
    if (sessionRules === undefined) throw new Error("the policy does not govern")
    assert.deepStrictEqual(tallyMarks(sessionRules), [{ at: 2, text: "quorum 2" }])
  })
})

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

describe("JSON as lines", () => {
  const value = { a: [1, "two", null], "b/c": { deep: true }, empty: {}, long: "x".repeat(1_000) }

  it("writes every value on its line, and finds each again by its pointer", () => {
    const lines = jsonLines(value, () => false)
    assert.strictEqual(lines.length, 12)
    assert.strictEqual(lines.find(({ name }) => name === "long")?.leftOut, 700)
    for (const { pointer } of lines) assert.notStrictEqual(valueAt(value, pointer), undefined)
    assert.strictEqual(valueAt(value, "/b~1c/deep"), true)
    assert.isUndefined(valueAt(value, "/nowhere/else"))
  })

  it("is searched by names and values, closed members too, and opens around what it finds", () => {
    const text = { votes: [{ by: "Ana", reason: "warm" }, { by: "bob" }], "a/b": { ana: 1 }, none: undefined }
    const found = jsonMatches(text, "ANA")
    assert.deepStrictEqual(found, ["/votes/0/by", "/a~1b/ana"])
    for (const pointer of found) assert.notStrictEqual(valueAt(text, pointer), undefined)
    assert.deepStrictEqual([...jsonParents(found)].toSorted(), ["", "/a~1b", "/votes", "/votes/0"])
    assert.deepStrictEqual(jsonMatches(text, ""), [])
    assert.deepStrictEqual(jsonMatches(text, "none"), [])
    assert.deepStrictEqual(jsonMatches("warm", "arm"), [""])
    assert.lengthOf(
      jsonMatches(
        Array.from({ length: 5_000 }, (_, number) => String(number)),
        "1"
      ),
      1_000
    )
  })

  it("leaves out members that are not there", () => {
    const lines = jsonLines({ here: 1, absent: undefined }, () => false)
    assert.deepStrictEqual(
      lines.map(({ name }) => name),
      [undefined, "here", undefined]
    )
  })

  it("writes what is closed on one line", () => {
    const lines = jsonLines(value, (pointer) => pointer === "/a")
    assert.strictEqual(lines.find(({ pointer }) => pointer === "/a")?.text, "[ 3 items ]")
  })

  it("takes any depth", () => {
    let deep: unknown = 1
    for (let level = 0; level < 20_000; level++) deep = [deep]
    assert.strictEqual(jsonLines(deep, () => false).length, 40_001)
  })
})
