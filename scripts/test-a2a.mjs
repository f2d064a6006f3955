// Holds both sides of A2A to programs of others: starts everything on this machine, then tries the server with the
// contracts of dummy-a2a and the clients of a2a-sdk (Python) and @a2a-js/sdk, and launches an example with agents on
// the servers of both SDKs, and with dummy-a2a in each of its states. All unmodified.
//
//   npm run test:a2a
//
// Contracts that may fail are in a2a/accepted.json, each with its reason; anything else fails. Exit code 77: this
// machine has no Python 3.12 or cannot install the packages; the last line on stderr says so.
import { spawn, spawnSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { packsWithAgent, participantFindings } from "./a2a/participants.mjs"

const SDK = "1.3.0"
const CONTRACTS = "0.6.4"
const EXPRESS = "5.2.1"
const CANNOT_RUN = 77
/** The first start makes a database. Milliseconds. */
const START_LIMIT = 180_000

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tools = join(root, ".tools", `a2a-${SDK}-${CONTRACTS}`)
const python = join(tools, "python", "bin", "python")
const js = join(tools, "js")
const sdk = join(js, "node_modules", "@a2a-js", "sdk", "dist", "client", "index.js")
const express = join(js, "node_modules", "express", "package.json")
const folder = mkdtempSync(join(tmpdir(), "runplane-a2a-"))
// The server of PostgreSQL may run as another user.
chmodSync(folder, 0o755)
const accepted = JSON.parse(readFileSync(join(root, "scripts/a2a/accepted.json"), "utf8"))

const say = (text) => process.stderr.write(`a2a: ${text}\n`)
const works = (command, args, options = {}) => spawnSync(command, args, { stdio: "ignore", ...options }).status === 0

/** Installs the packages into a folder of their own, once. */
const ensureTools = () => {
  if (existsSync(sdk) && existsSync(express) && works(python, ["-c", "import a2a, dummy_a2a.contracts"]))
    return undefined
  const system = ["python3.13", "python3.12", "python3"].find((name) =>
    works(name, ["-c", "import venv, sys; sys.exit(sys.version_info < (3, 12))"])
  )
  if (system === undefined) return "there is no Python 3.12 or later with venv on this machine"
  say(`installing a2a-sdk ${SDK}, dummy-a2a ${CONTRACTS} and @a2a-js/sdk ${SDK} into .tools`)
  rmSync(tools, { recursive: true, force: true })
  mkdirSync(js, { recursive: true })
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
  const installs = [
    [system, ["-m", "venv", join(tools, "python")]],
    [python, [...pip, `a2a-sdk[http-server]==${SDK}`, "uvicorn==0.38.0"]],
    // It pins an older SDK, of which the contracts use two constants.
    [python, [...pip, "--no-deps", `dummy-a2a==${CONTRACTS}`]],
    ["npm", ["install", "--silent", "--prefix", js, `@a2a-js/sdk@${SDK}`, `express@${EXPRESS}`]]
  ]
  if (installs.every(([command, args]) => works(command, args))) return undefined
  rmSync(tools, { recursive: true, force: true })
  return "the packages cannot be installed: pip, npm or their registry does not answer"
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const TRIAL = `apiVersion: scenarios.macp.dev/v1
kind: ScenarioVersion
metadata: { pack: trial, scenario: fails, version: 1.0.0, name: Fails, summary: A launch that fails. }
spec:
  publish: a2a
  inputs: { schema: { type: object } }
  launch:
    modeName: macp.mode.decision.v1
    modeVersion: 1.0.0
    configurationVersion: config.default
    ttlMs: 60000
    participants: [{ id: lead, role: lead, agentRef: commander-agent }]
    contextTemplate: { missing: "{{ inputs.nothing }}" }
`

/** The packs, and a scenario whose launch fails. */
const packs = () => {
  const copy = join(folder, "packs")
  cpSync(join(root, "packs"), copy, { recursive: true })
  const version = join(copy, "trial", "scenarios", "fails", "1.0.0")
  mkdirSync(version, { recursive: true })
  const pack = "apiVersion: scenarios.macp.dev/v1\nkind: ScenarioPack\nmetadata: { slug: trial, name: Trial }\n"
  writeFileSync(join(copy, "trial", "pack.yaml"), pack)
  writeFileSync(join(version, "scenario.yaml"), TRIAL)
  return copy
}

const startServices = async (name, packs) => {
  const [launcher, controlPlane, sandbox, auth, postgres] = await Promise.all(Array.from({ length: 5 }, freePort))
  const child = spawn("node", [join(root, "packages/stack/src/main.ts"), "--no-demo"], {
    cwd: root,
    stdio: ["ignore", "pipe", openSync(join(folder, `${name}.log`), "w")],
    env: {
      ...process.env,
      LAUNCHER_PORT: launcher,
      CONTROL_PLANE_PORT: controlPlane,
      OTLP_GRPC_PORT: 0,
      SANDBOX_PORT: sandbox,
      AUTH_PORT: auth,
      RUNPLANE_POSTGRES_PORT: postgres,
      RUNPLANE_DATA_DIR: join(folder, name),
      PACKS_DIR: packs,
      LOG_LEVEL: "error"
    }
  })
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the services did not start in time")), START_LIMIT)
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith("Serving")) return
      clearTimeout(late)
      resolve()
    })
    child.once("exit", (code) => reject(new Error(`the services ended with exit code ${code}`)))
  })
  return { child, url: `http://127.0.0.1:${launcher}`, controlPlane: `http://127.0.0.1:${controlPlane}` }
}

