import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { CliSettings, PROGRAMS, settingsOfProgram } from "@runplane/server"
import { createDatabase } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { command } from "./CommandLineReads.ts"
import { blocksOf } from "./DocumentBlocks.ts"

const ROOT = join(import.meta.dirname, "../../../..")
const VERSION = "incident/scenarios/region-failover/1.0.0"
const REF = "incident/region-failover@1.0.0"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))
const decodeObject = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** The output of a successful command: with `--json` one document, with `--jsonl` one value a line. */
const documents = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const json = yield* command([...args, "--json"])
  assert.deepStrictEqual([json.code, json.complaint], [0, ""], args.join(" "))
  const jsonl = yield* command([...args, "--jsonl"])
  assert.strictEqual(jsonl.code, 0, args.join(" "))
  return { json: decode(json.stdout.join("\n")), jsonl: jsonl.stdout.map((line) => decode(line)) }
})

/** The names that the sources of the client read from the environment. */
const namesInClient = () => {
  const folder = join(ROOT, "packages/cli/src")
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8"))
  return new Set(texts.flatMap((text) => [...text.matchAll(/env\["(RUNPLANE_\w+)"\]/g)].map(([, name]) => name)))
}

/** The lines of the documents that call the command, as their words; a shell's quotes are single ones. */
const documentedLines = () =>
  ["docs/reference/cli.md", "docs/reference/clients.md"].flatMap((document) =>
    blocksOf(document).flatMap(({ lines }) =>
      lines.flatMap((line) => {
        const args = /^(?:[A-Z_]+=\S* )?runplane (.*?)(?:\s+#.*)?$/.exec(line)?.[1]
        return args === undefined ? [] : [args.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", "")) ?? []]
      })
    )
  )

/** These commands start programs. */
const RUNNING = new Set(["dev", "serve", "migrate", "archive", "backup", "restore"])

/** These call no service. */
const CALLING_NOTHING = new Set(["packs", "query", "settings", "completions", "profiles", "help", "version"])

/** Every line of the documents with a command parses, and fails only because its service is unreachable. */
export const checkDocumentedLines = Effect.gen(function* () {
  const file = join(yield* temporaryFolder, "strict.json")
  writeFileSync(file, JSON.stringify({ rules: {} }))
  process.env["RUNPLANE_WEBHOOK_SECRET"] = "a secret of the test"
  // The documents add, use and remove profiles.
  process.env["XDG_CONFIG_HOME"] = yield* temporaryFolder
  const lines = documentedLines().filter(([name = ""]) => !RUNNING.has(name))
  assert.isAbove(lines.length, 15)
  for (const line of lines) {
    const nowhere = ["--url", "http://127.0.0.1:1", "--launcher-url", "http://127.0.0.1:1"]
    // `--find -` reads the standard input, which these tests have from their caller.
    const given: Readonly<Record<string, string>> = { "strict.json": file, "-": "a text" }
    const args = line.map((word) => given[word] ?? word)
    const callsNothing = CALLING_NOTHING.has(line[0] ?? "")
    const { code, complaint } = yield* command([...args, ...(line[0] === "profiles" ? [] : nowhere)])
    // The reader's own files are missing here. A command that reads only files calls no service.
    const readsFile = line[0] === "verify" || (line[0] === "prices" && ["update", "whatif"].includes(line[1] ?? ""))
    const expected = readsFile ? 2 : callsNothing ? 0 : 5
    assert.strictEqual(code, expected, `${line.join(" ")}: ${complaint}`)
    if (expected === 2) assert.include(complaint, "cannot be read")
  }
})

/** `backup` writes a file once, `restore` fills an empty database once. */
const checkBackups = Effect.fnUntraced(function* (url: string) {
  const on = (DATABASE_URL: string) =>
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { DATABASE_URL } }))
  const file = join(yield* temporaryFolder, "backup")
  const written = yield* command(["backup", file, "--json"]).pipe(on(url))
  assert.strictEqual(written.code, 0, written.complaint)
  const again = yield* command(["backup", file]).pipe(on(url))
  assert.deepStrictEqual([again.code, again.stdout], [1, []])
  assert.include(again.complaint, `${file} exists already`)
  const restored = yield* command(["restore", file, "--json"]).pipe(on(yield* createDatabase))
  assert.strictEqual(restored.code, 0, restored.complaint)
  const { bytes, file: name, hasPeople, sha256, ...counts } = decodeObject(written.stdout.join("\n"))
  assert.deepStrictEqual([name, typeof bytes, typeof sha256], [file, "number", "string"])
  assert.isFalse(hasPeople)
  assert.deepInclude(decodeObject(restored.stdout.join("\n")), { ...counts, applied: [], leftOut: [] })
  const full = yield* command(["restore", file]).pipe(on(url))
  assert.deepStrictEqual([full.code, full.stdout], [1, []])
  assert.include(full.complaint, "is not empty")
})

