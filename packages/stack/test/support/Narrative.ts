import { assert } from "@effect/vitest"

/** The parts of the output of `npm start` about its example, all of them and in their order. */
export const checkNarrative = (stdout: ReadonlyArray<string>) => {
  const position = (...words: ReadonlyArray<string>) =>
    stdout.findIndex((line) => words.every((word) => line.includes(word)))
  const chapters = [
    position("run", "is created"),
    position("incident-commander", "opens the session for 4 participants"),
    position("incident-commander", "proposes fail_over_now"),
    position("security-analyst", "recommends APPROVE"),
    position("replication-analyst", "votes APPROVE"),
    position("incident-commander", "commits an approval"),
    position("run", "is completed"),
    position("Decision", "decision.selected, positive, by incident-commander"),
    position("Tokens", "4 calls", "$0.0")
  ]
  assert.notInclude(chapters, -1)
  assert.deepStrictEqual(
    chapters,
    chapters.toSorted((one, other) => one - other)
  )
}
