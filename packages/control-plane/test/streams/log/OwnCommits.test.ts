import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { Commit } from "../../../src/event-log/subscribe/LiveEvents.ts"
import { OwnCommits, piecesOf } from "../../../src/streams/log/OwnCommits.ts"

const event = (seq: number, characters = 10) => ({
  seq,
  index: seq,
  type: "message.received" as const,
  json: "x".repeat(characters)
})
const commit = (places: ReadonlyArray<number>, seqs = places, characters = 10): Commit => ({
  places,
  events: seqs.map((seq) => event(seq, characters))
})
const taken = (commits: OwnCommits, end: number) => {
  const next = commits.takeBehind(end)
  return next && [next.upTo, next.events.map(({ seq }) => seq)]
}

const upTo = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

// docs/reference/events.md#watermark
describe("what this process has committed", () => {
  it("follows a place when nobody else has a place between", () => {
    const commits = new OwnCommits()
    commits.add(piecesOf(commit([6, 7])))
    commits.add(piecesOf(commit([8, 9, 10], [9])))
    assert.deepStrictEqual(taken(commits, 5), [10, [6, 7, 9]])
    assert.isUndefined(taken(commits, 10))
  })

  it("waits at a hole, until another commit fills it or the log is known to go on behind it", () => {
    const commits = new OwnCommits()
    commits.add(piecesOf(commit([7, 8])))
    commits.add(piecesOf(commit([10, 12])))
    assert.isUndefined(taken(commits, 5))
    commits.add(piecesOf(commit([6])))
    assert.deepStrictEqual(taken(commits, 5), [8, [6, 7, 8]])
    assert.isUndefined(taken(commits, 8))
    assert.deepStrictEqual(taken(commits, 9), [10, [10]])
    assert.isUndefined(taken(commits, 20))
  })

  it("is the rest of a commit when the database has brought a part of it", () => {
    const commits = new OwnCommits()
    commits.add(piecesOf(commit([6, 7, 8])))
    assert.deepStrictEqual(taken(commits, 7), [8, [8]])
  })

  it("is taken so much at a time", () => {
    const commits = new OwnCommits()
    const places = Array.from({ length: 1_200 }, (_, place) => 1 + place)
    commits.add(piecesOf(commit(places)))
    for (const [end, next] of [
      [0, 500],
      [500, 1_000],
      [1_000, 1_200]
    ] as const) {
      assert.deepInclude(commits.takeBehind(end), { upTo: next })
    }
    commits.add(piecesOf(commit([1_201, 1_202, 1_203], [1_201, 1_202, 1_203], 200_000)))
    assert.deepInclude(commits.takeBehind(1_200), { upTo: 1_202 })
  })

  it("is forgotten when too much waits behind a hole", () => {
    const commits = new OwnCommits()
    for (const seq of [2, 3, 4, 5]) commits.add(piecesOf(commit([seq], [seq], 1_000_000)))
    commits.add(piecesOf(commit([6], [6], 1_000_000)))
    assert.isUndefined(taken(commits, 1))
    commits.add(piecesOf(commit([7])))
    assert.deepStrictEqual(taken(commits, 6), [7, [7]])
  })

  it.prop(
    "never passes a place that it has not settled, and brings all others once and in order",
    {
      /** Whose place each is; the process's own transactions are 1 to 4. */
      owners: Arbitrary.array(upTo(5), { maxLength: 40 }),
      order: Arbitrary.array(upTo(4), { maxLength: 12 }),
      empty: upTo(3),
      jumps: Arbitrary.array(upTo(3), { maxLength: 12 })
    },
    ({ empty, jumps, order, owners }) => {
      const commits = new OwnCommits()
      const settled = new Set<number>()
      const got: Array<number> = []
      const known = new Set<number>()
      let end = 0
      const isEvent = (seq: number) => seq % (2 + empty) !== 0
      const take = () => {
        for (let next = commits.takeBehind(end); next !== undefined; next = commits.takeBehind(end)) {
          for (let seq = end + 1; seq <= next.upTo; seq++) assert.isTrue(settled.has(seq))
          got.push(...next.events.map(({ seq }) => seq))
          end = next.upTo
        }
        assert.isFalse(settled.has(end + 1))
      }
      for (const [step, transaction] of order.entries()) {
        const places = owners.flatMap((owner, place) => (owner === transaction && owner > 0 ? [1 + place] : []))
        if (!places.some((seq) => settled.has(seq))) {
          commits.add(piecesOf(commit(places, places.filter(isEvent))))
          for (const seq of places) settled.add(seq)
        }
        take()
        // The database is looked at, and knows of all up to somewhere.
        for (let passed = 0; passed < (jumps[step] ?? 0); passed++) known.add(++end)
        take()
      }
      const expected = [...settled].filter((seq) => seq <= end && isEvent(seq) && !known.has(seq))
      assert.deepStrictEqual(
        got,
        expected.sort((left, right) => left - right)
      )
    }
  )
})
