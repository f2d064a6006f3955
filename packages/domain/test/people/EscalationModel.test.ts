import { assert, describe, it } from "@effect/vitest"
import {
  type Assigned,
  type Delegation,
  dueSteps,
  fourEyes,
  isInEffect,
  type Person,
  reachOf,
  rightOf,
  standingOf,
  unreachedText
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"
import { DAY, delegates, type Given, HOUR, modelAt, OPENED, PERSONS, SCENARIO } from "./escalationModel.ts"

const hours = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 48 })))
const person = pick(PERSONS.map(({ id }) => id))
const name = pick([
  "group:risk",
  "group:leads",
  "group:board",
  "group:empty",
  ...PERSONS.map(({ id }) => `person:${id}`)
])
const requesters = pick<Pick<Given, "requester">>([{}, ...PERSONS.map(({ id }) => ({ requester: id }))])
const distinct = pick<{ readonly distinctFrom?: ReadonlyArray<string> }>([
  {},
  {},
  { distinctFrom: [] },
  { distinctFrom: ["requester"] },
  { distinctFrom: ["second"] }
])

const delegation = Arbitrary.map(
  Arbitrary.all({
    by: person,
    to: person,
    from: hours,
    until: hours,
    isRevoked: pick([false, false, true]),
    revoked: hours
  }),
  ({ by, from, isRevoked, revoked, to, until }): Delegation =>
    delegates(by, to, {
      fromUnixMs: OPENED + (from - 24) * HOUR,
      untilUnixMs: OPENED + (until + 12) * HOUR,
      revokedAtUnixMs: isRevoked ? OPENED + revoked * HOUR : undefined
    })
)

const givens = Arbitrary.map(
  Arbitrary.all({
    assign: Arbitrary.array(name, { minLength: 1, maxLength: 3 }),
    steps: Arbitrary.array(Arbitrary.all({ after: hours, to: Arbitrary.array(name, { minLength: 1, maxLength: 3 }) }), {
      maxLength: 4
    }),
    delegations: Arbitrary.array(delegation, { maxLength: 5 }),
    requester: requesters,
    otherSeat: Arbitrary.array(person, { maxLength: 2 }),
    distinct
  }),
  ({ assign, delegations, distinct, otherSeat, requester, steps }): Given => ({
    rules: {
      assign,
      deadline: "3d",
      escalate: steps.map(({ after, to }) => ({ after: `${after}h`, to })),
      ...distinct
    },
    delegations,
    ...requester,
    otherSeat
  })
)

/** The rules of distinct persons, written once more. */
const isForbidden = (id: string, { otherSeat = [], requester, rules }: Given): boolean => {
  const from = rules?.distinctFrom ?? ["requester", "second"]
  return (from.includes("requester") && id === requester) || (from.includes("second") && otherSeat.includes(id))
}

const runs = { arbitrary: { runs: 400, size: 30 } }

describe("escalation and delegation, whatever they are", () => {
  it.prop(
    "lose no assignee: who may answer by itself still may later",
    { of: givens, first: hours, second: hours },
    ({ first, of, second }) => {
      const own = (at: number) => modelAt(of, OPENED + at * HOUR).who.filter((who) => !who.includes(" for "))
      const later = own(Math.max(first, second))
      for (const who of own(Math.min(first, second))) assert.include(later, who)
    },
    runs
  )

  it.prop(
    "let no person answer without a right, and no delegate for a delegate",
    { of: givens, at: hours },
    ({ at, of }) => {
      const { steps, who } = modelAt(of, OPENED + at * HOUR)
      const names = [...(of.rules?.assign ?? []), ...steps.flatMap((step) => of.rules?.escalate?.[step - 1]?.to ?? [])]
      const isNamed = (id: string) =>
        names.includes(`person:${id}`) ||
        PERSONS.some((one) => one.id === id && one.groups.some((group) => names.includes(`group:${group}`)))
      for (const one of who) {
        const [id = "", author] = one.split(" for ")
        assert.isFalse(isForbidden(id, of), `${one} is forbidden`)
        assert.strictEqual(isNamed(author ?? id), true, `${author ?? id} is not assigned`)
        if (author === undefined) continue
        assert.isFalse(isForbidden(author, of), `${author} may not answer itself`)
        assert.notStrictEqual(author, id)
        const now = OPENED + at * HOUR
        assert.isTrue(
          of.delegations?.some((d) => d.by.id === author && d.to === id && isInEffect(d, SCENARIO, now)),
          `${one} without a delegation`
        )
      }
    },
    runs
  )

  it.prop(
    "make each step once, not before its time, unless a refused delegation makes the first one",
    { of: givens, at: hours },
    ({ at, of }) => {
      const { steps } = modelAt(of, OPENED + at * HOUR)
      assert.lengthOf(new Set(steps), steps.length)
      const early = steps.filter((step) => Number.parseInt(of.rules?.escalate?.[step - 1]?.after ?? "0", 10) > at)
      assert.isAtMost(early.length, 1)
      if (early.length === 1) assert.strictEqual(early[0], steps[0])
      const due = of.rules?.escalate?.filter(({ after }) => Number.parseInt(after, 10) <= at) ?? []
      assert.isAtLeast(steps.length, due.length)
    },
    runs
  )

  it.prop(
    "call a person reached only if it may answer, and no group unreachable that tokens can have",
    { to: Arbitrary.array(name, { minLength: 1, maxLength: 4 }), of: givens, isElsewhere: pick([true, false]) },
    ({ isElsewhere, of, to }) => {
      const assigned: Assigned = {
        assign: to,
        distinctFrom: of.rules?.distinctFrom,
        requester: of.requester,
        answeredBy: new Map([["second", of.otherSeat ?? []]])
      }
      const { emptyGroups, persons, reach } = reachOf(
        to,
        { persons: PERSONS, elsewhere: isElsewhere ? "tokens" : undefined, isLocal: false },
        assigned
      )
      const may = PERSONS.filter((one) => rightOf(one, assigned) === "answer").map(({ id }) => id)
      assert.deepStrictEqual([...persons].sort(), may.sort())
      const hasGroup = to.some((one) => one.startsWith("group:"))
      assert.strictEqual(reach, may.length > 0 ? "persons" : isElsewhere && hasGroup ? "unknown" : "none")
      if (isElsewhere && hasGroup) assert.isEmpty(emptyGroups)
    },
    runs
  )
})

