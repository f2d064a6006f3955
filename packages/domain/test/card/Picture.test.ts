import { assert, describe, it } from "@effect/vitest"
import { inOrder, ringPicture, type VoteSide } from "@runplane/domain"

// docs/reference/decisions.md#card
describe("the picture of a ring", () => {
  const many = (count: number, vote: (at: number) => VoteSide) =>
    inOrder(
      Array.from({ length: count }, (_, at) => ({
        participantId: `agent-${at}`,
        vote: vote(at),
        weight: 1,
        pivotal: false
      }))
    )
  const mixed = (at: number): VoteSide => (at % 3 === 0 ? "against" : at % 7 === 0 ? "none" : "for")

  it.each([1, 2, 7, 24])("of %i voters has a piece for each", (count) => {
    const { bar, voters } = ringPicture(many(count, mixed), {})
    assert.isUndefined(bar)
    assert.strictEqual(voters.filter(({ path }) => path !== undefined).length, count)
  })

  it.each([25, 60, 300, 399])("of %i voters is rows of dots, in the order of the votes from left to right", (count) => {
    const { voters } = ringPicture(many(count, mixed), {})
    assert.strictEqual(voters.length, count)
    const shares = voters.map(({ dot }) => Math.atan2(214 - (dot?.y ?? 0), 210 - (dot?.x ?? 0)))
    for (const [at, share] of shares.entries()) assert.isAtLeast(share, (shares[at - 1] ?? -1) - 0.02)
    const positions = new Set(voters.map(({ dot }) => `${dot?.x} ${dot?.y}`))
    assert.strictEqual(positions.size, count)
  })

  it("of 400 voters and more is one bar of the groups with their numbers", () => {
    const { bar = [], voters } = ringPicture(many(1_000, mixed), {})
    assert.strictEqual(voters.length, 0)
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
      const voters = weights.map((weight, at) => ({
        participantId: `${at}`,
        vote: "for" as const,
        weight,
        pivotal: true
      }))
      const picture = ringPicture(voters, {
        rule: { kind: "share", value: 0.5 },
        turnout: { voted: 1, of: 3, need: 9 }
      })
      assert.notMatch(JSON.stringify(picture), /NaN|null|Infinity/)
    }
  })
})
