import { assert, describe, it } from "@effect/vitest"
import { phraseText } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { countTypes, type EventFilter, filterEvents, gistOf, whoOf } from "../../../src/view/events/Events.ts"
import { byParticipant, callsOf, spendingBy } from "../../../src/view/format/Cost.ts"
import { followsAfter } from "../../../src/view/lists/Follow.ts"
import { proposalsOf } from "../../../src/view/run/Decision.ts"
import { keyEventOf } from "../../../src/view/run/KeyEvents.ts"
import { laneEventsOf } from "../../../src/view/run/Lanes.ts"
import { growingNarrative, narrativeLength, narrativeOf } from "../../../src/view/run/Narrative.ts"
import { densityOf, timeScale } from "../../../src/view/run/Strip.ts"
import { DECISION, eventsOf, said } from "../../support.ts"

const decision = eventsOf(DECISION)

describe("the narrative of a run", () => {
  it("has the question, the messages and the end", () => {
    assert.deepStrictEqual(
      narrativeOf(decision).map(({ index, object, verb, who }) => [index, who, verb, object ?? ""]),
      [
        [2, "lead", "opens the session", ""],
        [3, "lead", "proposes", "go"],
        [5, "ana", "recommends", "APPROVE"],
        [6, "ana", "votes", "REJECT"],
        [7, "bob", "objects", ""],
        [8, "ana", "votes", "APPROVE"],
        [9, "policy", "refuses a message of an agent", ""],
        [10, "bob", "votes", "APPROVE"],
        [11, "lead", "commits an approval", ""],
        [12, "run", "is completed", ""]
      ]
    )
  })

  it("keeps the words of the senders, and what they spent before they spoke", () => {
    const [opening, , opinion, vote] = narrativeOf(decision)
    assert.strictEqual(opening?.words, "decide about X")
    assert.strictEqual(opinion?.words, "looks right")
    assert.deepStrictEqual(opinion?.spent, {
      calls: 1,
      tokens: 15,
      costUsd: 0.001,
      guessedCostUsd: 0,
      callsWithoutUsage: 0,
      models: ["m-1"]
    })
    assert.isUndefined(vote?.spent)
  })

  it("marks a changed mind, but not an opinion that a vote follows", () => {
    const changed = narrativeOf(decision).filter(({ changedFrom }) => changedFrom !== undefined)
    assert.deepStrictEqual(
      changed.map(({ changedFrom, index }) => [index, changedFrom]),
      [[8, "REJECT"]]
    )
  })

  it("names the proposal of an answer as soon as there are two, and only then", () => {
    const events = eventsOf([
      said("proposal.created", "Proposal", "lead", { proposalId: "p1", option: "go" }),
      said("proposal.updated", "Vote", "ana", { proposalId: "p1", vote: "REJECT" }),
      said("proposal.created", "Proposal", "lead", { proposalId: "p2", option: "hold" }),
      said("proposal.updated", "Vote", "ana", { proposalId: "p1", vote: "REJECT" }),
      said("proposal.updated", "Objection", "bob", { proposalId: "p2", severity: "high" })
    ])
    const about = [undefined, undefined, undefined, "on go", "to hold"]
    assert.deepStrictEqual(
      narrativeOf(events).map(({ about }) => about && phraseText(about)),
      about
    )
    const grows = growingNarrative()
    grows(events.slice(0, 3), false)
    assert.deepStrictEqual(
      grows(events, false).map(({ about }) => about && phraseText(about)),
      about
    )
  })

  it("names the first thousand proposals by their options, and later ones by their ids", () => {
    const proposals = Array.from({ length: 1_100 }, (_, at) =>
      said("proposal.created", "Proposal", "lead", { proposalId: `p${at}`, option: `option ${at}` })
    )
    const answers = Array.from({ length: 20_000 }, (_, at) =>
      said("proposal.updated", "Vote", "ana", { proposalId: `p${at % 1_100}`, vote: "APPROVE" })
    )
    const events = eventsOf([...proposals, ...answers])
    const narrative = narrativeOf(events)
    assert.strictEqual(phraseText(narrative.at(1_100)?.about ?? []), "on option 0")
    assert.strictEqual(phraseText(narrative.at(1_100 + 1_050)?.about ?? []), "on p1050")
  })

  it("is at each index the begin of the whole narrative", () => {
    const whole = narrativeOf(decision)
    for (let index = 0; index <= decision.length + 1; index++) {
      assert.deepStrictEqual(whole.slice(0, narrativeLength(whole, index)), narrativeOf(decision.slice(0, index)))
    }
  })

  it("has unknown messages, and names of inherited properties", () => {
    const events = eventsOf([
      said("proposal.updated", "constructor", "ana", { proposalId: "p1" }),
      said("proposal.created", "Proposal", "", {}),
      { type: "of.tomorrow", data: { anything: 1 } }
    ])
    assert.deepStrictEqual(
      narrativeOf(events).map(({ verb }) => verb),
      ["sends", "proposes"]
    )
  })
})

