import { assert, describe, it } from "@effect/vitest"
import { reasonedCard, type Why, why, whyHtml, whyMarkdown } from "@runplane/domain"
import { activePolicyOf, arbitraryTalk, arbitraryTerms, placed, talkOf } from "../support/committees.ts"
import {
  commits,
  type Drafts,
  governed,
  modeName,
  opened,
  proposes,
  recordOf,
  says,
  votes
} from "../support/deliberations.ts"
import { derived, stateChanged } from "../support/events.ts"
import { HISTORIES } from "./Histories.ts"

const whyOf = (drafts: Drafts): Why => {
  const { by, run } = governed(...drafts)
  return why(run, by)
}

// docs/reference/decisions.md#tallies
describe("what a product owner may read aloud", () => {
  it.each(HISTORIES)("$name", ({ drafts, rules = {}, summary, tallies = [], warnings = [] }) => {
    const explained = whyOf(drafts)
    const texts = Object.fromEntries(explained.rules.map(({ rule, text }) => [rule, text]))
    const said = {
      summary: explained.summary,
      rules: Object.fromEntries(Object.keys(rules).map((rule) => [rule, texts[rule]])),
      tallies: (explained.tallies ?? []).map(({ text }) => text),
      warnings: explained.warnings
    }
    assert.deepStrictEqual(said, { summary, rules, tallies: [...tallies], warnings })
  })
})

const go = says("a", "Proposal", { option: "go" }, "p1")
const hold = says("b", "Proposal", { option: "hold" }, "p2")
const three = opened({ rules: { voting: { algorithm: "majority" } } })
const rejects = ["a", "b", "c"].flatMap((by) => [votes(by, "REJECT", "p1"), votes(by, "APPROVE", "p2")])
const commitment = (more: Readonly<Record<string, string>>, positive = true) =>
  derived("decision.finalized", "Commitment", "lead", {
    commitmentId: "c1",
    action: "decision.selected",
    outcome_positive: positive,
    ...more
  })

describe("the proposal of a commitment", () => {
  it.each<readonly [name: string, drafts: Drafts, proposalId: string | undefined]>([
    ["its id", [go, hold, commitment({ action: "p2" })], "p2"],
    ["its option, in any case", [go, hold, commitment({ action: " Hold " })], "p2"],
    ["the begin of the reason", [go, hold, commitment({ reason: "hold: 3 approve, 0 reject" })], "p2"],
    ["a field of its own", [go, hold, commitment({ proposal_id: "p1" })], "p1"],
    ["nothing", [go, hold, commitment({ reason: "all agreed" })], undefined],
    ["two alike", [go, says("b", "Proposal", { option: "go" }, "p2"), commitment({ action: "go" })], undefined],
    ["a decline that names the other option", [go, hold, commitment({ reason: "hold: later" }, false)], undefined],
    ["the only proposal", [go, commitment({})], "p1"]
  ])("is known by %s", (_, drafts, proposalId) => {
    const explained = whyOf([three, ...drafts])
    assert.strictEqual(explained.outcome?.proposalId, proposalId)
    const committed = explained.tallies?.flatMap((tally) => (tally.isCommitted ? [tally.proposalId] : []))
    assert.deepStrictEqual(committed, proposalId === undefined ? [] : [proposalId])
  })
})