const stop = (child) =>
  new Promise((resolve) => {
    child.once("exit", resolve)
    child.kill("SIGTERM")
  })

/** The contracts that fail without a reason, or pass although one is listed. */
const contractFindings = (url) => {
  const { stdout } = spawnSync(python, [join(root, "scripts/a2a/contracts.py"), url], { encoding: "utf8" })
  const results = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
  const passed = results.filter((result) => result.passed)
  say(`${passed.length} of ${results.length} contracts pass, ${Object.keys(accepted).length} are accepted findings`)
  return [
    ...(results.length === 0 ? ["no contract was tried"] : []),
    ...results
      .filter(({ id, passed }) => !passed && accepted[id] === undefined)
      .map(({ detail, id }) => `${id}: ${detail}`),
    ...passed.filter(({ id }) => accepted[id] !== undefined).map(({ id }) => `${id} passes, and is listed as accepted`)
  ]
}

/** The program of the guide, against this address. */
const guideProgram = (url) => {
  const [, program = ""] =
    /^```python\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "docs/guides/a2a.md"), "utf8")) ?? []
  const file = join(folder, "guide.py")
  writeFileSync(file, program.replace("http://127.0.0.1:3000", url))
  return file
}

const clientFindings = (url) =>
  [
    [python, [guideProgram(url)]],
    [python, [join(root, "scripts/a2a/client.py"), url]],
    ["node", [join(root, "scripts/a2a/client.mjs"), url, sdk]]
  ].flatMap(([command, args]) => {
    const { status, stderr, stdout } = spawnSync(command, args, { encoding: "utf8" })
    if (status === 0) say(`${basename(args[0])} passes: ${stdout.trim().split("\n").length} lines`)
    return status === 0 ? [] : [`${args[0]}: ${stderr.trim().split("\n").slice(-5).join(" | ")}`]
  })

const missing = ensureTools()
if (missing !== undefined) {
  say(missing)
  process.exit(CANNOT_RUN)
}
/** Starts services, and stops them after the trial. */
const withServices = async (name, packs, trial) => {
  const services = await startServices(name, packs)
  try {
    return await trial(services)
  } finally {
    await stop(services.child)
  }
}

try {
  const port = await freePort()
  const guide = join(folder, "guide")
  mkdirSync(guide)
  const findings = [
    ...(await withServices("server", packs(), ({ url }) => [...clientFindings(url), ...contractFindings(url)])),
    ...(await withServices("participants", packsWithAgent(root, guide, port), ({ controlPlane, url }) =>
      participantFindings(root, { controlPlane, launcher: url }, { python, js, folder: guide, port }, say)
    ))
  ]
  for (const finding of findings) say(finding)
  process.exitCode = findings.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
