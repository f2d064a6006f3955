// Builds the packages in a fresh copy of this checkout, and installs them as a user would: packed, into empty folders
// elsewhere, on plain Node.
//
//   npm run test:packages [-- --release FOLDER]
//
// --release also runs them on other Nodes, on Bun and on Deno, and copies the packed files into a folder.
//
// It runs on the Node that started it, of version 20 at least; the services run on the Node of the lockfile.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { gzipSync } from "node:zlib"
import { testEngines } from "./packages/engines.mjs"
import { everyCall } from "./packages/everyCall.mjs"
import { testPacksOfAnAuthor } from "./packages/packs.mjs"
import { testImagePrograms } from "./packages/programs.mjs"
import { testNodeReceiver, testPython } from "./packages/receivers.mjs"
import {
  copyFiles,
  example,
  explain,
  freePort,
  install,
  plainPath,
  run,
  say,
  startStack,
  step,
  trackedFiles
} from "./packages/support.mjs"

/** An install, the console and all packages, with cold caches. Milliseconds. */
const BUILD_LIMIT = 480_000
/** The Promise client in a browser's bundle, compressed. Bytes. */
const CLIENT_BUDGET = 30_000

const { release } = parseArgs({ options: { release: { type: "string" } } }).values

const folder = realpathSync(mkdtempSync(join(tmpdir(), "runplane-packages-")))
const plain = { ...process.env, PATH: plainPath }

/** The copy, whose dist/ and tools are used from here on: nothing of this checkout's own builds and installs. */
const checkout = join(folder, "checkout")
copyFiles(trackedFiles(), checkout)
step("npm run build in a fresh copy of the checkout")
try {
  run("npm", ["run", "--silent", "build"], { cwd: checkout, env: plain, timeout: BUILD_LIMIT })
} catch (error) {
  explain(error)
  rmSync(folder, { recursive: true, force: true })
  process.exit(1)
}
say("npm run build makes the packages in a fresh copy of the checkout")
const dist = join(checkout, "dist")
const tool = (name) => join(checkout, "node_modules", name)
const versionOf = (name) => JSON.parse(readFileSync(join(tool(name), "package.json"), "utf8")).version
const { rolldown } = await import(pathToFileURL(createRequire(join(checkout, "package.json")).resolve("rolldown")).href)

/** The Node of the lockfile, for the services. On the path it is in front, and not what a user has. */
const services = dirname(realpathSync(tool(".bin/node")))
const modern = { ...process.env, PATH: [services, plainPath].join(delimiter) }

const pack = (name) => {
  const { stdout } = run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: join(dist, name), env: plain })
  const [{ filename, files }] = JSON.parse(stdout)
  for (const wanted of ["package.json", "README.md", "LICENSE"]) {
    if (!files.some(({ path }) => path === wanted)) throw new Error(`the package ${name} has no ${wanted}`)
  }
  const text = readFileSync(join(dist, name, "package.json"), "utf8")
  if (/workspace:|catalog:/.test(text)) throw new Error(`the package ${name} refers to the workspace`)
  return join(folder, filename.replace("@", "").replace("/", "-"))
}

const project = (name, manifest = {}) => {
  const path = join(folder, name)
  mkdirSync(path)
  writeFileSync(join(path, "package.json"), JSON.stringify({ name, private: true, type: "module", ...manifest }))
  return path
}

/** A Node that is older than the services need: the one that runs this, or one of npm. */
const oldNode = () => {
  if (Number.parseInt(process.versions.node, 10) < 22) return process.execPath
  const elsewhere = project("old-node")
  const name = `node-${process.platform}-${process.arch}`
  install(elsewhere, plain, `${name}@20.19.0`)
  return join(elsewhere, "node_modules", name, "bin/node")
}

const compile = (cwd, moduleResolution, { file = "index.ts", flags = [] } = {}) => {
  const module = moduleResolution === "bundler" ? "esnext" : "nodenext"
  const args = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--module",
    module,
    "--moduleResolution",
    moduleResolution
  ]
  const lib = ["--lib", "es2022,dom,dom.iterable,dom.asynciterable", "--types", ""]
  const { stdout } = run(tool(".bin/tsc"), [...args, ...flags, ...lib, file], { cwd, env: modern })
  if (stdout.trim() !== "") throw new Error(stdout)
}

