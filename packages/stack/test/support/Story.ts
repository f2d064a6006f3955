import { assert } from "@effect/vitest"

/** The parts of the output of `npm start` about its example, all of them and in their order. */
export const checkStory = (stdout: ReadonlyArray<string>) => {
  const place = (...words: ReadonlyArray<string>) =>
    stdout.findIndex((line) => words.every((word) => line.includes(word)))
  const chapters = [
    place("run", "created"),
    place("incident-commander", "opens the session for 4 participants"),
    place("incident-commander", "proposes fail_over_now"),
    place("security-analyst", "evaluates APPROVE"),
    place("replication-analyst", "votes APPROVE"),
    place("incident-commander", "commits decision.selected (positive)"),
    place("run", "completed"),
    place("Decision", "decision.selected, positive, by incident-commander"),
    place("Tokens", "4 calls", "$0.0")
  ]
  assert.notInclude(chapters, -1)
  assert.deepStrictEqual(
    chapters,
    chapters.toSorted((one, other) => one - other)
  )
}
