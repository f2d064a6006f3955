import { assert, describe, it } from "@effect/vitest"
import { inOrder, ringPicture, type SeatVote } from "@runplane/domain"

// docs/reference/decisions.md#card
describe("the picture of a ring", () => {
  const many = (count: number, vote: (at: number) => SeatVote) =>
    inOrder(
      Array.from({ length: count }, (_, at) => ({
        participantId: `agent-${at}`,
        vote: vote(at),
        weight: 1,
        pivotal: false
      }))
    )
  const mixed = (at: number): SeatVote => (at % 3 === 0 ? "against" : at % 7 === 0 ? "none" : "for")

  it.each([1, 2, 7, 24])("of %i seats has a piece for each", (count) => {
    const { bar, seats } = ringPicture(many(count, mixed), {})
    assert.isUndefined(bar)
    assert.strictEqual(seats.filter(({ path }) => path !== undefined).length, count)
  })

  it.each([25, 60, 300, 399])("of %i seats is rows of dots, in the order of the votes from left to right", (count) => {
    const { seats } = ringPicture(many(count, mixed), {})
    assert.strictEqual(seats.length, count)
    const shares = seats.map(({ dot }) => Math.atan2(214 - (dot?.y ?? 0), 210 - (dot?.x ?? 0)))
    for (const [at, share] of shares.entries()) assert.isAtLeast(share, (shares[at - 1] ?? -1) - 0.02)
    const positions = new Set(seats.map(({ dot }) => `${dot?.x} ${dot?.y}`))
    assert.strictEqual(positions.size, count)
  })

  it("of 400 seats and more is one bar of the groups with their numbers", () => {
    const { bar = [], seats } = ringPicture(many(1_000, mixed), {})
    assert.strictEqual(seats.length, 0)
    assert.strictEqual(
      bar.reduce((sum, { count }) => sum + count, 0),
      1_000
    )
    assert.deepStrictEqual(
      bar.map(({ vote }) => vote),
      ["for", "none", "against"]
    )
  })

  it("has no number that an SVG cannot read, for any weights", () => {
    for (const weights of [
      [0, 0],
      [0, 5],
      [1e9, 1],
      [1, 0.001, 0]
    ]) {
      const seats = weights.map((weight, at) => ({
        participantId: `${at}`,
        vote: "for" as const,
        weight,
        pivotal: true
      }))
      const picture = ringPicture(seats, { rule: { kind: "share", value: 0.5 }, turnout: { voted: 1, of: 3, need: 9 } })
      assert.notMatch(JSON.stringify(picture), /NaN|null|Infinity/)
    }
  })
})
