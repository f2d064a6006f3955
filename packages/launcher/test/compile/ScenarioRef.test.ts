import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parseScenarioRef } from "../../src/compile/ScenarioRef.ts"

describe("scenario references", () => {
  it.each([
    ["a/b@1.0.0", { pack: "a", scenario: "b", version: "1.0.0" }],
    ["a/b/c@1", { pack: "a", scenario: "b/c", version: "1" }],
    ["a/b@x@2", { pack: "a", scenario: "b@x", version: "2" }]
  ])("reads %s", (text, expected) => {
    assert.deepStrictEqual(parseScenarioRef(text), Result.succeed(expected))
  })

  it.each([
    ["incident", `invalid scenarioRef: missing '@' in "incident"`],
    ["incident@1", `invalid scenarioRef: missing '/' in "incident@1"`],
    ["/b@1", `invalid scenarioRef: empty component in "/b@1"`],
    ["a/@1", `invalid scenarioRef: empty component in "a/@1"`],
    ["a/b@", `invalid scenarioRef: empty component in "a/b@"`]
  ])("refuses %s", (text, message) => {
    assert.strictEqual(Result.getOrThrow(Result.flip(parseScenarioRef(text))).message, message)
  })
})
