import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { HELP, parseCommandLine } from "../src/CommandLine.ts"

const modeOf = (...args: ReadonlyArray<string>) => {
  const parsed = Result.getOrThrow(parseCommandLine(args))
  return parsed.help ? "help" : parsed.mode
}

describe("the command line", () => {
  it.each([
    [[], "demo"],
    [["--no-demo"], "serve"],
    [["--demo-only"], "demo-only"],
    [["--help"], "help"],
    [["-h", "--no-demo"], "help"]
  ])("understands %s as %s", (args, expected) => {
    assert.strictEqual(modeOf(...args), expected)
  })

  it.each([
    [["--demo"], 'unknown argument "--demo"; npm start -- --help lists what there is'],
    [["serve"], 'unknown argument "serve"; npm start -- --help lists what there is'],
    [["--help", "--bad"], 'unknown argument "--bad"; npm start -- --help lists what there is'],
    [
      ["--no-demo", "--demo-only"],
      "--no-demo and --demo-only exclude each other; npm start -- --help lists what there is"
    ]
  ])("refuses %s in one line", (args, expected) => {
    const parsed = parseCommandLine(args)
    assert.strictEqual(Result.isFailure(parsed) ? parsed.failure.message : "", expected)
  })

  it("explains every flag it understands", () => {
    for (const flag of ["--no-demo", "--demo-only", "--help"]) assert.include(HELP, flag)
  })
})
