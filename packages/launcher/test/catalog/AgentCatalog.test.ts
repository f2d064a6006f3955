import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentCatalog } from "../../src/catalog/AgentCatalog.ts"
import { profile } from "../fixtures/Compiled.ts"
import { type MemoryTree, memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

const refsIn = (tree: MemoryTree) =>
  Effect.map(AgentCatalog, ({ profiles }) => profiles.map(({ agentRef }) => agentRef)).pipe(
    Effect.provide(
      AgentCatalog.layer.pipe(Layer.provide(settingsLayer({ agentsDir: "/agents" })), Layer.provide(memoryFiles(tree)))
    )
  )

const profiles = { "/agents/profiles/agent-a.json": JSON.stringify(profile("agent-a")) }

describe("the profiles of agents", () => {
  it.effect("are read without litter, and without what cannot be read", () =>
    Effect.gen(function* () {
      const tree = { ...profiles, "/agents/profiles/._agent-a.json": "\u0000", "/agents/profiles/sub.json/x": "" }
      assert.deepStrictEqual(yield* refsIn(tree), ["agent-a"])
    })
  )

  it.effect("stop the start where one is broken", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(refsIn({ ...profiles, "/agents/profiles/b.json": "{" }))
      assert.match(error.message, /^invalid agent profile profiles\/b\.json/)
    })
  )
})
