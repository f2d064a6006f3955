import { assert, describe, it } from "@effect/vitest"
import {
  agentVote,
  decisionRecord,
  type JsonObject,
  MAX_SHADOW_ACTS,
  SHADOW_NOTE,
  type ShadowActs,
  shadowFactOf,
  shadowName,
  whatIf,
  why,
  withShadow
} from "@runplane/domain"
import { commits, type Drafts, eventsOf, governed, opened, proposes, votes } from "../support/deliberations.ts"
import { draft } from "../support/events.ts"

const act = (type: string, vote?: string, more: JsonObject = {}) => ({
  type,
  subject: "p1",
  ...(vote !== undefined && { vote }),
  ...more
})
const shadowed = (acts: ReadonlyArray<JsonObject>, as = "b", agent = "new") =>
  draft("artifact.created", {
    artifactId: "x",
    kind: "shadow.acts",
    label: shadowName(as, agent),
    shadow: { shadow: shadowName(as, agent), as, agent, status: "acted", acts: [...acts] }
  })

const majority = { voting: { algorithm: "majority" } }
const history: Drafts = [
  opened({ rules: majority }),
  proposes("a"),
  votes("a", "APPROVE"),
  votes("b", "APPROVE"),
  votes("c", "REJECT"),
  commits(true)
]
const voteOf = (name: string, ...drafts: Drafts) => {
  const { by, run } = governed(...drafts)
  return agentVote(run, by, name)
}

describe("the vote of a shadow", () => {
  it("counts under its own name, as if it had been cast in place of its participant's", () => {
    const drafts = [...history, shadowed([act("Vote", "REJECT")])]
    assert.deepInclude(voteOf("b~new", ...drafts), { isForOutcome: false, isAgainstMajority: false })
    assert.deepInclude(voteOf("b", ...drafts), { isForOutcome: true })
    // Two against one with it: the opposite vote of the shadow would carry.
    assert.deepInclude(voteOf("b~new", ...history, shadowed([act("Vote", "APPROVE")])), {
      isForOutcome: true,
      isPivotal: true
    })
  })

  it("has its own confidence and costs", () => {
    const call = draft("llm.call.completed", {
      sender: "b~new",
      decodedPayload: { model: "m", calls: 0 },
      shadow: { calls: 1, totalTokens: 30, estimatedCostUsd: 0.25 }
    })
    const evaluation = act("Evaluation", undefined, { recommendation: "REJECT", confidence: 0.7 })
    const vote = voteOf("b~new", ...history, call, shadowed([evaluation, act("Vote", "REJECT")]))
    assert.deepInclude(vote, { confidence: 0.7, costUsd: 0.25 })
    assert.deepInclude(voteOf("b", ...history, call), { costUsd: 0 })
  })

  it.each([
    ["an abstention", [act("Vote", "ABSTAIN")]],
    ["a vote on another proposal", [{ type: "Vote", subject: "p9", vote: "REJECT" }]],
    ["an evaluation alone", [act("Evaluation")]],
    ["no act", []]
  ])("does not exist of %s", (_, acts) => {
    assert.isUndefined(voteOf("b~new", ...history, shadowed(acts)))
  })

  it("changes nothing of the run: its acts, its why, its costs and what another vote would have changed", () => {
    const events = eventsOf(...history)
    const without = decisionRecord(events)
    const call = draft("llm.call.completed", {
      sender: "b~new",
      decodedPayload: { calls: 0 },
      shadow: { calls: 1, totalTokens: 9, estimatedCostUsd: 1 }
    })
    const { by, run } = governed(...history, call, shadowed([act("Vote", "REJECT")]))
    const { acts, commitment, participants, spending } = run
    assert.deepStrictEqual(
      { acts, commitment, participants, spending },
      {
        acts: without.acts,
        commitment: without.commitment,
        participants: without.participants,
        spending: without.spending
      }
    )
    const before = governed(...history)
    const saidOf = ({ run, by }: typeof before) => {
      const { claims, cost, notes } = why(run, by)
      return { claims, cost, notes }
    }
    assert.isNotEmpty(saidOf(before).claims)
    assert.deepStrictEqual(saidOf({ run, by }), saidOf(before))
    assert.deepStrictEqual(whatIf(run, by, {}), whatIf(before.run, before.by, {}))
  })

  it("keeps what its participant has proposed, which others have answered", () => {
    const { run } = governed(
      opened({ rules: majority }),
      proposes("b"),
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      commits(true),
      shadowed([act("Vote", "REJECT")])
    )
    const shadow = run.shadows.get("b~new")
    assert.isDefined(shadow)
    if (shadow === undefined) return
    assert.deepStrictEqual(
      withShadow(run, shadow).acts.map(({ by, type, vote }) => [by, type, vote]),
      [
        ["b", "Proposal", undefined],
        ["a", "Vote", "APPROVE"],
        ["b", "Vote", "REJECT"]
      ]
    )
  })

  it("is read once, and never from data of another form", () => {
    const twice = governed(...history, shadowed([act("Vote", "REJECT")]), shadowed([act("Vote", "APPROVE")]))
    assert.strictEqual(twice.run.shadows.get("b~new")?.acts[0]?.vote, "REJECT")
    const broken: ReadonlyArray<JsonObject> = [
      { kind: "shadow.acts" },
      { kind: "shadow.acts", shadow: 7 },
      { kind: "shadow.acts", shadow: { shadow: "b~new", as: "b", agent: "new", status: "odd" } },
      { kind: "report", shadow: { shadow: "b~new", as: "b", agent: "new", status: "acted", acts: [] } }
    ]
    for (const data of broken) {
      assert.strictEqual(governed(...history, draft("artifact.created", data)).run.shadows.size, 0)
    }
    const many = Array.from({ length: MAX_SHADOW_ACTS + 5 }, () => 7)
    const data = { shadow: "b~new", as: "b", agent: "new", status: "acted", acts: [...many, { type: "Vote" }] }
    const bounded = governed(...history, draft("artifact.created", { kind: "shadow.acts", shadow: data }))
    assert.deepStrictEqual(bounded.run.shadows.get("b~new")?.acts, [])
  })

  it("is stated by the acts of its document, without their texts", () => {
    const content: ShadowActs = {
      ...{ v: 1, shadow: "b~new", as: "b", agent: "new", mode: "macp.mode.decision.v1", status: "acted" },
      acts: [
        {
          ...{ messageType: "Vote", messageId: "m", at: "2026-11-30T12:00:00.000Z", shown: 3 },
          payload: { proposalId: "p1", vote: "REJECT", reason: "a secret" }
        }
      ],
      refused: [],
      leftOut: 0,
      usage: [],
      note: SHADOW_NOTE
    }
    const fact = shadowFactOf(content)
    assert.deepStrictEqual(fact.acts, [{ type: "Vote", subject: "p1", vote: "REJECT" }])
    assert.notInclude(JSON.stringify(fact), "secret")
  })
})
