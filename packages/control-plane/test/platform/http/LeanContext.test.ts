import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { OUR_REFERENCES, withoutServices } from "../../../src/platform/http/LeanContext.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { countedMetrics } from "../../support/CountedMetrics.ts"

const packages = fileURLToPath(new URL("../../../../", import.meta.url))

/** The keys of the references that the sources of a package declare. */
const declaredIn = (name: string): ReadonlyArray<string> => {
  const folder = `${packages}${name}/src/`
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const [, ...declarations] = readFileSync(folder + file, "utf8").split("Context.Reference<")
      return declarations.map((text) => /"(runplane\/[^"]+)"/.exec(text)?.[1] ?? `one of ${file} without a key`)
    })
}

class Database extends Context.Service<Database, { readonly name: string }>()("runplane/test/Database") {}

describe("a context without services", () => {
  it("keeps every reference that code of the control plane, or under it, may look up", () => {
    const declared = ["control-plane", "runtime", "server"].flatMap(declaredIn)
    assert.isAbove(declared.length, 10)
    assert.deepStrictEqual([...OUR_REFERENCES].sort(), declared.sort())
  })

  it.effect("lets go of the services alone, for as long as the effect runs", () => {
    const met: Array<string> = []
    return Effect.gen(function* () {
      const keys = Effect.map(Effect.context<never>(), ({ mapUnsafe }) => [...mapUnsafe.keys()])
      const before = yield* keys
      const seen = yield* withoutServices(
        Effect.gen(function* () {
          const { sideEffectFailed } = yield* Metrics
          yield* Effect.sync(() => sideEffectFailed("publish"))
          return { keys: yield* keys, level: yield* References.MinimumLogLevel }
        })
      )
      assert.deepStrictEqual([met, seen.level], [["publish"], "Error"])
      assert.deepStrictEqual(
        seen.keys,
        before.filter((key) => key !== Database.key)
      )
      assert.include(before, Database.key)
      assert.deepStrictEqual(yield* keys, before)
    }).pipe(
      Effect.provideService(Database, { name: "d" }),
      Effect.provideService(References.MinimumLogLevel, "Error"),
      Effect.provide(countedMetrics({ sideEffectFailed: (step) => void met.push(step) }))
    )
  })
})
