// The two README commands start here, on any Node of 18 or later and with nothing installed.
// It brings pnpm and the frozen install (which brings Node 24), then runs the named script of package.json.
// Dependency-free on purpose; when there is nothing to do it costs a hash of the manifests.
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  accessSync,
  existsSync,
  constants as files,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync
} from "node:fs"
import { homedir, constants as os } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const PNPM = "12.21.0"
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tools = join(root, ".tools", `pnpm-${PNPM}`)
const windows = process.platform === "win32"
const bin = (folder, name) => join(folder, "node_modules", ".bin", windows ? `${name}.cmd` : name)
const say = (text) => process.stderr.write(`runplane: ${text}\n`)

const fail = (text) => {
  say(text)
  process.exit(1)
}

/** Package managers keep caches in the home folder; a user without one (a service account) gets one in `.tools`. */
const home = () => {
  try {
    accessSync(homedir(), files.W_OK)
    return {}
  } catch {
    return { HOME: join(root, ".tools", "home") }
  }
}

const run = (command, args, env) => {
  const result = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...home(), ...env },
    shell: windows,
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  if (result.error) fail(`cannot run ${command}: ${result.error.message}`)
  if (result.status !== 0) {
    process.stderr.write(result.stdout + result.stderr)
    fail(`${command} ${args.join(" ")} failed with exit code ${result.status}`)
  }
}

const manifests = () => {
  const packages = readdirSync(join(root, "packages"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join("packages", entry.name, "package.json"))
  return ["package.json", "pnpm-workspace.yaml", "pnpm-lock.yaml", ...packages.sort()]
}

const installStamp = () => {
  const hash = createHash("sha256").update(`${PNPM} ${process.platform} ${process.arch}`)
  for (const file of manifests()) {
    const path = join(root, file)
    if (existsSync(path)) hash.update(file).update(readFileSync(path))
  }
  return hash.digest("hex")
}

/** What is installed, and what a test run keeps, goes into the checkout. */
const ensureWritable = (purpose) => {
  try {
    accessSync(root, files.W_OK)
  } catch (error) {
    const why = error.code === "EROFS" ? "is on a read-only file system" : "may not be written by this user"
    fail(`${root} ${why}, and ${purpose}; clone it to a folder of your own`)
  }
}

const ensurePnpm = () => {
  if (existsSync(bin(tools, "pnpm"))) return
  say(`fetching pnpm ${PNPM} into .tools`)
  mkdirSync(tools, { recursive: true })
  writeFileSync(
    join(tools, "package.json"),
    JSON.stringify({ private: true, allowScripts: { [`pnpm@${PNPM}`]: true } })
  )
  run("npm", ["install", "--prefix", tools, "--no-save", "--no-audit", "--no-fund", `pnpm@${PNPM}`])
}

const ensureInstall = () => {
  const stampFile = join(root, "node_modules", ".runplane-install")
  const stamp = installStamp()
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return
  ensureWritable("the dependencies have to be installed there")
  ensurePnpm()
  say("installing the locked dependencies, Node 24 among them")
  run(bin(tools, "pnpm"), ["install", "--frozen-lockfile", "--trust-lockfile", "--reporter=append-only"], {
    CI: "true"
  })
  writeFileSync(stampFile, stamp)
}

/** What the console is made of: its own sources, and the packages that it takes with it. */
const CONSOLE_SOURCES = ["packages/console", "packages/api", "packages/domain"]
const NOT_SOURCES = new Set(["node_modules", "dist", "test", "openapi", "screenshots"])
/** Scripts that serve the console. */
const SERVES_CONSOLE = new Set(["start:app", "console:all"])

const filesIn = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return entry.isFile() ? [path] : []
    return NOT_SOURCES.has(entry.name) ? [] : filesIn(path)
  })

/** Builds the web console when something that it is made of has changed. */
const ensureConsole = () => {
  const hash = createHash("sha256").update(readFileSync(join(root, "pnpm-lock.yaml")))
  for (const file of CONSOLE_SOURCES.flatMap(filesIn).sort()) hash.update(file).update(readFileSync(join(root, file)))
  const stamp = hash.digest("hex")
  const stampFile = join(root, "node_modules", ".runplane-console")
  const isBuilt = existsSync(join(root, "packages", "console", "dist", "index.html"))
  if (isBuilt && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return
  ensureWritable("the web console has to be built there")
  say("building the web console")
  // A start does not fail for a script that is too large; the tests do.
  const budget = script === "start:app" ? { CONSOLE_BUDGET: "told" } : {}
  const node = join(root, "node_modules", ".bin", windows ? "node.cmd" : "node")
  const vite = join(root, "packages", "console", "node_modules", "vite", "bin", "vite.js")
  run(existsSync(node) ? node : process.execPath, [vite, "build", join(root, "packages", "console")], budget)
  writeFileSync(stampFile, stamp)
}

/** The Node of the lockfile where its platform has one, else the Node that runs this, if it is new enough. */
const chooseNode = () => {
  const pinned = join(root, "node_modules", ".bin", windows ? "node.cmd" : "node")
  if (existsSync(pinned)) return
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return
  fail(`no packaged Node for ${process.platform}-${process.arch}; install Node 24 (or 22.19) and run this again`)
}

/** The id of the npm that runs this, with a shell in between or without; none where that cannot be told. */
const npmProcess = () => {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  try {
    const [, name, parent] = /\((.*)\) . (\d+)/s.exec(readFileSync(`/proc/${process.ppid}/stat`, "utf8")) ?? []
    return /^(ba|da)?sh$/.test(name ?? "") ? parent : String(process.ppid)
  } catch {
    return undefined
  }
}

const [script, ...args] = process.argv.slice(2)
if (script === undefined) fail("usage: node scripts/run.mjs <script of package.json> [arguments]")
const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts
if (scripts[script] === undefined) fail(`package.json has no script "${script}"`)

ensureInstall()
chooseNode()
if (SERVES_CONSOLE.has(script)) ensureConsole()

// The script's command runs directly, with the workspace's binaries first on the path: no package manager in between
// means signals reach it at once and its exit code is ours.
const [command, ...fixed] = scripts[script].split(" ")
if (command === "vitest") ensureWritable("the tests keep files there")
const child = spawn(command, [...fixed, ...args], {
  cwd: root,
  env: {
    // Compiling what is imported is two thirds of a start.
    NODE_COMPILE_CACHE: join(root, ".tools", "compile-cache"),
    ...process.env,
    PATH: [join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(windows ? ";" : ":")
  },
  shell: windows,
  stdio: "inherit"
})
// Should this process be killed without a chance to do anything, a shell ends the command: it waits on a pipe that only
// this process holds open. Without the shell everything works but that.
const guard = windows
  ? undefined
  : spawn("/bin/sh", ["-c", 'read -r _; kill -TERM "$1"', "runplane-guard", String(child.pid)], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"]
    }).on("error", () => {})
// The terminal sends Ctrl-C to the whole group; a signal sent to this process alone has to be handed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  })
}
// npm that is killed outright hands nothing on: its shell and this process would go on by themselves.
const npm = npmProcess()
const watch = npm === undefined ? undefined : setInterval(() => npmProcess() === npm || child.kill("SIGTERM"), 1000)
watch?.unref()
child.on("error", (error) => fail(`cannot run ${command}: ${error.message}`))
child.on("exit", (code, signal) => {
  guard?.kill("SIGKILL")
  process.exit(code ?? 128 + (os.signals[signal] ?? 0))
})
