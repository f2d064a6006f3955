// Holds both services to their OpenAPI documents with schemathesis: starts everything on this machine, sends each
// service at least 5,000 requests made from its document, good and bad ones, and applies all its checks to the answers.
//
//   npm run test:openapi                     (or: ... -- --examples 5 --document launcher --seed 7)
//
// What may fail is in openapi/accepted.json, each with its reason; anything else fails. Exit code 77: this machine has
// no Python or cannot install schemathesis; the last line on stderr says so.
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const VERSION = "4.32.5"
const CANNOT_RUN = 77
/** The first start makes a database. Milliseconds. */
const START_LIMIT = 120_000
/** An answer that takes longer fails, unless its request waits for the end of a run. Seconds. */
const ANSWER_LIMIT = 20
/** Such a request may wait for 60 s. Seconds. */
const WAITING_LIMIT = 75
const WAITING = /[?&]wait=/
/** Fuzzed requests of each operation; the schemas require others, 4,000 of the control plane's. */
const EXAMPLES = { "control-plane": 17, launcher: 200 }
const LEAST_REQUESTS = 5_000
/** The same requests each time, as far as they do not hang on ids; `--seed` tries others. */
const SEED = "248790743537017726172105167355315080597"
const KEY = "key-of-the-document-test"
/** The run that the document's examples speak of. */
const EXAMPLE_RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tools = join(root, ".tools", `schemathesis-${VERSION}`)
const program = join(tools, "bin", "schemathesis")
const folder = mkdtempSync(join(tmpdir(), "runplane-openapi-"))
const serviceLog = join(folder, "services.log")
// The server of PostgreSQL may run as another user.
chmodSync(folder, 0o755)
const { values: given } = parseArgs({
  options: { examples: { type: "string" }, document: { type: "string" }, seed: { type: "string", default: SEED } }
})
const { accepted, left_out: leftOut } = JSON.parse(readFileSync(join(root, "scripts/openapi/accepted.json"), "utf8"))

const say = (text) => process.stderr.write(`openapi: ${text}\n`)

const works = (command, args) => spawnSync(command, args, { stdio: "ignore" }).status === 0

/** Installs schemathesis into a folder of its own, once. */
const ensureSchemathesis = () => {
  if (works(program, ["--version"])) return undefined
  const python = ["python3", "python"].find((name) =>
    works(name, ["-c", "import venv, sys; sys.exit(sys.version_info < (3, 10))"])
  )
  if (python === undefined) return "there is no Python 3.10 or later with venv on this machine"
  say(`installing schemathesis ${VERSION} into .tools`)
  rmSync(tools, { recursive: true, force: true })
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `schemathesis==${VERSION}`]
  if (works(python, ["-m", "venv", tools]) && works(join(tools, "bin", "python"), install)) return undefined
  rmSync(tools, { recursive: true, force: true })
  return `schemathesis ${VERSION} cannot be installed: pip or its registry does not answer`
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Both services with everything they need, and the run of the examples. */
const startServices = async () => {
  const [launcher, controlPlane, sandbox, auth, postgres] = await Promise.all(Array.from({ length: 5 }, freePort))
  const child = spawn("node", [join(root, "packages/stack/src/main.ts"), "--no-demo"], {
    cwd: root,
    // One of the endpoints sets the level of the log.
    stdio: ["ignore", "pipe", openSync(serviceLog, "w")],
    env: {
      ...process.env,
      LAUNCHER_PORT: launcher,
      CONTROL_PLANE_PORT: controlPlane,
      OTLP_GRPC_PORT: 0,
      SANDBOX_PORT: sandbox,
      AUTH_PORT: auth,
      RUNPLANE_POSTGRES_PORT: postgres,
      RUNPLANE_DATA_DIR: folder,
      AUTH_API_KEYS: KEY,
      // What is tested are the answers, not how many there are.
      THROTTLE_LIMIT: 100_000_000,
      AUTH_FAILURE_LIMIT: 100_000_000,
      // No agent comes for the runs, and they need not be waited for.
      AUTO_BOOTSTRAP_EXAMPLE_AGENTS: "false",
      SESSION_POLL_TIMEOUT_MS: 1_000,
      LOG_LEVEL: "error"
    }
  })
  const serves = new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the services did not start in time")), START_LIMIT)
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith("Serving")) return
      clearTimeout(late)
      resolve()
    })
    child.once("exit", (code) => reject(new Error(`the services ended with exit code ${code}`)))
  })
  await serves
  const urls = { "control-plane": `http://127.0.0.1:${controlPlane}`, launcher: `http://127.0.0.1:${launcher}` }
  await makeExampleRun(urls["control-plane"])
  return { child, urls }
}

