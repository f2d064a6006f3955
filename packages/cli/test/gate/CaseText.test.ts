import { assert, describe, it } from "@effect/vitest"
import type { GateCase } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { EXIT_CODES } from "../../src/CliFailure.ts"
import { appendCase } from "../../src/gate/CaseText.ts"
import { parseGateFile } from "../../src/gate/GateFiles.ts"

const one: GateCase = {
  name: "failed: in production # 1",
  scenarioRef: "p/s@1.0.0",
  inputs: { text: "yes", number: "7", list: [1, { a: null }], long: "word ".repeat(60), lines: "a\n b\n" },
  expect: { action: "decision.selected", positive: null }
}
const casesOf = (text: string) => Effect.map(parseGateFile(text, "f"), (loaded) => loaded.map((found) => found.case))

describe("a case that is appended to a file", () => {
  for (const [what, text] of [
    ["without indentation", "# top\ncases:\n# first\n- name: a\n  scenarioRef: r # why\n\n# end\n"],
    ["with a deep indentation and no last line end", "cases: # all\n\n      - { name: a, scenarioRef: r }"],
    ["with line ends of Windows", "cases:\r\n  - name: a\r\n    scenarioRef: r\r\n"],
    ["with a text that keeps its last line ends", "cases:\n  - name: a\n    scenarioRef: |+\n      r\n\n"]
  ] as const) {
    it.effect(`${what} keeps every character of it`, () =>
      Effect.gen(function* () {
        const extended = yield* appendCase(text, "f", one, "Run 1")
        assert.isTrue(extended.startsWith(text))
        assert.include(extended, "# Run 1")
        assert.deepStrictEqual(yield* casesOf(extended), [...(yield* casesOf(text)), one])
      })
    )
  }

  it.effect("makes a file of an empty text", () =>
    Effect.gen(function* () {
      const text = yield* appendCase("", "f", { name: "a", scenarioRef: "r" }, "Run 1")
      assert.strictEqual(text, "cases:\n  # Run 1\n  - name: a\n    scenarioRef: r\n")
    })
  )

  it.effect.prop("has the inputs that were written", [Schema.Record(Schema.String, Schema.Json)], ([inputs]) =>
    Effect.gen(function* () {
      const plain: GateCase = { name: "a", scenarioRef: "r", inputs: JSON.parse(JSON.stringify(inputs)) }
      const [read] = yield* casesOf(yield* appendCase("", "f", plain, "Run 1"))
      assert.deepStrictEqual(read, plain)
    })
  )

  for (const [what, text] of [
    ["cases between brackets", '{"cases": [{"name": "a", "scenarioRef": "r"}]}'],
    ["an end of its document", "cases:\n  - name: a\n    scenarioRef: r\n...\n"],
    ["a fault", "cases: 7\n"]
  ] as const) {
    it.effect(`is refused for a file with ${what}`, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(appendCase(text, "f", one, "Run 1"))
        assert.strictEqual(failure.code, EXIT_CODES.usage)
        assert.match(failure.message, /^f (cannot be extended|is not a gate file)/)
      })
    )
  }
})