describe("a delegation", () => {
  const assigned: Assigned = {
    assign: ["person:ana"],
    distinctFrom: undefined,
    requester: "rita",
    answeredBy: new Map([["second", ["otto"]]])
  }
  const moment = { scenarioRef: SCENARIO, unixMs: OPENED }
  const standing = (person: Person, delegations: ReadonlyArray<Delegation>) => {
    const { by, right } = standingOf(person, assigned, delegations, moment)
    return [right, by?.id]
  }

  it("gives nothing through a second name: what its author may not do, no delegate may do for it", () => {
    const own = { ...assigned, assign: ["person:rita", "person:otto"] }
    const second: Person = { id: "rita-at-work", groups: [] }
    const found = standingOf(second, own, [delegates("rita", second.id), delegates("otto", second.id)], moment)
    assert.strictEqual(found.right, "delegator may not")
    assert.strictEqual(fourEyes("rita", own), "is the requester")
  })

  it("keeps four eyes for the delegate, and prefers the own right", () => {
    assert.deepStrictEqual(standing({ id: "dee", groups: [] }, [delegates("ana", "dee")]), ["answer", "ana to dee"])
    assert.deepStrictEqual(standing({ id: "rita", groups: [] }, [delegates("ana", "rita")]), [
      "is the requester",
      "ana to rita"
    ])
    assert.deepStrictEqual(standing({ id: "otto", groups: [] }, [delegates("ana", "otto")]), [
      "holds another seat",
      "ana to otto"
    ])
    assert.deepStrictEqual(standing({ id: "ana", groups: [] }, [delegates("dee", "ana")]), ["answer", undefined])
  })

  it("counts groups of the directory of the pack for its author, in that pack alone", () => {
    const by = { id: "eve", groups: [], packGroups: new Map([["demo", ["risk"]]]) }
    const of = { ...assigned, assign: ["group:risk"] }
    const one = delegates("eve", "dee", { by })
    const dee: Person = { id: "dee", groups: [] }
    assert.strictEqual(standingOf(dee, of, [one], moment).right, "answer")
    assert.strictEqual(standingOf(dee, of, [one], { ...moment, scenarioRef: "other/x@1.0.0" }).right, "not assigned")
  })

  it("to a step without a person has the reason in words", () => {
    const text = (to: ReadonlyArray<string>, elsewhere?: "tokens" | "directory") =>
      unreachedText(reachOf(to, { persons: PERSONS, elsewhere, isLocal: false }, assigned))
    assert.isUndefined(text(["group:leads"]))
    assert.strictEqual(
      text(["group:empty", "person:rita"]),
      "rita is the requester of the run; group:empty has no member"
    )
    assert.strictEqual(
      text(["group:empty"], "tokens"),
      "no member of group:empty who may answer is known, and only a token can show one"
    )
    assert.strictEqual(
      text(["group:board"], "directory"),
      "rita is the requester of the run; no member of group:board who may answer is known, and the people.yaml of the " +
        "pack cannot be read"
    )
    assert.strictEqual(text(["person:otto"], "tokens"), "otto holds another seat of the session")
    assert.isUndefined(
      unreachedText(reachOf(["group:empty"], { persons: [], elsewhere: undefined, isLocal: true }, assigned))
    )
  })

  it("of an item that is not open has no step", () => {
    const steps = [{ afterMs: HOUR, to: ["person:cro"] }]
    assert.deepStrictEqual(dueSteps(steps, {}, OPENED + DAY), { due: [], wakeAtUnixMs: undefined })
  })
})
