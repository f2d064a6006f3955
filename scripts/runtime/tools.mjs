// What the tests against the reference runtime use beside it: macp-conform, and the clients of the protocol in Python.
// Each is brought once and kept in .tools. One that cannot be brought is left out, and stderr says why.
import { spawn, spawnSync } from "node:child_process"
import { createWriteStream, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const say = (text) => {
  process.stderr.write(`runtime: ${text}\n`)
}

/** Answers undefined, like `say`: there is no such program. */
const leaveOut = (what, why) => say(`left out: ${what}, because ${why}`)

export const works = (command, args) => spawnSync(command, args, { stdio: "ignore" }).status === 0

// Runs a program until its input ends: should this process be killed, what it started goes with it.
const UNTIL_INPUT_ENDS = 'exec 3<&0; "$0" "$@" </dev/null & pid=$!; (cat <&3 >/dev/null; kill -9 $pid) & wait $pid'

export const start = (command, args, options) => spawn("sh", ["-c", UNTIL_INPUT_ENDS, command, ...args], options)

/** Runs a command with its output at the end of a log; answers whether it succeeded. */
export const runInto =
  (log) =>
  (command, args, env = {}) =>
    new Promise((resolve) => {
      const child = start(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] })
      const output = createWriteStream(log, { flags: "a" })
      output.write(`$ ${command} ${args.join(" ")}\n`)
      child.stdout.pipe(output, { end: false })
      child.stderr.pipe(output, { end: false })
      child.once("exit", (code) => {
        child.stdin.end()
        resolve(code === 0)
      })
    })

/** Optimised only so far that nothing is slow: it is the tests that have to be fast, and the build short. */
export const QUICK = { CARGO_PROFILE_RELEASE_OPT_LEVEL: "1", CARGO_PROFILE_RELEASE_LTO: "false" }

/**
 * The conformance runner of the protocol, of the version of the runtime; undefined where it cannot be built. It has no
 * fixtures of its own: those that come with the runtime's sources are the ones it is for.
 */
export const bringConform = async (tools, version) => {
  const folder = join(tools, `macp-conform-${version}`)
  const program = join(folder, "bin", "macp-conform")
  if (existsSync(program)) return program
  const what = `macp-conform ${version}`
  if (!works("cargo", ["--version"])) return leaveOut(what, "cargo is not installed")
  mkdirSync(folder, { recursive: true })
  const log = join(folder, "build.log")
  rmSync(log, { force: true })
  say(`building ${what}; its log is ${log}`)
  const target = join(folder, "target")
  const crate = ["macp-conform", "--version", `=${version}`, "--features", "grpc", "--bin", "macp-conform"]
  const isBuilt = await runInto(log)("cargo", ["install", ...crate, "--root", folder, "--target-dir", target], QUICK)
  rmSync(target, { recursive: true, force: true })
  return isBuilt && existsSync(program) ? program : leaveOut(what, `it could not be built; see ${log}`)
}

/** Where systems have the library; a glob of node would need a newer Node than the script does. */
const FAKETIME = ["x86_64-linux-gnu", "aarch64-linux-gnu", ""].map((kind) =>
  join("/usr/lib", kind, "faketime", "libfaketime.so.1")
)

/** libfaketime, which moves the clock of the runtime; undefined where it is not, and cannot be installed. */
export const bringFaketime = async (tools) => {
  const found = () => FAKETIME.find((file) => existsSync(file))
  if (found() !== undefined) return found()
  const what = "the tests with a moved clock"
  if (process.getuid?.() !== 0 || !works("apt-get", ["--version"])) {
    return leaveOut(what, "libfaketime is not installed; Debian and Ubuntu have it by that name")
  }
  say("installing libfaketime with apt-get")
  const quiet = { DEBIAN_FRONTEND: "noninteractive" }
  const run = runInto(join(tools, "libfaketime.log"))
  const install = () => run("apt-get", ["install", "--yes", "--no-install-recommends", "libfaketime"], quiet)
  if (!(await install()) && (await run("apt-get", ["update"], quiet))) await install()
  return found() ?? leaveOut(what, `libfaketime could not be installed; see ${join(tools, "libfaketime.log")}`)
}

/** The clients, in two environments, because they need different versions of the SDK below them. */
const CLIENTS = {
  agents: ["langgraph-macp==0.1.3", "claude-agent-sdk-macp==0.1.3"],
  mcp: ["macp-mcp==0.2.0"]
}

/** The interpreters that have the clients, by the names of `CLIENTS`; undefined where they cannot be installed. */
export const bringClients = async (tools) => {
  const what = "langgraph-macp, claude-agent-sdk-macp and macp-mcp"
  const ready = {}
  for (const [name, packages] of Object.entries(CLIENTS)) {
    const folder = join(tools, `clients-${name}-${packages.map((one) => one.split("==")[1]).join("-")}`)
    const python = join(folder, "bin", "python")
    const done = join(folder, "done")
    if (!existsSync(done)) {
      const system = ["python3", "python"].find((one) =>
        works(one, ["-c", "import venv, sys; sys.exit(sys.version_info < (3, 11))"])
      )
      if (system === undefined) return leaveOut(what, "there is no Python 3.11 or later with venv on this machine")
      say(`installing ${packages.join(" and ")} into .tools`)
      rmSync(folder, { recursive: true, force: true })
      const log = join(tools, `clients-${name}.log`)
      rmSync(log, { force: true })
      const run = runInto(log)
      const install = ["-m", "pip", "install", "--disable-pip-version-check", ...packages]
      const isDone = (await run(system, ["-m", "venv", folder])) && (await run(python, install))
      if (!isDone) return leaveOut(what, `pip could not install them; see ${log}`)
      writeFileSync(done, "")
    }
    ready[name] = python
  }
  return ready
}