let stack
try {
  step("packing")
  const [domain, client, contracts, runplane] = ["domain", "client", "contracts", "runplane"].map(pack)
  say("four packages, packed, without anything of the workspace")

  step("installing the package runplane and starting it")
  const program = project("services")
  install(program, modern, runplane)
  const bin = join(program, "node_modules/.bin/runplane")
  if (!/^runplane v\d/.test(run(bin, ["--version"], { cwd: program, env: modern }).stdout))
    throw new Error("no version")
  const { RUNPLANE_DATA_DIR: _, ...elsewhere } = modern
  const started = await startStack(bin, ["dev"], program, { ...elsewhere, THROTTLE_LIMIT: "10000" })
  stack = started.stack
  const { ports, output } = started
  if (!output.includes("commits an approval")) throw new Error(`no decided run:\n${output}`)
  if (!existsSync(join(program, ".data"))) throw new Error("the data are not in the folder of the start")
  const page = await fetch(`http://127.0.0.1:${ports.CONTROL_PLANE_PORT}/console/`)
  const html = await page.text()
  if (page.status !== 200 || !html.includes("<script"))
    throw new Error(`/console/: ${page.status} ${html.slice(0, 200)}`)
  say("npx runplane dev shows a decided run and serves the console, from an empty folder")

  const refused = run(oldNode(), [realpathSync(bin), "runs", "list"], { cwd: program, env: plain, expected: 1 })
  if (!/^runplane: Node 22\.19 or later is needed, and this is Node \d+\.\S+\n$/.test(refused.stderr))
    throw new Error(`on an older Node: ${refused.stderr}`)
  say("runplane names the Node that it needs on an older one")

  const addresses = {
    RUNPLANE_URL: `http://127.0.0.1:${ports.CONTROL_PLANE_PORT}`,
    RUNPLANE_LAUNCHER_URL: `http://127.0.0.1:${ports.LAUNCHER_PORT}`
  }
  step("runplane runs list and watch")
  // The newest run waits for the answer of a person.
  const list = ["runs", "list", "--status", "completed", "--json"]
  const listed = run(bin, list, { cwd: program, env: { ...modern, ...addresses } })
  const { data } = JSON.parse(listed.stdout)
  const narrative = run(bin, ["runs", "watch", data[0].id], { cwd: program, env: { ...modern, ...addresses } }).stdout
  if (!narrative.includes("commits an approval")) throw new Error(narrative)
  run(bin, ["runs", "list", "--url", "http://127.0.0.1:1"], { cwd: program, env: modern, expected: 5 })
  say("runplane runs list and watch, installed alone")

  step("runplane query without and with DuckDB")
  const question = ["query", "SELECT count(*) AS n FROM runs", "--csv", "--archive", `file://${join(program, "none")}`]
  const absent = run(bin, question, { cwd: program, env: modern, expected: 1 }).stderr
  const [, duckdb] =
    /^runplane: runplane query needs DuckDB: .* npm install (@duckdb\/node-api@\S+\w),/.exec(absent) ?? []
  if (duckdb === undefined) throw new Error(absent)
  install(program, modern, duckdb)
  const counted = run(bin, question, { cwd: program, env: modern }).stdout
  if (counted !== "n\n0\n") throw new Error(counted)
  say("runplane query names the package that it needs, and runs beside it")

  step("installing and compiling @runplane/client")
  const caller = project("caller")
  install(caller, plain, client)
  const lines = example("docs/reference/clients.md", "ts", "import { createControlPlane")
  writeFileSync(join(caller, "index.ts"), lines)
  for (const mode of ["nodenext", "bundler"]) compile(caller, mode)
  say("ten lines on @runplane/client compile in nodenext and bundler mode without a message")
  const every = everyCall()
  writeFileSync(join(caller, "every.ts"), every.text)
  for (const exact of ["true", "false"]) {
    compile(caller, "nodenext", { file: "every.ts", flags: ["--exactOptionalPropertyTypes", exact] })
  }
  say(`calls of all ${every.count} operations compile with what they require, and not without it`)
  // The document's addresses are those of a stack of one's own.
  const aimed = lines
    .replace("http://127.0.0.1:3001", addresses.RUNPLANE_URL)
    .replace("http://127.0.0.1:3000", addresses.RUNPLANE_LAUNCHER_URL)
  writeFileSync(join(caller, "index.mjs"), aimed)
  const decided = run("node", ["index.mjs"], { cwd: caller, env: plain })
  if (!decided.stdout.includes("decision.selected")) throw new Error(decided.stdout + decided.stderr)
  say(`the same lines on Node ${run("node", ["--version"], { env: plain }).stdout.trim()} print the decision`)

  step("bundling the client")
  const bundle = await rolldown({ input: join(caller, "index.mjs"), platform: "browser", logLevel: "silent" })
  const { output: chunks } = await bundle.generate({ format: "esm", minify: true })
  const bytes = gzipSync(chunks.map(({ code = "" }) => code).join("")).length
  if (chunks.some(({ moduleIds = [] }) => moduleIds.some((id) => /[/\\]effect[/\\]/.test(id))))
    throw new Error("effect")
  if (bytes > CLIENT_BUDGET) throw new Error(`the client's bundle has ${bytes} bytes, more than ${CLIENT_BUDGET}`)
  say(`bundled for a browser: ${bytes} bytes compressed, at most ${CLIENT_BUDGET}`)

  step("the client for Effect")
  const effectful = project("effectful")
  install(effectful, modern, domain, client, `effect@${versionOf("effect")}`)
  writeFileSync(
    join(effectful, "index.ts"),
    `import { ControlPlaneClient } from "@runplane/client/effect"
import { emptyRunState } from "@runplane/domain"
export const layer = ControlPlaneClient.layer({ baseUrl: "http://127.0.0.1:3001" })
export const state = emptyRunState
`
  )
  for (const mode of ["nodenext", "bundler"]) compile(effectful, mode)
  run(
    "node",
    ["-e", 'import("@runplane/client/effect").then(({ ControlPlaneClient: c }) => { if (!c) process.exit(1) })'],
    {
      cwd: effectful,
      env: modern
    }
  )
  const fold = example("scripts/build/readme/domain.md", "ts", "import { decodeEvent")
  writeFileSync(join(effectful, "fold.ts"), fold.replace("http://127.0.0.1:3001", addresses.RUNPLANE_URL))
  const folded = run("node", ["fold.ts", data[0].id], { cwd: effectful, env: modern }).stdout
  if (folded !== "completed decision.selected\n") throw new Error(folded)
  say("@runplane/client/effect and @runplane/domain compile and load, and fold a run as the page on npm shows")

  step("reading @runplane/contracts")
  const reader = project("reader")
  install(reader, plain, contracts)
  const openapi = JSON.parse(
    readFileSync(join(reader, "node_modules/@runplane/contracts/openapi/control-plane.json"), "utf8")
  )
  if (openapi.openapi !== "3.1.0") throw new Error("no OpenAPI document")
  writeFileSync(join(reader, "index.mjs"), example("scripts/build/readme/contracts.md", "js", "import controlPlane"))
  if (!/^\d+ paths$/m.test(run("node", ["index.mjs"], { cwd: reader, env: plain }).stdout)) throw new Error("no paths")
  say("@runplane/contracts has the documents")

  const env = { ...modern, ...addresses }
  if (release !== undefined) testEngines({ bin, caller, env: { ...plain, ...addresses }, project })
  await testNodeReceiver({ bin, env, folder: project("receiver"), port: await freePort(), plain })
  await testPacksOfAnAuthor({ archive: runplane, env: modern, folder: join(folder, "author") })
  const source = join(dist, "python")
  await testPython({ addresses, bin, env, folder: project("python"), port: await freePort(), plain, source })
  await testImagePrograms(join(folder, "image"), modern)
  if (release !== undefined) {
    mkdirSync(resolve(release), { recursive: true })
    const wheels = join(folder, "python", "wheel")
    if (!existsSync(wheels)) throw new Error("a release has the wheel for Python, and this machine could not build it")
    const built = readdirSync(wheels).map((name) => join(wheels, name))
    for (const file of [domain, client, contracts, runplane, ...built])
      copyFileSync(file, join(resolve(release), basename(file)))
  }
} catch (error) {
  explain(error)
  if (stack !== undefined) console.error(`\nThe stack said last:\n${stack.text().slice(-6000)}`)
  process.exitCode = 1
} finally {
  await stack?.stop()
  const data = join(folder, "services/.data/postgres")
  // Root's database lives elsewhere, with a link to it.
  if (existsSync(data)) rmSync(realpathSync(data), { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}
