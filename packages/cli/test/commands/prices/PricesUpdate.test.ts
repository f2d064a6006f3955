import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { MAX_CATALOGUE_FILE } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../../src/index.ts"

const listOf = (prices: Readonly<Record<string, unknown>>) =>
  JSON.stringify([
    {
      id: "ours",
      name: "Ours",
      api_pattern: "ours",
      models: Object.entries(prices).map(([id, input]) => ({
        id,
        match: { equals: id },
        prices: { input_mtok: input, output_mtok: 8 }
      }))
    }
  ])

/** A folder, and a server whose answer a test sets. */
class World extends Context.Service<
  World,
  { readonly folder: string; readonly url: string; answer: { status: number; body: string } }
>()("test/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.acquireRelease(
      Effect.promise(async () => {
        const folder = mkdtempSync(join(tmpdir(), "runplane-prices-"))
        const world = { folder, url: "", answer: { status: 200, body: "" } }
        const server = createServer((_, response) => response.writeHead(world.answer.status).end(world.answer.body))
        await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
        world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data.json`
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

const update = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const before = (yield* TestConsole.logLines).length
  const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), ["prices", "update", ...args])
  const outcome = yield* Effect.result(Effect.provide(program, NodeServices.layer))
  const text = (yield* TestConsole.logLines).slice(before).join("\n")
  return Result.isSuccess(outcome)
    ? { code: 0, text, complaint: "" }
    : { code: exitCodeOf(outcome.failure), text, complaint: String(outcome.failure.message) }
})

layer(World.layer)("runplane prices update", (it) => {
  it.effect("writes the list of a file with its date, and says what changed", () =>
    Effect.gen(function* () {
      const { folder } = yield* World
      const [from, to] = [join(folder, "data.json"), join(folder, "model-prices.json")]
      writeFileSync(to, listOf({ kept: 1, dearer: 1, gone: 1 }))
      writeFileSync(from, listOf({ kept: 1, dearer: 2, new: 1 }))
      utimesSync(from, new Date("2026-02-03T04:05:06Z"), new Date("2026-02-03T04:05:06Z"))
      const { code, text } = yield* update("--from", from, "--to", to, "--json")
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(JSON.parse(text), {
        file: to,
        source: from,
        date: "2026-02-03",
        providers: 1,
        models: 3,
        added: ["ours/new"],
        changed: ["ours/dearer"],
        removed: ["ours/gone"]
      })
      assert.strictEqual(readFileSync(to, "utf8"), readFileSync(from, "utf8"))
      assert.strictEqual(statSync(to).mtime.toISOString(), "2026-02-03T04:05:06.000Z")
      const again = yield* update("--from", from, "--to", to)
      assert.match(again.text, /Models +3 of 1 providers/)
      assert.match(again.text, /Changed +0/)
      assert.deepStrictEqual(readdirSync(folder).toSorted(), ["data.json", "model-prices.json"])
    })
  )

  it.effect("writes the list of an address", () =>
    Effect.gen(function* () {
      const world = yield* World
      const to = join(world.folder, "fetched.json")
      world.answer = { status: 200, body: listOf({ one: 1 }) }
      const { code, text } = yield* update("--from", world.url, "--to", to)
      assert.strictEqual(code, 0)
      assert.match(text, /Added +1: ours\/one/)
      assert.strictEqual(readFileSync(to, "utf8"), world.answer.body)
    })
  )

  const huge = "x".repeat(MAX_CATALOGUE_FILE + 1)
  for (const [name, answer, complaint] of [
    ["a missing page", { status: 404, body: "" }, "it answered 404"],
    ["a page that is not JSON", { status: 200, body: "<html>" }, "is not a list of model prices"],
    ["another JSON document", { status: 200, body: "{}" }, "it must be a list of providers with models"],
    [
      "a negative price",
      { status: 200, body: listOf({ one: -1 }) },
      "input_mtok of ours/one is -1; a price is a number"
    ],
    [
      "an absurd price",
      { status: 200, body: listOf({ one: 1e9 }) },
      "input_mtok of ours/one is 1000000000; a price is"
    ],
    ["a price that is a text", { status: 200, body: listOf({ one: "2" }) }, "input_mtok of ours/one is not a number"],
    [
      "a price with a negative tier",
      { status: 200, body: listOf({ one: { base: 1, tiers: [{ start: 9, price: -2 }] } }) },
      "input_mtok of ours/one is -2; a price is"
    ],
    [
      "a name with the escape of a terminal",
      { status: 200, body: listOf({ "one\u001b[2J": 1 }) },
      'the name "one\\u001b[2J" has control characters'
    ],
    [
      "a name with a character that turns its direction",
      { status: 200, body: listOf({ "one\u202e": 1 }) },
      'the name "one\\u{202e}" has control characters'
    ],
    ["an endless answer", { status: 200, body: huge }, "too large for model prices"]
  ] as const) {
    it.effect(`refuses ${name}, and keeps the old list`, () =>
      Effect.gen(function* () {
        const world = yield* World
        const to = join(world.folder, "kept.json")
        writeFileSync(to, listOf({ one: 1 }))
        world.answer = answer
        const outcome = yield* update("--from", world.url, "--to", to)
        assert.notStrictEqual(outcome.code, 0)
        assert.include(outcome.complaint, complaint)
        assert.strictEqual(readFileSync(to, "utf8"), listOf({ one: 1 }))
      })
    )
  }

  it.effect("names a file that cannot be read, used or written", () =>
    Effect.gen(function* () {
      const { folder } = yield* World
      const [bad, good] = [join(folder, "bad.json"), join(folder, "good.json")]
      writeFileSync(bad, '{"models": {}}')
      writeFileSync(good, listOf({ one: 1 }))
      const missing = yield* update("--from", join(folder, "none.json"))
      assert.deepStrictEqual([missing.code, missing.complaint.includes("cannot be read")], [2, true])
      const unusable = yield* update("--from", bad)
      assert.deepStrictEqual([unusable.code, unusable.complaint.startsWith(`${bad} is not a list`)], [2, true])
      const unwritable = yield* update("--from", good, "--to", join(folder, "nowhere", "x.json"))
      assert.deepStrictEqual([unwritable.code, unwritable.complaint.includes("cannot be written")], [1, true])
    })
  )
})
