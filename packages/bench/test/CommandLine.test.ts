import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parseCommandLine } from "../src/CommandLine.ts"

describe("the command line", () => {
  it("runs everything three times unless told otherwise", () => {
    assert.deepStrictEqual(
      parseCommandLine([]),
      Result.succeed({
        help: false,
        json: false,
        repetitions: 3,
        scenarios: ["throughput", "latency", "creation"],
        profiles: undefined
      })
    )
  })

  it("chooses scenarios, repetitions and what is written", () => {
    assert.deepStrictEqual(
      parseCommandLine(["--only", "latency,creation", "--repeat", "5", "--json", "--profile", "out"]),
      Result.succeed({
        help: false,
        json: true,
        repetitions: 5,
        scenarios: ["latency", "creation"],
        profiles: "out"
      })
    )
  })

  it.each([
    [["--only", "speed"], /unknown scenario "speed"/],
    [["--repeat", "0"], /from 1 to 100/],
    [["--repeat", "many"], /from 1 to 100/],
    [["--fast"], /--fast/]
  ])("refuses %j", (args, problem) => {
    const parsed = parseCommandLine(args)
    assert.isTrue(Result.isFailure(parsed))
    if (Result.isFailure(parsed)) assert.match(parsed.failure.message, problem)
  })
})
