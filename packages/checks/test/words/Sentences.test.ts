import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { ROOT } from "../../src/Repository.ts"

/** Lines that the check refuses, each with the words that it names. */
const REFUSED = [
  ["Nobody reads the queue", "Nobody"],
  ["whoever waits is woken", "whoever"],
  ["none of them is stored", "none of them"],
  ["the id is no UUID", "is no U"],
  ["the writer is told of it", "told"],
  ["it hears of the end", "hears"],
  ["asks for the next page", "asks for"],
  ["asked whether it is open", "asked whether"],
  ["takes over the run", "takes over"],
  ["the log stands still", "stands still"],
  ["the tool cannot be had here", "be had"],
  ["handed on to the writer", "handed on"],
  ["its place in the log", "its place"],
  ["what has become of it", "what has"],
  ["looks again after a second", "looks again"]
] as const

const ACCEPTED = [
  "The run is no longer observed.",
  "There is no such run, and it is no more than a test.",
  "there is no control plane",
  "The reader takes the next batch, and the writer returns its position.",
  "A placeholder replaces the payload in the second place.",
  "The field `place` has the position."
]

const findingsOf = (lines: ReadonlyArray<string>) => {
  const { status, stdout } = spawnSync(process.execPath, ["packages/checks/src/words/main.ts", "-"], {
    cwd: ROOT,
    encoding: "utf8",
    input: lines.join("\n")
  })
  assert.strictEqual(status, 0)
  return stdout.trim().split("\n")
}

describe("the check of words", () => {
  it("refuses a line for each of its patterns, and names a better form", () => {
    const findings = findingsOf(REFUSED.map(([line]) => line))
    assert.strictEqual(findings.at(-1), `${REFUSED.length} findings`)
    for (const [at, [, match]] of REFUSED.entries()) {
      const start = `line ${at + 1} "${match}": `
      assert.strictEqual(findings[at]?.slice(0, start.length), start)
      assert.match(findings[at]?.slice(start.length) ?? "", /^[a-z].{5,}$/)
    }
  })

  it("accepts plain sentences", () => {
    assert.deepStrictEqual(findingsOf(ACCEPTED), ["0 findings"])
  })
})