/** The output of every command without a service with `--json` (docs/reference/cli.md#output). */
export const checkLocalCommands = Effect.gen(function* () {
  for (const program of PROGRAMS) {
    const { json, jsonl } = yield* documents("settings", program)
    assert.lengthOf(jsonl, settingsOfProgram(program).length)
    assert.deepStrictEqual(json, jsonl)
  }
  assert.sameMembers(Object.keys(CliSettings), [...namesInClient()])

  for (const shell of ["bash", "zsh", "fish"]) {
    const { json } = yield* documents("completions", shell)
    assert.deepInclude(json, { shell })
    assert.notInclude(JSON.stringify(json), "--completions")
  }

  const list = join(yield* temporaryFolder, "prices.json")
  const models = [{ id: "m", match: { equals: "m" }, prices: { input_mtok: 1, output_mtok: 2 } }]
  writeFileSync(list, JSON.stringify([{ id: "p", name: "P", api_pattern: "p", models }]))
  const updated = yield* documents("prices", "update", "--from", list, "--to", `${list}.new`)
  assert.deepInclude(updated.json, { source: list, models: 1, changed: [] })
  assert.lengthOf(updated.jsonl, 1)

  const packs = join(yield* temporaryFolder, "packs")
  cpSync(join(ROOT, "packs"), packs, { recursive: true })
  const flags = ["--packs-root", packs, "--service-root", ROOT]
  const clean = { errors: 0, warnings: 0, findings: [] }
  assert.deepInclude((yield* documents("packs", "lint", ...flags)).json, clean)
  assert.deepInclude((yield* documents("packs", "validate", join(packs, VERSION), ...flags)).json, clean)
  const compiled = yield* documents("packs", "compile", REF, ...flags)
  assert.lengthOf(compiled.jsonl, 1)
  assert.deepInclude(compiled.json, { mode: "sandbox" })
  const made = yield* command(["packs", "new", "mine", "first", ...flags, "--json"])
  assert.deepInclude(decode(made.stdout.join("\n")), { scenarioRef: "mine/first@1.0.0" })
  const faulty = yield* command(["packs", "validate", join(packs, "nowhere"), ...flags, "--json"])
  assert.strictEqual(faulty.code, 1)
  assert.deepInclude(decode(faulty.stdout.join("\n")), { errors: 1 })

  const DATABASE_URL = yield* createDatabase
  const migrated = yield* documents("migrate").pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { DATABASE_URL } }))
  )
  const applied = Schema.decodeUnknownSync(
    Schema.Struct({ applied: Schema.Array(Schema.Struct({ id: Schema.Int, name: Schema.String })) })
  )(migrated.json)
  assert.lengthOf(applied.applied, readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql")).length)
  assert.deepStrictEqual(migrated.jsonl, [{ applied: [] }])
  yield* checkBackups(DATABASE_URL)

  for (const serving of ["dev", "serve all", "serve control-plane", "serve launcher", "serve sandbox"]) {
    const refused = yield* command([...serving.split(" "), "--json"])
    assert.deepStrictEqual([refused.code, refused.stdout], [2, []], serving)
    assert.include(refused.complaint, "has no --json")
  }
})