describe("the matrix of a decision", () => {
  it("has the last vote of each, and what it had been", () => {
    const [row] = proposalsOf(decision)
    assert.include(row, { id: "p1", by: "lead", title: "go", text: "it is time", votesFor: 2, votesAgainst: 0 })
    assert.deepInclude(row?.stances.get("ana"), { kind: "vote", word: "APPROVE", before: ["REJECT"], index: 8 })
    assert.deepInclude(row?.stances.get("bob"), { kind: "vote", word: "APPROVE", before: [] })
  })

  it("shows the decision at an earlier index", () => {
    const [row] = proposalsOf(decision.slice(0, 7))
    assert.include(row, { votesFor: 0, votesAgainst: 1 })
    assert.deepInclude(row?.stances.get("bob"), { kind: "objection", word: "OBJECTS" })
    assert.lengthOf(proposalsOf(decision.slice(0, 2)), 0)
  })

  it("puts the proposal with most votes first", () => {
    const events = eventsOf([
      said("proposal.created", "Proposal", "lead", { proposalId: "a", option: "first" }),
      said("proposal.created", "Proposal", "lead", { proposalId: "b", option: "second" }),
      said("proposal.updated", "Vote", "ana", { proposalId: "b", vote: "APPROVE" }),
      said("proposal.updated", "Vote", "bob", { proposalId: "unheard of", vote: "APPROVE" })
    ])
    assert.deepStrictEqual(
      proposalsOf(events).map(({ title, votesFor }) => [title, votesFor]),
      [
        ["second", 1],
        ["first", 0]
      ]
    )
  })
})

describe("the list of events", () => {
  it("is filtered by words in payloads, by types, and without types", () => {
    const all: EventFilter = { words: "", types: [], without: [] }
    const indexes = (filter: Partial<EventFilter>) =>
      filterEvents(decision, { ...all, ...filter }).map(({ index }) => index)
    assert.strictEqual(filterEvents(decision, all), decision)
    assert.deepStrictEqual(indexes({ words: "EARLY vote" }), [6])
    assert.deepStrictEqual(indexes({ types: ["decision.finalized", "run.completed"] }), [11, 12])
    assert.deepStrictEqual(indexes({ types: ["run.completed"], without: ["run.completed"] }), [])
    assert.notInclude(indexes({ without: ["proposal.updated"] }), 6)
  })

  it("counts types, and says each event in a line", () => {
    assert.deepStrictEqual(countTypes(decision)[0], ["proposal.updated", 5])
    const line = decision.find(({ type }) => type === "llm.call.completed")
    assert.strictEqual(line && gistOf(line), "uses m-1, 10 + 5 tokens · $0.001")
    assert.strictEqual(line && whoOf(line), "ana")
    const [long] = eventsOf([said("decision.finalized", "Commitment", "lead", { action: `a\n${"x".repeat(10_000)}` })])
    assert.isBelow(long === undefined ? 0 : gistOf(long).length, 300)
  })
})

describe("the strip and the lanes", () => {
  it("mark proposals, votes, refusals, the decision and the end", () => {
    assert.deepStrictEqual(
      decision.flatMap((event) => {
        const keyEvent = keyEventOf(event)
        return keyEvent === undefined ? [] : [`${keyEvent.index} ${keyEvent.kind}`]
      }),
      ["3 proposal", "6 vote", "7 objection", "8 vote", "9 denial", "10 vote", "11 decision", "12 end"]
    )
  })

  it("count events where they happened", () => {
    assert.deepStrictEqual(densityOf([0, 1, 2, 100], 4), [3, 0, 0, 1])
    assert.deepStrictEqual(densityOf([], 2), [0, 0])
    assert.deepStrictEqual(densityOf([5, 5], 2), [2, 0])
  })

  it("draw long pauses short, and keep the order of time", () => {
    const hour = 3_600_000
    const { idle, positions } = timeScale([0, 500, 1_000, hour, hour + 500, hour + 1_000])
    assert.lengthOf(idle, 1)
    assert.strictEqual(idle[0]?.ms, hour - 1_000)
    assert.strictEqual(positions[0], 0)
    assert.strictEqual(positions[5], 1)
    assert.isBelow((positions[3] ?? 1) - (positions[2] ?? 0), 0.25)
    assert.deepStrictEqual(
      positions,
      positions.toSorted((one, other) => one - other)
    )
    assert.deepStrictEqual(timeScale([7]).positions, [0])
  })

  it("have one sign for each message, and none for a stranger's", () => {
    assert.deepStrictEqual(
      laneEventsOf(decision).map(({ kind, who }) => `${who} ${kind}`),
      [
        "lead proposal",
        "ana model",
        "ana opinion",
        "ana vote",
        "bob objection",
        "ana vote",
        "bob vote",
        "lead commitment"
      ]
    )
  })
})

