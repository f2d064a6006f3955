import { assert, describe, it } from "@effect/vitest"
import {
  addRun,
  addShadowVotes,
  addShadowWorths,
  type CommitteeRun,
  committeeFacts,
  emptyCommittee,
  emptyShadowCommittees,
  emptyShadowWorths,
  independence,
  type JsonObject,
  MAX_TRIED_SHADOWS,
  mcNemar,
  type SeatVote,
  type ShadowInRun,
  shadowErrors,
  shadowName,
  shadowsInRun,
  shadowWorths,
  shadowWorthText,
  wilson
} from "@runplane/domain"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { draft } from "../support/events.ts"
import { uniform } from "../support/SyntheticCommittees.ts"

const SEATS = ["a", "b", "c"]
const NAME = shadowName("b", "new")

const shadowed = (acts: ReadonlyArray<JsonObject>, as = "b") =>
  draft("artifact.created", {
    artifactId: "x",
    kind: "shadow.acts",
    label: shadowName(as, "new"),
    shadow: { shadow: shadowName(as, "new"), as, agent: "new", status: "acted", acts: [...acts] }
  })
const ballot = (vote: string, subject = "p1") => ({ type: "Vote", subject, vote })
const objection = { type: "Objection", subject: "p1", severity: "critical" }

const history = (rules: JsonObject, ...ballots: ReadonlyArray<string>): Drafts => [
  opened({ rules, participants: SEATS }),
  proposes("a"),
  ...ballots.map((vote, at) => votes(SEATS[at] ?? "", vote)),
  commits(true)
]
const MAJORITY = { voting: { algorithm: "majority" } }
const carried = history(MAJORITY, "APPROVE", "APPROVE", "REJECT")

const inRun = (...drafts: Drafts): ReadonlyArray<ShadowInRun> => {
  const { by, run } = governed(...drafts)
  return shadowsInRun(run, by)
}

describe("a shadow of a run", () => {
  it("has its vote, and what it would have changed in place of its participant", () => {
    const call = draft("llm.call.completed", {
      sender: NAME,
      decodedPayload: { model: "m", calls: 0, costBasis: "fallback" },
      shadow: { calls: 1, totalTokens: 30, estimatedCostUsd: 0.25 }
    })
    assert.deepStrictEqual(inRun(...carried, call, shadowed([ballot("REJECT")])), [
      {
        ...{ shadow: NAME, as: "b", agent: "new", vote: "against" },
        ...{ recount: { kind: "counted", outcome: "opposite" }, costUsd: 0.25, guessedCostUsd: 0.25 }
      }
    ])
    assert.deepInclude(inRun(...carried, shadowed([ballot("APPROVE")]))[0], {
      vote: "for",
      recount: { kind: "counted", outcome: "same" },
      costUsd: undefined
    })
    assert.deepInclude(inRun(...carried, shadowed([ballot("ABSTAIN")]))[0], { vote: "abstain" })
  })

  it("counts with its objections, under the policy of the run", () => {
    const veto = { ...MAJORITY, objection_handling: { critical_severity_vetoes: true, veto_threshold: 1 } }
    const drafts = history(veto, "APPROVE", "APPROVE", "APPROVE")
    assert.deepInclude(inRun(...drafts, shadowed([ballot("APPROVE"), objection]))[0]?.recount, { kind: "counted" })
    assert.notDeepEqual(inRun(...drafts, shadowed([ballot("APPROVE"), objection]))[0]?.recount, {
      kind: "counted",
      outcome: "same"
    })
  })

  it.each([
    ["without an act", []],
    ["that voted on another proposal", [ballot("REJECT", "p9")]],
    ["that evaluated alone", [{ type: "Evaluation", subject: "p1" }]]
  ])("%s says nothing", (_, acts) => {
    const [found] = inRun(...carried, shadowed(acts))
    assert.isUndefined(found?.vote)
    assert.deepStrictEqual(found?.recount, { kind: "not counted", reason: "no vote of the shadow" })
  })

  it("says nothing where the run cannot be counted again", () => {
    const open = carried.slice(0, -1)
    assert.deepInclude(inRun(...open, shadowed([ballot("APPROVE")]))[0], {
      vote: "for",
      recount: { kind: "not counted", reason: "no decision" }
    })
  })

  it("of a quorum counts as an approval", () => {
    const drafts = [
      opened({ mode: "quorum", participants: SEATS, rules: { threshold: { type: "n_of_m", value: 2 } } }),
      says("lead", "ApprovalRequest", { requiredApprovals: 2, summary: "go" }, "r1"),
      says("a", "Approve", {}, "r1"),
      says("b", "Approve", {}, "r1"),
      commits(true)
    ]
    const of = (type: string) => inRun(...drafts, shadowed([{ type, subject: "r1" }]))[0]
    assert.deepInclude(of("Approve"), { vote: "for", recount: { kind: "counted", outcome: "same" } })
    const rejected = of("Reject")
    assert.strictEqual(rejected?.vote, "against")
    assert.notDeepEqual(rejected?.recount, { kind: "counted", outcome: "same" })
  })

  it("changes none of the facts of the committee", () => {
    const without = governed(...carried)
    const { by, run } = governed(...carried, shadowed([ballot("REJECT")]))
    assert.deepStrictEqual(committeeFacts(run, by, SEATS), committeeFacts(without.run, without.by, SEATS))
  })
})

