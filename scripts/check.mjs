// Everything the continuous integration checks besides the tests, one line of result each: all of it, or the checks
// that are named as arguments. Exits 1 when one fails, after the output of those that did.
import { spawn } from "node:child_process"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  deadCitations,
  faultyMigrations,
  importFaults,
  largeFolders,
  longFiles,
  longGenerators,
  refusedSentences,
  repeatedNames,
  retiredIdentifiers,
  tableFaults,
  triggerFaults,
  unguardedLoops,
  wideLines
} from "../packages/checks/src/index.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const windows = process.platform === "win32"

const all = [
  { name: "types", run: () => types() },
  { name: "lint", run: () => command("biome", ["check", "--error-on-warnings", "."]) },
  { name: "generated", run: () => command("node", ["scripts/generate.mjs", "--check"]) },
  { name: "openapi", run: () => command("node", ["packages/api/scripts/lintOpenApi.mjs"]) },
  { name: "packs", run: () => command("node", ["packages/launcher/src/author/main.ts", "lint"]) },
  { name: "migrations", run: () => findings([...faultyMigrations(), ...triggerFaults()]) },
  { name: "imports", run: () => findings(importFaults()) },
  { name: "tables", run: () => findings(tableFaults()) },
  { name: "citations", run: () => findings(deadCitations()) },
  { name: "width", run: () => findings(wideLines()) },
  { name: "words", run: () => findings([...refusedSentences(), ...retiredIdentifiers()]) },
  { name: "loops", run: () => findings(unguardedLoops()) },
  { name: "length", run: () => findings([...longFiles(), ...longGenerators()]) },
  { name: "folders", run: () => findings([...largeFolders(), ...repeatedNames()]) }
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => all.every((check) => check.name !== name))
if (unknown.length > 0) {
  console.error(`unknown check ${unknown.join(", ")}; the checks are ${all.map(({ name }) => name).join(", ")}`)
  process.exit(1)
}
const checks = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name))

let failed = 0
for (const check of checks) {
  const started = performance.now()
  const { ok, output = "" } = await check.run()
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${ok ? "ok    " : "FAILED"} ${check.name.padEnd(10)} ${seconds.padStart(5)} s`)
  if (!ok) {
    failed += 1
    console.error(output.trim())
  }
}
if (failed > 0) {
  console.error(`${failed} of ${checks.length} checks failed`)
  process.exitCode = 1
}

function command(program, args) {
  const path = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)
  return new Promise((resolve) => {
    let output = ""
    const child = spawn(program, args, { cwd: root, env: { ...process.env, PATH: path }, shell: windows })
    child.stdout.on("data", (text) => (output += text))
    child.stderr.on("data", (text) => (output += text))
    child.on("error", (error) => resolve({ ok: false, output: `cannot run ${program}: ${error.message}` }))
    child.on("close", (code) => resolve({ ok: code === 0, output: output || `${program} ended with code ${code}` }))
  })
}

/** The console is for browsers, everything else for Node: two sets of libraries. */
async function types() {
  const checked = [await command("tsc", ["--noEmit"]), await command("tsc", ["--noEmit", "-p", "packages/console"])]
  return checked.find(({ ok }) => !ok) ?? { ok: true }
}

function findings(texts) {
  return { ok: texts.length === 0, output: texts.join("\n") }
}
