import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ownFixtures, playOnSandbox, sharedFixtures } from "../support/Conformance.ts"

/** Fixtures that contradict the rules they test, with the reason. They are checked to fail, to keep the list true. */
const CANNOT_PASS: Readonly<Record<string, string>> = {
  "spec-2026-07/multi_round_happy_path.json":
    "its coordinator never contributes, so the values never converge; the other set has it corrected"
}

describe("the conformance fixtures", () => {
  const shared = sharedFixtures()
  if (shared.length === 0) {
    it("are not beside this repository, so nothing of them was checked", () => {
      console.warn("../shared/spec/conformance is absent: the shared conformance fixtures did not run")
    })
  }
  for (const file of shared) {
    const reason = CANNOT_PASS[file.name]
    if (reason === undefined) it.live(`holds for ${file.name}`, () => playOnSandbox(file))
    else {
      it.live(`cannot hold for ${file.name}: ${reason}`, () =>
        Effect.map(Effect.exit(playOnSandbox(file)), (exit) => assert.isTrue(Exit.isFailure(exit)))
      )
    }
  }
})

describe("the fixtures of this package", () => {
  for (const file of ownFixtures()) it.live(`holds for ${file.name}`, () => playOnSandbox(file))
})
