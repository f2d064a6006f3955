import { assert, describe, it } from "@effect/vitest"
import {
  type Act,
  actionLog,
  activePolicy,
  addToBacktest,
  BACKTEST_TYPES,
  type Backtested,
  backtestOf,
  type Changes,
  decisionRecord,
  emptyBacktest,
  isAllowed,
  type PolicyText,
  SESSION_START,
  type WhatIf,
  whatIf
} from "@runplane/domain"
import * as Result from "effect/Result"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { activePolicyOf, arbitraryTalk, arbitraryTerms, placed, talkOf } from "../support/committees.ts"
import {
  commits,
  type Drafts,
  eventsOf,
  governed,
  modeName,
  opened,
  proposes,
  recordOf,
  says,
  votes
} from "../support/deliberations.ts"
import { draft, number } from "../support/events.ts"

const asked = (changes: Changes, ...drafts: Drafts) => {
  const { by, run } = governed(...drafts)
  return whatIf(run, by, changes)
}

const answer = (changes: Changes, ...drafts: Drafts): WhatIf => Result.getOrThrow(asked(changes, ...drafts))

const whyNot = (changes: Changes, ...drafts: Drafts): string =>
  Result.match(asked(changes, ...drafts), { onSuccess: () => "answered", onFailure: ({ message }) => message })

const policy = (rules: object, mode = "*"): PolicyText => ({
  policyId: "policy.other.rules",
  mode,
  schemaVersion: 3,
  rules: JSON.stringify(rules)
})

const majority = { voting: { algorithm: "majority" } }
const history = [
  opened({ rules: majority, participants: ["a", "b", "c"] }),
  proposes("a"),
  votes("a", "APPROVE"),
  votes("b", "APPROVE"),
  votes("c", "REJECT"),
  commits(true)
].flat()

describe("what if", () => {
  it("another policy had governed the run", () => {
    const { after, before, changed } = answer({ policy: policy({ voting: { algorithm: "unanimous" } }) }, history)
    assert.deepStrictEqual(before, { outcome: "positive", allowed: true, reasons: [] })
    assert.deepStrictEqual(after, {
      outcome: "positive",
      allowed: false,
      reasons: ["the votes do not carry a positive outcome: 2 approve, 1 reject (unanimous)"]
    })
    assert.isTrue(changed)
  })

  it("a participant had voted otherwise, or had said nothing", () => {
    assert.isFalse(answer({ votes: [{ participantId: "b", vote: "abstain" }] }, history).changed)
    const two = [
      { participantId: "a", vote: "REJECT" },
      { participantId: "b", vote: "REJECT", proposalId: "p1" }
    ]
    assert.isTrue(answer({ votes: two }, history).changed)
    assert.isFalse(answer({ without: ["c"] }, history).changed)
    // Who proposed takes the proposal along.
    assert.deepStrictEqual(answer({ without: ["a"] }, history).after.reasons, ["nothing is proposed", "no votes cast"])
  })

  it("names whose vote alone turns the verdict, and the fewest that do", () => {
    const { basis, pivotal, smallestChange } = answer({}, history)
    assert.deepStrictEqual(
      pivotal.map(({ participantId, to }) => [participantId, to]),
      [
        ["a", "REJECT"],
        ["b", "REJECT"]
      ]
    )
    assert.deepStrictEqual(smallestChange, [{ participantId: "a", proposalId: "p1", from: "APPROVE", to: "REJECT" }])
    assert.strictEqual(basis, "exact")
  })

  it("works for a quorum, and for many voters by bounds", () => {
    const rules = { threshold: { type: "n_of_m", value: 2 } }
    const quorum = [
      opened({ mode: "quorum", rules }),
      says("lead", "ApprovalRequest", { required_approvals: 2 }, "q1"),
      says("a", "Approve", {}, "q1"),
      says("b", "Approve", {}, "q1"),
      commits(true)
    ].flat()
    assert.deepStrictEqual(answer({}, quorum).smallestChange[0], {
      participantId: "a",
      proposalId: "q1",
      from: "APPROVE",
      to: "REJECT"
    })
    assert.isTrue(answer({ votes: [{ participantId: "b", vote: "REJECT" }] }, quorum).changed)
    const many = Array.from({ length: 30 }, (_, at) => `v${at}`)
    const cast = many.map((voter) => votes(voter, "APPROVE"))
    const crowd = answer({}, opened({ rules: majority, participants: many }), proposes("v0"), cast, [commits(true)])
    assert.deepStrictEqual([crowd.basis, crowd.smallestChange.length], ["bounds", 16])
  })

  it("refuses what cannot be asked, and says why", () => {
    assert.strictEqual(
      whyNot({ votes: [{ participantId: "x", vote: "APPROVE" }] }, history),
      "votes.0.participantId: x does not take part"
    )
    assert.strictEqual(whyNot({ without: ["a", "x"] }, history), "without.1: x does not take part")
    assert.match(whyNot({ votes: [{ participantId: "a", vote: "YEAH" }] }, history), /votes.0.vote: YEAH is not one of/)
    const unknown = { participantId: "a", vote: "APPROVE", proposalId: "p9" }
    assert.strictEqual(whyNot({ votes: [unknown] }, history), "votes.0.proposalId: p9 is not on record")
    assert.match(whyNot({ policy: { ...policy({}), rules: "[]" } }, history), /cannot be read/)
    assert.match(whyNot({ policy: policy({}, "macp.mode.task.v1") }, history), /is for macp.mode.task.v1/)
    const vote = { participantId: "a", vote: "APPROVE" }
    assert.strictEqual(
      whyNot({ votes: [vote] }, opened({ mode: "task" })),
      "votes: a run of the task mode has no votes"
    )
    assert.match(whyNot({ votes: [vote] }, opened(), proposes("a"), proposes("b", "p2")), /which proposal/)
    assert.match(whyNot({ votes: [vote] }, opened()), /nothing is on record/)
    assert.match(whyNot({}), /no event names the policy/)
  })

  it("takes what was committed as allowed when its rules are no longer known", () => {
    const gone = draft("session.state.changed", { policyVersion: "policy.gone" })
    const { after, before, notes } = answer(
      { policy: policy({ voting: { algorithm: "unanimous" } }) },
      opened(),
      gone,
      proposes("a"),
      commits(true)
    )
    assert.deepStrictEqual([before.allowed, after.allowed], [true, false])
    assert.match(notes.join(), /policy.gone were not recorded/)
  })

  it.prop("is total over any events", { drafts: arbitraryDrafts }, ({ drafts }) => {
    const run = decisionRecord(number(drafts))
    whatIf(run, activePolicy(run), { policy: policy(majority), without: run.participants.slice(0, 1) })
    backtestOf(policy(majority))(run)
  })

  it.prop(
    "its smallest change turns the verdict, and no smaller one does",
    { terms: arbitraryTerms(4), talk: arbitraryTalk(8) },
    ({ talk, terms }) => {
      const acts = placed(talkOf(terms, talk))
      const { initiator, participants } = terms
      const run = {
        ...recordOf(),
        modeName: modeName("decision"),
        mode: "decision",
        initiator,
        participants,
        acts
      } as const
      const { after, smallestChange } = Result.getOrThrow(whatIf(run, activePolicyOf("decision", terms), {}))
      const proposals = [...new Set(acts.flatMap(({ proposalId, type }) => (type === "Proposal" ? [proposalId] : [])))]
      const positions = proposals.flatMap((proposalId) => participants.map((by) => ({ by, proposalId })))
      const turns = (votes: ReadonlyArray<Act>) => {
        const kept = acts.filter(
          (act) =>
            act.type !== "Vote" || !votes.some(({ by, proposalId }) => act.by === by && act.proposalId === proposalId)
        )
        return isAllowed(terms, actionLog("decision", [...kept, ...votes], terms.policy.rules), true) !== after.allowed
      }
      const least = leastThatTurns(positions, turns)
      assert.strictEqual(smallestChange.length, least)
    },
    { arbitrary: { runs: 60 } }
  )
})