const stopServices = async (started) => {
  if (started === undefined || started.child.exitCode !== null) return
  const gone = new Promise((resolve) => started.child.once("exit", resolve))
  started.child.kill("SIGTERM")
  await gone
}

const makeExampleRun = async (url) => {
  const response = await fetch(`${url}/runs`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({
      mode: "sandbox",
      runtime: { kind: "rust" },
      session: {
        sessionId: EXAMPLE_RUN,
        modeName: "macp.mode.decision.v1",
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        ttlMs: 60_000,
        participants: [{ id: "commander" }]
      }
    })
  })
  if (response.status !== 202) throw new Error(`the run of the examples is answered with ${response.status}`)
}

const decoded = (body) => (body?.$base64 === undefined ? "" : Buffer.from(body.$base64, "base64").toString())

/** What failed, from the events of a run of schemathesis. */
const failuresIn = (document, text) =>
  text
    .split("\n")
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .flatMap((line) => {
      const { phase, recorder } = JSON.parse(line).ScenarioFinished
      return Object.entries(recorder?.checks ?? {}).flatMap(([id, checks]) =>
        checks
          .filter(({ status }) => status === "failure")
          .map(({ failure_info, name }) => {
            const { request, response } = recorder.interactions[id] ?? {}
            const { method, path } = recorder.cases[id].value
            return {
              document,
              phase,
              check: name,
              operation: `${method} ${path}`,
              uri: request?.uri,
              sent: decoded(request?.body),
              status: response?.status_code,
              answer: decoded(response?.content),
              says: failure_info?.failure?.message ?? ""
            }
          })
      )
    })

/** The answers that took too long, from the same events; and how many answers have a time. */
const lateIn = (text) => {
  const answers = text
    .split("\n")
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .flatMap((line) => Object.values(JSON.parse(line).ScenarioFinished.recorder?.interactions ?? {}))
    .filter(({ response }) => typeof response?.elapsed === "number")
  const late = answers.filter(({ request, response }) => response.elapsed > ANSWER_LIMIT && !WAITING.test(request.uri))
  return { timed: answers.length, late: late.map(({ request, response }) => `${request.uri}: ${response.elapsed} s`) }
}

const matches = (pattern, text) => pattern === undefined || new RegExp(pattern).test(text)

const accepts = (entry, failure) =>
  (entry.document === undefined || entry.document === failure.document) &&
  ["check", "phase", "operation", "uri", "answer", "says", "sent"].every((key) => matches(entry[key], failure[key]))