describe("what was spent", () => {
  it("says which calls came without usage", () => {
    const missing = said("llm.call.completed", "Signal", "bob", { model: "m-2", usage: "missing" })
    const spenders = spendingBy(callsOf([...decision, ...eventsOf([missing, missing])]), byParticipant)
    assert.deepStrictEqual(
      spenders.map(({ callsWithoutUsage = 0, key }) => [key, callsWithoutUsage]),
      [
        ["ana", 0],
        ["bob", 2]
      ]
    )
  })

  it("is counted from every call", () => {
    const calls = callsOf([...decision, ...eventsOf([said("llm.call.completed", "Signal", "bob", { model: "m-2" })])])
    assert.lengthOf(calls, 2)
    assert.deepStrictEqual(
      spendingBy(calls, byParticipant).map(({ estimatedCostUsd, key }) => [key, estimatedCostUsd]),
      [
        ["ana", 0.001],
        ["bob", 0]
      ]
    )
  })
})

describe("the narrative of received telemetry", () => {
  const times = { startedAt: "2026-07-01T09:00:01.000Z", endedAt: "2026-07-01T09:00:03.000Z" }
  const telemetry = (type: string, messageType: string, sender: string, data: object, payload: object = {}) => {
    const [event] = eventsOf([
      { type, data: { messageType, sender, decodedPayload: payload, payload, ...times, ...data } }
    ])
    if (event === undefined) throw new Error("no event")
    return { ...event, source: { kind: "runtime" as const, name: "otlp" } }
  }
  const events = [
    telemetry("message.received", "AgentInvoked", "user", { to: "lead" }, { input: "ship it?" }),
    telemetry("tool.completed", "ToolResult", "lead", { ok: false, error: { message: "no answer" } }, { name: "scan" }),
    telemetry("llm.call.completed", "ModelCall", "lead", {}, { model: "m-1", totalTokens: 12 }),
    telemetry("llm.call.completed", "ModelCall", "lead", {}, { model: "m-2", calls: 0 }),
    telemetry("message.received", "Handoff", "lead", { to: "sre" }),
    telemetry("message.received", "AgentAnswered", "lead", { to: "user", ok: true }, { output: "ship" })
  ]
  const itemsOf = (isIngested: boolean) =>
    narrativeOf(events, isIngested).map(({ isJoined, object, verb, who, words }) => [
      who,
      verb,
      object,
      words,
      isJoined
    ])

  it("has the work that agents give each other, at the times of its spans", () => {
    assert.deepStrictEqual(itemsOf(true), [
      ["user", "invokes", "lead", "ship it?", false],
      ["lead", "fails to use", "scan", "no answer", false],
      ["lead", "makes a handoff to", "sre", undefined, false],
      ["lead", "answers", "user", "ship", false]
    ])
    const items = narrativeOf(events, true)
    assert.deepStrictEqual([items[0]?.at, items[1]?.at], [times.startedAt, times.endedAt])
    assert.deepInclude(items.at(-1)?.spent, { tokens: 12, calls: 1, models: ["m-1"] })
  })

  it("is marked in the run of a session, with the model calls", () => {
    const marked = itemsOf(false).filter(([, , , , isJoined]) => isJoined)
    assert.deepStrictEqual(
      marked.map(([, verb, object, words]) => [verb, object, words === undefined]),
      [
        ["fails to use", "scan", false],
        ["uses", "m-1", true],
        ["uses", "m-2", true]
      ]
    )
  })
})

describe("the narrative of a list that grows", () => {
  const lengths = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: decision.length })))

  it.prop("is that of the whole list, whatever it was before", [lengths, Schema.Boolean], ([steps, isIngested]) => {
    const narrativeUpTo = growingNarrative()
    for (const length of steps) {
      const events = decision.slice(0, length)
      assert.deepStrictEqual(narrativeUpTo(events, isIngested), narrativeOf(events, isIngested))
    }
    const others = decision.slice(3)
    assert.deepStrictEqual(narrativeUpTo(others, isIngested), narrativeOf(others, isIngested))
  })
})

describe("a list that follows its newest row", () => {
  const at = (top: number) => ({ top, viewHeight: 500, height: 2_000 })

  it("stops when it is scrolled back, and follows again at its end", () => {
    assert.isFalse(followsAfter(true, 1_500, at(1_400)))
    assert.isFalse(followsAfter(false, 1_000, at(1_400)))
    assert.isTrue(followsAfter(false, 1_000, at(1_480)))
  })

  it("follows while rows are added below", () => {
    assert.isTrue(followsAfter(true, 1_000, at(1_000)))
  })
})