/** The fewest votes that turn a verdict, by trying every vote on up to three positions; 0 when none do. */
const leastThatTurns = (
  positions: ReadonlyArray<{ readonly by: string; readonly proposalId: string }>,
  turns: (votes: ReadonlyArray<Act>) => boolean
): number => {
  let tried: ReadonlyArray<{ readonly votes: ReadonlyArray<Act>; readonly next: number }> = [{ votes: [], next: 0 }]
  for (let size = 1; size <= positions.length; size += 1) {
    tried = tried.flatMap(({ next, votes }) =>
      positions.slice(next).flatMap((position, at) =>
        ["APPROVE", "REJECT", "ABSTAIN"].map((vote) => {
          const cast: Act = { ...position, type: "Vote", vote, seq: 99, index: 99, ts: "" }
          return { votes: [...votes, cast], next: next + at + 1 }
        })
      )
    )
    if (tried.some(({ votes }) => turns(votes))) return size
  }
  return 0
}

describe("a backtest", () => {
  const run = recordOf(history)
  const unanimous = policy({ voting: { algorithm: "unanimous" } })

  it("says for each run whether the policy would have decided otherwise", () => {
    assert.deepStrictEqual(backtestOf(policy(majority))(run), { kind: "unchanged" })
    assert.deepStrictEqual(backtestOf(unanimous)(run), {
      kind: "flipped",
      runId: run.runId,
      from: "positive",
      to: "negative",
      reasons: ["the votes do not carry a positive outcome: 2 approve, 1 reject (unanimous)"],
      rules: ["voting.algorithm"]
    })
    const skipped = (one: Backtested) => (one.kind === "skipped" ? one.reason : one.kind)
    assert.strictEqual(skipped(backtestOf(unanimous)(recordOf(opened()))), "no decision")
    assert.strictEqual(skipped(backtestOf(policy({}, "macp.mode.task.v1"))(run)), "another mode")
    assert.strictEqual(skipped(backtestOf({ ...unanimous, rules: "{" })(run)), "a policy that cannot be read")
  })

  it.prop("needs no other events than those that it names", { drafts: arbitraryDrafts }, ({ drafts }) => {
    const half = drafts.length >> 1
    const events = eventsOf(history.slice(0, 4), drafts.slice(0, half), history.slice(4), drafts.slice(half))
    const needed = events.filter(
      (event) =>
        event.type !== "unknown" &&
        BACKTEST_TYPES.includes(event.type) &&
        (event.type !== "message.received" || event.data.messageType === SESSION_START)
    )
    const judge = backtestOf(unanimous)
    assert.deepStrictEqual(judge(decisionRecord(needed)), judge(decisionRecord(events)))
  })

  it("adds up what it found", () => {
    const found = [run, run, recordOf(opened())].map(backtestOf(unanimous))
    assert.deepStrictEqual(found.reduce(addToBacktest, emptyBacktest), {
      examined: 3,
      unchanged: 0,
      flipped: 2,
      skipped: { "no decision": 1 },
      byRule: { "voting.algorithm": 2 }
    })
  })
})