/** Sends the requests to one service; answers how many they were, and what failed. */
const runDocument = async (name, url) => {
  const document = join(root, "packages/api/openapi", `${name}.json`)
  const out = leftOut.filter((entry) => entry.document === name)
  const report = join(folder, `${name}.json`)
  const events = join(folder, `${name}.ndjson`)
  const options = {
    url,
    // The launch service takes keys in x-api-key alone.
    header: name === "launcher" ? `x-api-key: ${KEY}` : `Authorization: Bearer ${KEY}`,
    checks: "all",
    "max-examples": given.examples ?? EXAMPLES[name],
    "request-timeout": WAITING_LIMIT,
    "generation-database": "none",
    // Such texts are refused everywhere, which no schema says.
    "generation-allow-x00": "false",
    "suppress-health-check": "all",
    warnings: "off",
    report: "json,ndjson",
    "report-json-path": report,
    "report-ndjson-path": events,
    seed: given.seed
  }
  const args = ["run", document, "--continue-on-failure", "--no-shrink", "--no-color"]
  for (const [key, value] of Object.entries(options)) args.push(`--${key}`, String(value))
  for (const { operation } of out) args.push("--exclude-name", operation)
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text
    })
  }
  const code = await new Promise((resolve) => child.once("close", resolve))
  if (!existsSync(report)) throw new Error(`schemathesis ended with exit code ${code}:\n${output}`)
  const text = readFileSync(report, "utf8")
  // As text: it has more digits than a number holds.
  const seed = /"seed": *(\d+)/.exec(text)?.[1]
  const { complete, errors, test_cases: cases } = JSON.parse(text)
  const failures = failuresIn(name, readFileSync(events, "utf8"))
  if (!complete || errors.length > 0) throw new Error(`schemathesis could not finish:\n${output}`)
  // Failures of a kind that the events do not show must not be lost.
  if (code !== 0 && failures.length === 0) throw new Error(`schemathesis ended with exit code ${code}:\n${output}`)
  return { name, failures, generated: cases.generated, seed, ...lateIn(readFileSync(events, "utf8")) }
}

const textOf = ({ answer, check, operation, says, sent, status, uri }) =>
  [
    `FAILED  ${operation}: ${check}`,
    `        ${uri}${sent === "" ? "" : ` ${sent.slice(0, 400)}`}`,
    `        ${status} ${answer.slice(0, 1_200)}`,
    `        ${says.replaceAll("\n", " ").slice(0, 300)}`
  ].join("\n")

/** Exit code of the whole: 0 when nothing failed but what may. */
const judge = ({ failures, generated, late, name, seed, timed }) => {
  const unexpected = failures.filter((failure) => !accepted.some((entry) => accepts(entry, failure)))
  const kinds = new Map(
    unexpected.map((failure) => [`${failure.operation} ${failure.check} ${failure.status}`, failure])
  )
  for (const failure of kinds.values()) console.log(textOf(failure))
  const known = failures.length - unexpected.length
  console.log(
    `${name}: ${generated} requests, ${unexpected.length} unexpected failures, ${known} accepted ones, seed ${seed}`
  )
  const tooFew = given.examples === undefined && generated < LEAST_REQUESTS
  if (tooFew) console.log(`FAILED  ${name}: at least ${LEAST_REQUESTS} requests were to be sent`)
  for (const answer of late) console.log(`FAILED  ${name}: no answer within ${ANSWER_LIMIT} s: ${answer}`)
  // Without times the limit would hold for nothing.
  if (timed === 0) console.log(`FAILED  ${name}: no answer has a time`)
  return unexpected.length === 0 && !tooFew && late.length === 0 && timed > 0 ? 0 : 1
}

const missing = ensureSchemathesis()
if (missing !== undefined) {
  say(missing)
  process.exit(CANNOT_RUN)
}
let services
try {
  services = await startServices()
  const documents = Object.entries(services.urls).filter(([name]) => (given.document ?? name) === name)
  const results = await Promise.all(documents.map(([name, url]) => runDocument(name, url)))
  process.exitCode = Math.max(...results.map(judge))
  if (services.child.exitCode !== null) throw new Error("the services ended before they were stopped")
} catch (error) {
  say(error.message)
  if (existsSync(serviceLog)) say(`the end of their log:\n${readFileSync(serviceLog, "utf8").slice(-4_000)}`)
  process.exitCode = 1
} finally {
  await stopServices(services)
  rmSync(folder, { recursive: true, force: true })
}
