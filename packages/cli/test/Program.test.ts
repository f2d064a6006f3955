import { assert, describe, it } from "@effect/vitest"
import { RUNPLANE_VERSION } from "@runplane/api"
import * as Effect from "effect/Effect"
import { command } from "./support/Command.ts"

describe("help", () => {
  it.live("prints what --help prints, of all commands and of one", () =>
    Effect.gen(function* () {
      for (const names of [[], ["runs"], ["runs", "list"], ["help"]]) {
        const helped = yield* command("help", ...names)
        assert.deepStrictEqual(helped, yield* command(...names, "--help"), names.join(" "))
        assert.strictEqual(helped.code, 0)
        assert.include(helped.stdout, "USAGE")
      }
      assert.include((yield* command("help", "runs", "list")).stdout, "--status")
    })
  )

  it.live("fails for a command that does not exist", () =>
    Effect.gen(function* () {
      for (const names of [["nonsense"], ["runs", "nonsense"], ["runs", "list", "more"]]) {
        const { code, reason, stdout } = yield* command("help", ...names)
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.strictEqual(reason, `"${names.join(" ")}" is not a command; runplane help lists the commands`)
      }
    })
  )
})

describe("version", () => {
  it.live("prints what --version prints, and the number as JSON", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* command("version"), yield* command("--version"))
      assert.deepStrictEqual(JSON.parse((yield* command("version", "--json")).stdout), { version: RUNPLANE_VERSION })
    })
  )
})