describe("a commitment against its voters", () => {
  const drafts = [three, go, hold, ...rejects, commitment({ action: "go" })]
  const against = whyOf(drafts)

  it("is marked in the facts, in the title and in a warning of each page", () => {
    assert.isTrue(against.outcome?.againstVotes)
    const { by, run } = governed(...drafts)
    const record = reasonedCard(run, by)
    assert.match(whyMarkdown(record), /^# Approved against its votes: go$/m)
    for (const page of [whyMarkdown(record), whyHtml(record)]) {
      assert.match(page, /\bthe voters rejected go \(0 approve, 3 reject\), and it was committed/i)
      assert.notInclude(page, "carried by")
    }
  })

  it("is not said of the proposal that they approved, nor of a commitment that names none", () => {
    for (const action of ["hold", "decision.selected"]) {
      const explained = whyOf([three, go, hold, ...rejects, commitment({ action })])
      assert.deepStrictEqual(explained.warnings, [])
      assert.notProperty(explained.outcome, "againstVotes")
    }
  })

  it("has the exact figures of each proposal, and of the policy", () => {
    assert.deepStrictEqual(against.tallies, [
      {
        proposalId: "p1",
        option: "go",
        isCommitted: true,
        approve: 0,
        reject: 3,
        abstain: 0,
        text: "on go: 0 approve, 3 reject"
      },
      {
        proposalId: "p2",
        option: "hold",
        isCommitted: false,
        approve: 3,
        reject: 0,
        abstain: 0,
        text: "on hold: 3 approve, 0 reject"
      }
    ])
    assert.deepStrictEqual(against.counted, {
      algorithm: "majority",
      threshold: 0.5,
      proposals: 2,
      approve: 3,
      reject: 3,
      abstain: 0,
      passes: true,
      text: "3 approve, 3 reject, majority 0.5"
    })
    assert.include(
      against.notes,
      "the policy counts the votes on 2 proposals together: 3 approve, 3 reject, majority 0.5"
    )
  })
})

describe("figures", () => {
  it("count a vote as it was at the commitment, not as it was changed afterwards", () => {
    const explained = whyOf([three, go, votes("a", "APPROVE"), commits(true), votes("a", "REJECT")])
    assert.deepStrictEqual(
      explained.tallies?.map(({ text }) => text),
      ["1 approve, 0 reject"]
    )
    assert.match(explained.summary, /^carried by 1 vote to 0; 2 of 3 did not vote/)
    assert.deepStrictEqual(
      explained.voting?.map(({ notVoted }) => notVoted),
      [["b", "c"]]
    )
  })

  it("of weights are free of the rounding errors of their sum, and those without a weight count as nothing", () => {
    const weights = { a: 0.1, b: 0.2 }
    const explained = whyOf([
      opened({ rules: { voting: { algorithm: "weighted", weights } }, runtimeVersion: "0.13.0" }),
      go,
      ...["a", "b"].map((by) => votes(by, "APPROVE")),
      votes("c", "REJECT"),
      commits(true)
    ])
    assert.match(explained.summary, /^carried by weight: 0.3 for, 0 against \(2 approve, 1 reject\)/)
  })

  it("are not compared with participants while no event declares them", () => {
    const bound = opened({ rules: { voting: { algorithm: "majority" } } }).filter(
      ({ type }) => type !== "session.bound"
    )
    const explained = whyOf([...bound, proposes(), votes("a", "APPROVE"), votes("b", "APPROVE"), commits(true)])
    assert.match(explained.summary, /^carried by 2 votes to 0; without/)
  })

  it("leave out the tallies of early proposals, and say how many", () => {
    const many = Array.from({ length: 30 }, (_, at) => says("a", "Proposal", { option: `o${at}` }, `p${at}`))
    const explained = whyOf([three, ...many, votes("a", "APPROVE", "p0"), commitment({ action: "o0" })])
    assert.deepStrictEqual(explained.tallies?.map(({ proposalId }) => proposalId).slice(0, 2), ["p0", "p10"])
    assert.include(explained.notes, "the tallies of 9 earlier proposals are left out")
  })

  it("cite a proposal by its id where its option is long or has lines", () => {
    for (const option of ["x".repeat(61), "go\nCarried by all", ""]) {
      const explained = whyOf([three, says("a", "Proposal", { option }, "p1"), hold, stateChanged("EXPIRED")])
      assert.deepStrictEqual(
        explained.tallies?.map(({ text }) => text),
        ["on p1: 0 approve, 0 reject", "on hold: 0 approve, 0 reject"]
      )
    }
  })

  it("name ten participants at most", () => {
    const participants = Array.from({ length: 30 }, (_, at) => `agent-${at}`)
    const explained = whyOf([
      opened({ rules: { voting: { algorithm: "unanimous" } }, participants }),
      proposes("agent-0"),
      ...participants.map((by) => votes(by, "APPROVE")),
      commits(true)
    ])
    assert.match(
      explained.summary,
      /^carried by 30 of 30; without any one of agent-0, .*agent-9 and 20 more it would not stand$/
    )
  })

  it.prop(
    "count participants against each other only where all of them voted for or against, and alike",
    { terms: arbitraryTerms(5), talk: arbitraryTalk(14) },
    ({ talk, terms }) => {
      const acts = placed(talkOf(terms, talk))
      for (const positive of [true, false]) {
        const at = { seq: 99, index: 99, ts: "2026-07-01T10:00:00.000Z" }
        const outcome = { positive, evaluatedPositive: positive, reason: undefined, proposalId: undefined }
        const { initiator, participants } = terms
        const run = {
          ...recordOf(),
          modeName: modeName("decision"),
          mode: "decision",
          areDeclared: true,
          participants,
          initiator,
          acts,
          commitment: { ...at, by: "a", action: "x", ...outcome }
        } as const
        const explained = why(run, activePolicyOf("decision", terms))
        const headline = /^(carried|rejected) by (\d+) of (\d+)/.exec(explained.summary)
        if (headline === null) continue
        const [, verb, won, all] = headline
        const counted = explained.counted
        assert.deepInclude(counted, { proposals: 1, abstain: 0, passes: positive })
        assert.notProperty(counted, "weights")
        assert.strictEqual(verb, positive ? "carried" : "rejected")
        assert.strictEqual(positive ? counted?.approve : counted?.reject, Number(won))
        assert.strictEqual((counted?.approve ?? 0) + (counted?.reject ?? 0), Number(all))
        assert.strictEqual(Number(all), participants.length)
        assert.isAbove(2 * Number(won), Number(all))
        assert.notProperty(explained.outcome, "againstVotes")
      }
    },
    { arbitrary: { runs: 300 } }
  )
})
