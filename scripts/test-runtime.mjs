// The tests against the reference runtime: brings macp-runtime with cargo, built once and kept in .tools, and runs the
// test project "runtime" with it. Exit code 77: this machine cannot build it; the last line on stderr says why.
import { spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bringClients, bringConform, bringFaketime, QUICK, runInto, say, start, works } from "./runtime/tools.mjs"

/** Releases that can be tested with, and what their build needs in place of the newest dependency. */
const RELEASES = { "0.13.0": undefined, "0.9.0": { "macp-proto": "0.1.11" } }
const CANNOT_RUN = 77

const given = process.argv.slice(2)
const named = given.indexOf("--release")
const VERSION = named < 0 ? "0.13.0" : given.splice(named, 2)[1]

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tools = join(root, ".tools")
const folder = join(tools, `macp-runtime-${VERSION}`)
const built = join(folder, "bin", "macp-runtime")
/** One that is there already, for machines that keep it elsewhere; it must be of this version. */
const binary = process.env.MACP_RUNTIME_BINARY || built
const log = join(folder, "build.log")

const stop = (text, code) => {
  say(text)
  process.exit(code)
}

if (!(VERSION in RELEASES)) stop(`--release is one of ${Object.keys(RELEASES).join(", ")}`, 1)

const run = runInto(log)

/** The build needs the protobuf compiler, which Debian has and root may install. */
const ensureProtoc = async () => {
  if (works(process.env.PROTOC ?? "protoc", ["--version"])) return
  if (process.getuid?.() === 0 && works("apt-get", ["--version"])) {
    say("installing protobuf-compiler with apt-get")
    const quiet = { DEBIAN_FRONTEND: "noninteractive" }
    const install = () => run("apt-get", ["install", "--yes", "--no-install-recommends", "protobuf-compiler"], quiet)
    if ((await install()) || ((await run("apt-get", ["update"], quiet)) && (await install()))) return
  }
  stop("protoc is not installed; install protobuf-compiler (Debian, Ubuntu) or protobuf (Homebrew)", CANNOT_RUN)
}

/** Where cargo has put the sources of the release. */
const findSources = () => {
  const sources = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src")
  const registries = existsSync(sources) ? readdirSync(sources) : []
  return registries.map((registry) => join(sources, registry, `macp-runtime-${VERSION}`)).find(existsSync)
}

/** The fixtures come with the sources; kept beside the binary, because cargo may forget its sources. */
const keepFixtures = () => {
  const found = findSources()
  for (const kind of ["conformance", "vectors"]) {
    const fixtures = found && join(found, "tests", kind)
    if (fixtures && existsSync(fixtures)) cpSync(fixtures, join(folder, "tests", kind), { recursive: true })
  }
}

/** An older release does not build with the newest of its dependencies: its sources, with those it was made with. */
const pinSources = async (pins) => {
  const asking = join(folder, "asking")
  const manifest = join(asking, "Cargo.toml")
  mkdirSync(join(asking, "src"), { recursive: true })
  writeFileSync(join(asking, "src", "lib.rs"), "")
  writeFileSync(
    manifest,
    `[package]\nname = "asking"\nversion = "0.0.0"\n[dependencies]\nmacp-runtime = "=${VERSION}"\n`
  )
  await run("cargo", ["fetch", "--manifest-path", manifest])
  rmSync(asking, { recursive: true, force: true })
  const found = findSources()
  if (found === undefined) stop(`the sources of macp-runtime ${VERSION} were not found; see ${log}`, 1)
  const sources = join(folder, "source")
  cpSync(found, sources, { recursive: true })
  for (const file of ["Cargo.lock", "rust-toolchain.toml"]) rmSync(join(sources, file), { force: true })
  for (const [name, version] of Object.entries(pins)) {
    await run("cargo", ["update", "--manifest-path", join(sources, "Cargo.toml"), "-p", name, "--precise", version])
  }
  return sources
}

const build = async () => {
  if (!works("cargo", ["--version"])) stop("cargo is not installed; see https://rustup.rs", CANNOT_RUN)
  mkdirSync(folder, { recursive: true })
  rmSync(log, { force: true })
  await ensureProtoc()
  say(`building macp-runtime ${VERSION}, which takes some minutes; its log is ${log}`)
  const started = Date.now()
  const target = join(folder, "target")
  const pins = RELEASES[VERSION]
  const which =
    pins === undefined
      ? // Not --locked: the lock file of the crate names versions that its registry does not have any more.
        ["macp-runtime", "--version", `=${VERSION}`]
      : ["--path", await pinSources(pins), "--locked"]
  const install = ["install", ...which, "--bin", "macp-runtime", "--root", folder, "--target-dir", target, "--force"]
  const isBuilt = await run("cargo", install, QUICK)
  rmSync(target, { recursive: true, force: true })
  rmSync(join(folder, "source"), { recursive: true, force: true })
  if (!isBuilt || !existsSync(built)) stop(`macp-runtime ${VERSION} could not be built; see ${log}`, 1)
  keepFixtures()
  say(`built in ${Math.round((Date.now() - started) / 1000)} s`)
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/**
 * A runtime for the conformance fixtures: development credentials, sessions in memory. The other tests start their own.
 */
const startRuntime = async () => {
  const address = `127.0.0.1:${await freePort()}`
  const env = {
    ...process.env,
    MACP_ALLOW_INSECURE: "1",
    MACP_MEMORY_ONLY: "1",
    MACP_BIND_ADDR: address,
    MACP_SESSION_START_LIMIT_PER_MINUTE: "100000",
    MACP_MESSAGE_LIMIT_PER_MINUTE: "1000000"
  }
  const runtime = start(binary, [], { env, stdio: ["pipe", "pipe", "inherit"] })
  await new Promise((resolve) => {
    runtime.stdout.setEncoding("utf8")
    runtime.stdout.on("data", (text) => text.includes("listening") && resolve())
    runtime.once("exit", (code) => stop(`macp-runtime ended with exit code ${code}`, 1))
  })
  return { address, stop: () => runtime.removeAllListeners("exit") && runtime.stdin.end() }
}

if (process.platform === "win32")
  stop("the reference runtime is started by a shell, which this system has not", CANNOT_RUN)
if (binary === built && !existsSync(built)) await build()
// A binary of an earlier checkout can lack fixtures that later tests read.
else if (binary === built) keepFixtures()
// An older release is compared with nothing but itself.
const isNewest = VERSION === "0.13.0"
const conform = isNewest ? await bringConform(tools, VERSION) : undefined
const clients = isNewest ? await bringClients(tools) : undefined
const faketime = await bringFaketime(tools)
if (given.includes("--build-only")) process.exit(0)

const runtime = await startRuntime()
const vitest = ["run", "--config", "vitest.workspace.ts", "--project", "runtime", ...given]
const tests = spawn("vitest", vitest, {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    MACP_RUNTIME_BINARY: binary,
    MACP_RUNTIME_SOURCES: process.env.MACP_RUNTIME_SOURCES || folder,
    MACP_RUNTIME_UNDER_TEST: runtime.address,
    ...(faketime && { MACP_FAKETIME_LIBRARY: faketime }),
    ...(conform && { MACP_CONFORM_BINARY: conform }),
    ...(clients && { MACP_AGENTS_PYTHON: clients.agents, MACP_MCP_PYTHON: clients.mcp })
  }
})
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => tests.kill(signal))
tests.on("exit", (code) => {
  runtime.stop()
  process.exit(code ?? 1)
})