const tried = (vote: SeatVote | undefined, more: Partial<ShadowInRun> = {}): ShadowInRun => ({
  ...{ shadow: NAME, as: "b", agent: "new", vote, costUsd: 0.01 },
  ...{ guessedCostUsd: 0, recount: { kind: "counted", outcome: "same" } },
  ...more
})
/** Runs with a right positive decision: a vote for it is right. */
const runOf = (caseId: string, ...letters: ReadonlyArray<SeatVote | undefined>): CommitteeRun => ({
  ...{ caseId, votes: letters, outcome: "positive", isRight: true }
})
const side = (isRight: boolean): SeatVote => (isRight ? "for" : "against")

/** Errors of three seats and of a shadow that errs with `b` in most runs. */
const drawn = (count: number): ReadonlyArray<readonly [CommitteeRun, ShadowInRun]> => {
  const next = uniform(11)
  return Array.from({ length: count }, (_, at) => {
    const errs = SEATS.map(() => next() < 0.3)
    const copied = next() < 0.8 ? errs[1] : next() < 0.3
    return [runOf(`case-${at}`, ...errs.map((one) => side(!one))), tried(side(copied !== true))] as const
  })
}

describe("the errors of shadows", () => {
  it("have their accuracy and the correlation with each seat, as a seat has it", () => {
    const shadows = emptyShadowCommittees(SEATS)
    const [seats, four] = [emptyCommittee(SEATS), emptyCommittee([...SEATS, NAME])]
    for (const [run, shadow] of drawn(400)) {
      addRun(seats, run)
      addRun(four, { ...run, votes: [...run.votes, shadow.vote] })
      addShadowVotes(shadows, run, [shadow])
    }
    const { leftOut, shadows: found } = shadowErrors(shadows)
    assert.strictEqual(leftOut, 0)
    const [one] = found
    const asSeat = independence(four)
    const { seat: _, ...errors } = asSeat.seats[3] ?? { seat: "" }
    assert.deepInclude(one, { shadow: NAME, as: "b", agent: "new", tried: 400, ...errors })
    assert.deepStrictEqual(
      one?.pairs.map(({ left, right }) => [left, right]),
      SEATS.map((seat) => [seat, NAME])
    )
    for (const pair of one?.pairs ?? []) {
      const same = asSeat.pairs.find(({ left, right }) => left === pair.left && right === NAME)
      assert.deepStrictEqual(pair.agreement, same?.agreement)
      assert.strictEqual(pair.errors.phi?.value, same?.errors.phi?.value)
    }
    assert.isAbove(one?.pairs[1]?.errors.phi?.low ?? 0, 0.5)
    assert.isBelow(one?.pairs[0]?.errors.phi?.high ?? 1, 0.3)
    // The committee has three seats, with the shadow or without it.
    assert.deepStrictEqual(
      independence(seats).seats.map(({ seat }) => seat),
      SEATS
    )
  })

  it("count the runs in which it was tried, and leave out those of other participants", () => {
    const shadows = emptyShadowCommittees(SEATS)
    addShadowVotes(shadows, runOf("1", "for", "for", "for"), [])
    addShadowVotes(shadows, runOf("2", "for", "for", "for"), [
      tried(undefined),
      tried("for", { as: "z", shadow: "z~new" })
    ])
    const { shadows: found } = shadowErrors(shadows)
    assert.strictEqual(found.length, 1)
    assert.deepInclude(found[0], { tried: 1, runs: 0, errors: 0, leftOut: "no value" })
    assert.isTrue(found[0]?.pairs.every(({ errors }) => errors.isTooFew && errors.sharedRuns === 0))
  })

  it("have figures for the first shadows only, and say how many have none", () => {
    const shadows = emptyShadowCommittees(SEATS)
    const names = Array.from({ length: MAX_TRIED_SHADOWS + 3 }, (_, at) => `new-${at}`)
    const all = names.map((agent) => tried("for", { agent, shadow: shadowName("b", agent) }))
    addShadowVotes(shadows, runOf("1", "for", "for", "for"), all)
    const { leftOut, shadows: found } = shadowErrors(shadows)
    assert.strictEqual(leftOut, 3)
    assert.strictEqual(found.length, MAX_TRIED_SHADOWS)
  })
})

