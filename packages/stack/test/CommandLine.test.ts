import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { TestConsole } from "effect/testing"
import { type Mode, runCommandLine } from "../src/CommandLine.ts"

/** The mode that would be run; "help" where nothing would be. */
const modeOf = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const mode = yield* Ref.make<Mode | "help">("help")
    yield* runCommandLine(args, (chosen) => Ref.set(mode, chosen))
    return yield* Ref.get(mode)
  }).pipe(Effect.provide(NodeServices.layer))

it.effect.each([
  [[], "demo"],
  [["--no-demo"], "serve"],
  [["--demo-only"], "demo-only"],
  [["--help"], "help"],
  [["-h", "--no-demo"], "help"]
] as const)("understands %j", ([args, expected]) =>
  Effect.gen(function* () {
    assert.strictEqual(yield* modeOf(args), expected)
  })
)

it.effect.each([
  [["--fast"], /--fast/],
  [["serve"], /serve/],
  [["--no-demo", "--demo-only"], /--no-demo and --demo-only exclude each other/]
] as const)("refuses %j in one line", ([args, words]) =>
  Effect.gen(function* () {
    const { message } = yield* Effect.flip(modeOf(args))
    assert.match(message, words)
    assert.match(message, /^[^\n]+; npm start -- --help lists the flags$/)
  })
)

it.effect("explains its flags and the settings", () =>
  Effect.gen(function* () {
    yield* modeOf(["--help"])
    const shown = (yield* TestConsole.logLines).join("\n")
    for (const words of ["--no-demo", "--demo-only", "CONTROL_PLANE_PORT", "RUNPLANE_DATA_DIR"]) {
      assert.include(shown, words)
    }
  })
)
