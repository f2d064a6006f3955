// The two README commands start here, on any Node of 18 or later and with nothing installed.
// It brings pnpm and the frozen install (which brings Node 24), then runs the named task of `tasks.mjs`.
// Dependency-free on purpose; when there is nothing to do it costs a hash of the manifests.
import { existsSync, readFileSync } from "node:fs"
import { constants as os } from "node:os"
import { join } from "node:path"
import { heapFlagsHere } from "./heap/flags.mjs"
import { consoleBuild } from "./run/console.mjs"
import { ensureInstall, ensureWritable, removePnpm, root } from "./run/install.mjs"
import { fail, failWith, guarded, windows } from "./run/processes.mjs"
import { TASKS } from "./tasks.mjs"

/** The Node of the lockfile where its platform has one, else the Node that runs this, if it is new enough. */
const chooseNode = () => {
  const pinned = join(root, "node_modules", ".bin", windows ? "node.cmd" : "node")
  if (existsSync(pinned)) return
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return
  fail(`no packaged Node for ${process.platform}-${process.arch}; install Node 24 (or 22.19) and run this again`)
}

/** The id of the npm that runs this, with a shell in between or without; undefined when it is unknown. */
const npmProcess = () => {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  try {
    const [, name, parent] = /\((.*)\) . (\d+)/s.exec(readFileSync(`/proc/${process.ppid}/stat`, "utf8")) ?? []
    return /^(ba|da)?sh$/.test(name ?? "") ? parent : String(process.ppid)
  } catch {
    return undefined
  }
}

// Looked at first: npm may be gone before the install is done.
const npm = npmProcess()

const [task, ...args] = process.argv.slice(2)
if (task === undefined) fail("usage: node scripts/run.mjs TASK [ARGUMENTS]")
if (!Object.hasOwn(TASKS, task)) fail(`there is no task "${task}"`)

let child
// npm that is killed outright hands nothing on: its shell and this process would go on by themselves.
const watch = setInterval(() => {
  if (npm === undefined || npmProcess() === npm) return
  if (child === undefined) process.exit(128 + os.signals.SIGTERM)
  child.kill("SIGTERM")
}, 1000)
watch.unref()

const forPrograms = await ensureInstall(task).catch(failWith)
chooseNode()
const webConsole = consoleBuild(task, args, forPrograms)
await webConsole.before()

// The command runs directly, with the workspace's binaries first on the path: no package manager in between
// means signals reach it at once and its exit code is ours.
const [command, ...fixed] = TASKS[task].split(" ")
if (command === "vitest") ensureWritable("the tests keep files there")
const heap = task === "start" ? heapFlagsHere() : []
child = guarded(command, [...heap, ...fixed, ...args], {
  cwd: root,
  env: {
    // Compiling what is imported is two thirds of a start.
    NODE_COMPILE_CACHE: join(root, ".tools", "compile-cache"),
    ...process.env,
    PATH: [join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(windows ? ";" : ":")
  },
  stdio: "inherit"
})
// The terminal sends Ctrl-C to the whole group; a signal to this process alone has to be forwarded.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    webConsole.stop()
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  })
}
child.on("error", (error) => fail(`cannot run ${command}: ${error.message}`))
child.on("exit", (code, signal) => process.exit(code ?? 128 + (os.signals[signal] ?? 0)))

await webConsole.beside()
if (forPrograms) removePnpm()