const worthOf = (...runs: ReadonlyArray<readonly [CommitteeRun, ShadowInRun]>) => {
  const worths = emptyShadowWorths(SEATS)
  for (const [run, shadow] of runs) addShadowWorths(worths, run, [shadow])
  const [found] = shadowWorths(worths).shadows
  if (found === undefined) throw new Error("no shadow")
  return found
}
const times = <A>(count: number, make: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => make(at))

describe("what a shadow is worth", () => {
  it("counts changed decisions with intervals, and compares it with its participant over the same runs", () => {
    const refused = { recount: { kind: "counted", outcome: "none" } } as const
    const found = worthOf(
      ...times(60, (at) => [runOf(`both-${at}`, "for", "for"), tried("for")] as const),
      ...times(9, (at) => [runOf(`shadow-${at}`, "for", "against"), tried("for")] as const),
      ...times(2, (at) => [runOf(`participant-${at}`, "for", "for"), tried("against", refused)] as const),
      ...times(4, (at) => {
        const silent = { recount: { kind: "not counted", reason: "no vote of the shadow" } } as const
        return [runOf(`silent-${at}`, "for", "for"), tried(undefined, silent)] as const
      })
    )
    assert.deepStrictEqual(found.changed, { count: 2, n: 71, ...wilson(2, 71) })
    assert.deepInclude(found.rightLost, { count: 2, n: 71 })
    assert.deepInclude(found, { tried: 75, runs: 71, cases: 71, notCounted: { "no vote of the shadow": 4 } })
    assert.deepStrictEqual(found.cost, { runs: 75, costUsd: 0.75, costPerRunUsd: 0.01, guessedCostUsd: 0 })
    assert.deepStrictEqual(found.paired, {
      ...{ runs: 71, cases: 71, participantRight: 62, shadowRight: 69, participantOnly: 2, shadowOnly: 9 },
      ...{ p: mcNemar({ firstOnly: 2, secondOnly: 9 }), isTooFew: false }
    })
    assert.match(
      shadowWorthText(found),
      /^with b~new in place of b 2 of 71 decisions would be refused; it is right in 69 of 71 runs, b in 62: p = 0\.065, may/
    )
  })

  it("takes the repeats of a case for one", () => {
    const found = worthOf(...times(30, (at) => [runOf(`case-${at % 3}`, "for", "against"), tried("for")] as const))
    assert.deepInclude(found.paired, { runs: 30, cases: 3, shadowOnly: 30, isTooFew: true })
    assert.approximately(found.paired.p, 0.25, 1e-12)
    assert.match(shadowWorthText(found), /too few cases to compare them$/)
  })

  it("has a bound where it changes nothing in 300 cases, and no p without a truth", () => {
    const found = worthOf(
      ...times(300, (at) => {
        const { isRight: _, ...run } = runOf(`${at}`, "for", "for")
        return [run, tried("for")] as const
      })
    )
    assert.isBelow(found.idle?.atMost ?? 1, 0.01)
    assert.deepInclude(found.paired, { runs: 0, cases: 0, p: 1, isTooFew: true })
    assert.match(shadowWorthText(found), /would be refused, at most 1 % at 95 %; no run with a mark correct has votes/)
  })

  it("is nothing without a vote", () => {
    const silent = { recount: { kind: "not counted", reason: "no vote of the shadow" } } as const
    const found = worthOf([runOf("1", "for", "for"), tried(undefined, silent)])
    assert.deepInclude(found, { tried: 1, runs: 0 })
    assert.isUndefined(worthOf([runOf("1", "for", "for"), tried("for", { costUsd: undefined })]).cost)
    assert.strictEqual(shadowWorthText(found), "b~new has voted in none of 1 run")
  })
})
