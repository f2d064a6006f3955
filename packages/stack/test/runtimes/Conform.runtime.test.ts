import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@runplane/sandbox"
import { startRuntime } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The conformance runner of the protocol, and the fixtures that it is given: `npm run test:runtime` brings both. */
const program = process.env["MACP_CONFORM_BINARY"] ?? ""
const fixtures = join(process.env["MACP_RUNTIME_SOURCES"] ?? "", "tests", "conformance")

const Report = Schema.fromJsonString(
  Schema.Struct({
    totals: Schema.Struct({ passed: Schema.Int, failed: Schema.Int, errors: Schema.Int }),
    fixtures: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        kind: Schema.String,
        outcome: Schema.String,
        reason: Schema.optional(Schema.Json)
      })
    )
  })
)

/** Sessions that no server can be held to: the runner cannot set its clock. */
const NEEDS_CLOCK = ["handoff_implicit_accept.json"]

const conform = (address: string, ...options: ReadonlyArray<string>) =>
  Effect.callback<typeof Report.Type>((resume) => {
    const target = ["--target", `grpc://${address}`, "--fixtures", fixtures, "--multi-round", "--quiet"]
    // Exit code 1 means that a fixture failed, which the report has too; 2 leaves no report.
    const child = execFile(program, [...target, ...options, "--report", "-"], (failure, stdout, stderr) => {
      resume(
        stdout === ""
          ? Effect.die(new Error(`macp-conform ended with ${failure?.code}: ${stderr}`))
          : Effect.orDie(Schema.decodeEffect(Report)(stdout))
      )
    })
    return Effect.sync(() => child.kill())
  })

const check = ({ fixtures: played, totals }: typeof Report.Type) => {
  const failed = played.filter(({ outcome }) => outcome !== "pass" && outcome !== "skipped")
  assert.deepStrictEqual(failed, [])
  assert.strictEqual(totals.failed + totals.errors, 0)
  const skipped = played.filter(({ kind, outcome }) => kind === "session" && outcome !== "pass")
  assert.deepStrictEqual(
    skipped.map(({ name }) => name),
    NEEDS_CLOCK
  )
  assert.isAtLeast(totals.passed, 39)
}

describe.concurrent("macp-conform finds no failure", () => {
  if (program === "" || !existsSync(fixtures)) {
    return it.skip("(left out: macp-conform, or the fixtures of macp-runtime, could not be brought)", () => undefined)
  }
  it.live("of the sandbox", () =>
    Effect.gen(function* () {
      const { address } = yield* Sandbox
      check(yield* conform(address))
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("of the reference runtime, whose commitment hashes it also checks", () =>
    Effect.gen(function* () {
      // One of its own: the runner registers the policies of the fixtures, and leaves them.
      const address = yield* startRuntime({ MACP_MEMORY_ONLY: "1" })
      const report = yield* conform(address, "--hash-vectors", "in-process")
      check(report)
      assert.notInclude(
        report.fixtures.map(({ kind, outcome }) => `${kind} ${outcome}`),
        "cmt_hash skipped"
      )
    }).pipe(Effect.scoped)
  )
})
