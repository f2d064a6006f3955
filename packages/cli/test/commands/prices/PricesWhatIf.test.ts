import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../../src/index.ts"

const MILLION = 1_000_000
const SINCE = "2026-01-01T00:00:00.000Z"
const callsOf = (model: string, recorded: number, calls: number) => ({
  at: "2026-03-01T10:00:00.000Z",
  model,
  promptTokens: MILLION,
  totalTokens: MILLION,
  estimatedCostUsd: recorded,
  costBasis: "fallback",
  calls
})
const pages = [
  { since: SINCE, calls: 3, groups: [callsOf("house", 1, 3)], next: 40 },
  { since: SINCE, calls: 2, groups: [callsOf("house", 1, 1), callsOf("gpt-4o", 1, 1)] }
]

/** A service with two pages of calls, which notes the queries of its callers. */
class World extends Context.Service<
  World,
  { readonly folder: string; readonly url: string; readonly queries: Array<string> }
>()("test/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.acquireRelease(
      Effect.promise(async () => {
        const world = { folder: mkdtempSync(join(tmpdir(), "runplane-whatif-")), url: "", queries: [] as string[] }
        const server = createServer((request, response) => {
          const { search, searchParams } = new URL(request.url ?? "", "http://localhost")
          world.queries.push(search)
          response.setHeader("content-type", "application/json")
          response.end(JSON.stringify(pages[searchParams.has("before") ? 1 : 0]))
        })
        await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
        world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        return { world, server }
      }),
      ({ server, world }) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
          rmSync(world.folder, { recursive: true })
        })
    ).pipe(Effect.map(({ world }) => world))
  )
}

const whatIf = Effect.fnUntraced(function* (file: object | string, ...args: ReadonlyArray<string>) {
  const { folder, url } = yield* World
  const path = join(folder, "new.json")
  writeFileSync(path, typeof file === "string" ? file : JSON.stringify(file))
  const before = (yield* TestConsole.logLines).length
  const line = ["prices", "whatif", "--url", url, "--since", "2026-01-01", "--file", path, ...args]
  const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), line)
  const outcome = yield* Effect.result(Effect.provide(program, NodeServices.layer))
  const text = (yield* TestConsole.logLines).slice(before).join("\n")
  return Result.isSuccess(outcome)
    ? { code: 0, text, complaint: "" }
    : { code: exitCodeOf(outcome.failure), text, complaint: String(outcome.failure.message) }
})

layer(World.layer)("runplane prices whatif", (it) => {
  const file = { prices: [{ match: { equals: "house" }, input: 0.5, output: 1 }] }

  it.effect("reads all pages, and prices their calls by the file, the built-in table and the catalogue", () =>
    Effect.gen(function* () {
      const { queries } = yield* World
      const { code, text } = yield* whatIf(file, "--json")
      assert.strictEqual(code, 0)
      const { models, ...sums } = JSON.parse(text)
      assert.deepStrictEqual(sums, {
        ...{ since: SINCE, isPartial: false, calls: 5, callsWithoutUsage: 0 },
        ...{ recordedUsd: 5, recordedGuessUsd: 5, costUsd: 4.5, guessedCostUsd: 0, differenceUsd: -0.5 }
      })
      assert.deepInclude(models[1], { model: "gpt-4o", costUsd: 2.5, differenceUsd: 1.5 })
      assert.deepInclude(models[0], { model: "house", calls: 4, costUsd: 2, priceKey: "file/house" })
      assert.deepStrictEqual(
        queries.map((query) => new URLSearchParams(query).get("before")),
        [null, "40"]
      )
    })
  )

  it.effect("prices by exact names alone without a catalogue, and marks guesses", () =>
    Effect.gen(function* () {
      const { text } = yield* whatIf(file, "--catalogue", "off")
      assert.match(text, /gpt-4o .*≈ \$1\.0000 +≈ \$1\.0000 +\$0\.00/)
      assert.match(text, /Recorded +\$5\.0000, 100\.0 % of it guessed/)
      assert.match(text, /What if +\$3\.0000, 33\.3 % of it guessed/)
      assert.match(text, /Difference +-\$2\.0000/)
    })
  )

  it.effect("names all faults of a file, and calls no service then", () =>
    Effect.gen(function* () {
      const { queries } = yield* World
      const before = queries.length
      const { code, complaint } = yield* whatIf('{\n"prices": [{ "match": {}, "input": -1, "output": 1 }]}')
      assert.strictEqual(code, 2)
      assert.include(complaint, "line 2: prices[0].match")
      assert.include(complaint, "line 2: prices[0].input")
      assert.lengthOf(queries, before)
    })
  )
})
