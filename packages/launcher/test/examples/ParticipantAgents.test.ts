import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { AgentHost } from "../../src/agents/AgentHost.ts"
import { AgentCatalog } from "../../src/catalog/AgentCatalog.ts"
import { ParticipantAgents } from "../../src/examples/ParticipantAgents.ts"
import { profile } from "../fixtures/Compiled.ts"
import { memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

describe("the agents of a launch", () => {
  it.effect("are checked at the start: the log names those that cannot be started, with file and line", () =>
    Effect.gen(function* () {
      const logged = yield* Deferred.make<string>()
      const logger = Logger.make(({ message }) => void Deferred.doneUnsafe(logged, Effect.succeed(String(message))))
      const manifest = {
        id: "agent-a",
        name: "A",
        framework: "custom",
        entrypoint: { type: "node_file", value: "gone.js" }
      }
      const layer = ParticipantAgents.layer.pipe(
        Layer.provide(AgentCatalog.layerMemory([profile("agent-a")])),
        Layer.provide(Layer.mock(AgentHost, {})),
        Layer.provide(memoryFiles({ "/agents/manifests/agent-a.json": JSON.stringify(manifest, null, 2) })),
        Layer.provide(settingsLayer({ agentsDir: "/agents", serviceRoot: "/" })),
        Layer.provide(Logger.layer([logger]))
      )
      yield* Layer.build(layer)
      assert.match(
        yield* Deferred.await(logged),
        /^agents' folder: manifests\/agent-a\.json:7: there is no gone\.js beside .*: put it there, or correct entrypoint\.value$/
      )
    }).pipe(Effect.scoped)
  )
})
