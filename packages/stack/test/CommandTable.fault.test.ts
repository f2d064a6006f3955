import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { temporaryFolder } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { checkEveryCommand } from "./support/CommandTable.ts"
import { checkGates } from "./support/GateRuns.ts"
import { checkDocumentedLines, checkLocalCommands } from "./support/LocalCommands.ts"
import { checkMcp } from "./support/McpCommand.ts"
import { startStack } from "./support/StackProcess.ts"
import { packsWith } from "./support/TestPacks.ts"

// docs/reference/cli.md#exit-codes
layer(Layer.empty, { excludeTestServices: true })("runplane", (it) => {
  it.effect("answers to every command as its documents say, on a running stack", () =>
    Effect.gen(function* () {
      const packs = yield* packsWith({})
      const { line, ports } = yield* startStack({
        env: { RUNPLANE_DATA_DIR: yield* temporaryFolder, PACKS_DIR: packs }
      })
      assert.isDefined(yield* line("Serving"))
      const url = `http://127.0.0.1:${ports.controlPlane}`
      // The example with a person goes on.
      const page = { limit: 1, offset: 0, includeArchived: false } as const
      const query = { ...page, status: "completed", sortBy: "createdAt", sortOrder: "desc" } as const
      const { data } = yield* Effect.flatMap(ControlPlaneClient, ({ api }) => api.runs.list({ query })).pipe(
        Effect.provide(ControlPlaneClient.layer({ baseUrl: url }).pipe(Layer.provide(NodeHttpClient.layerNodeHttp)))
      )
      yield* checkEveryCommand(ports, String(data[0]?.id))
      yield* checkGates(ports, packs)
      yield* checkMcp(ports, String(data[0]?.id))
    })
  )

  it.effect("prints JSON in commands without a service, or reports that they have none", () => checkLocalCommands)

  it.effect("understands every line of the documents", () => checkDocumentedLines)
})
