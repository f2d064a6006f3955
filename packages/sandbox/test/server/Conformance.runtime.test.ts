import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import {
  type Fixture,
  type FixtureFile,
  fixturesOfRuntime,
  ownFixtures,
  play,
  playOnSandbox,
  sharedFixtures
} from "../support/Conformance.ts"

/**
 * Where a runtime of the pinned release takes names for credentials, and where its sources are: `npm run test:runtime`.
 */
const address = process.env["MACP_RUNTIME_UNDER_TEST"] ?? ""
const sources = process.env["MACP_RUNTIME_SOURCES"] ?? ""

/** Development authentication rejects observers: the initiator reads its own session. */
const real = { address, readerOf: ({ initiator }: Fixture) => initiator }

const CLOCK = "it sets the clock of the runtime, which no call can do"

/** Fixtures that the pinned release does not hold, with the reason. They are checked to fail, to keep the list true. */
const CANNOT_PASS: Readonly<Record<string, string>> = {
  "spec-2026-07/multi_round_happy_path.json": "its coordinator never contributes, so the values never converge"
}

const check = (
  where: string,
  files: ReadonlyArray<FixtureFile>,
  run: (file: FixtureFile) => Effect.Effect<void, unknown>
) =>
  describe(where, () => {
    for (const file of files) {
      const isClocked = file.fixture.messages.some(({ accepted_at_ms }) => accepted_at_ms !== undefined)
      const reason = isClocked ? CLOCK : CANNOT_PASS[file.name]
      if (reason === undefined) it.live(`holds for ${file.name}`, () => run(file))
      else {
        it.live(`cannot hold for ${file.name}: ${reason}`, () =>
          Effect.map(Effect.exit(run(file)), (exit) => assert.isTrue(Exit.isFailure(exit)))
        )
      }
    }
  })

const itsOwn = fixturesOfRuntime(sources)
if (itsOwn.length === 0) {
  describe("the fixtures of macp-runtime", () => {
    it("are not beside its binary, so nothing of them was checked", () => {
      console.warn("the sources of macp-runtime are absent: its conformance fixtures did not run")
    })
  })
}

check("macp-runtime", [...ownFixtures(), ...sharedFixtures(), ...itsOwn], (file) => play(file, real))
if (itsOwn.length > 0) check("the sandbox, by the fixtures of macp-runtime,", itsOwn, playOnSandbox)
