// What Debian's prometheus, promtool, alertmanager and amtool say of both services and of docker/monitoring: the
// exposition formats, a real scrape of a running stack, the alert rules and their tests, and the way of an alert to a
// receiver. Where the programs are missing it says so and exits 77.
//
//   npm run test:monitoring
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { background, explain, freePort, root, run, say, step } from "./packages/support.mjs"

/** A first start makes a database; a scrape follows within a second. Milliseconds. */
const LIMIT = 120_000

for (const [program, holder] of [
  ["promtool", "prometheus"],
  ["prometheus", "prometheus"],
  ["amtool", "prometheus-alertmanager"],
  ["prometheus-alertmanager", "prometheus-alertmanager"]
]) {
  if (spawnSync(program, ["--version"]).status === 0) continue
  console.log(`monitoring: ${program} is not installed (Debian's package ${holder} has it)`)
  process.exit(77)
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), "runplane-monitoring-")))
chmodSync(folder, 0o755)
const monitoring = join(root, "docker/monitoring")
const rules = join(root, "docker/helm/runplane/files/rules.yml")
const started = []

const start = async () => {
  const ports = {
    LAUNCHER_PORT: await freePort(),
    CONTROL_PLANE_PORT: await freePort(),
    OTLP_GRPC_PORT: 0,
    SANDBOX_PORT: await freePort()
  }
  const env = { ...process.env, ...ports, RUNPLANE_DATA_DIR: join(folder, "data") }
  for (const name of ["DATABASE_URL", "RUNTIME_ADDRESS", "AUTH_API_KEYS"]) delete env[name]
  const stack = background("node", [join(root, "packages/stack/src/main.ts")], { cwd: root, env })
  started.push(stack)
  await stack.says("Serving;", LIMIT)
  return { "runplane-control-plane": ports.CONTROL_PLANE_PORT, "runplane-launcher": ports.LAUNCHER_PORT }
}

const scraped = async (port, jobs) => {
  const end = performance.now() + LIMIT
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=up`).catch(() => undefined)
    const { data } = answer?.ok ? await answer.json() : { data: { result: [] } }
    const up = data.result.filter(({ value }) => value[1] === "1").map(({ metric }) => metric.job)
    if (jobs.every((job) => up.includes(job))) return
    if (performance.now() > end) throw new Error(`Prometheus reached ${up.join(", ") || "no service"} in ${LIMIT} ms`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** A receiver of alerts on the loopback, and what Alertmanager sends to it first. */
const receiver = async () => {
  let take
  const first = new Promise((resolve) => {
    take = resolve
  })
  const server = createServer(async (request, response) => {
    const parts = await Array.fromAsync(request)
    take(JSON.parse(Buffer.concat(parts).toString("utf8")))
    response.end()
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  started.push({ stop: () => new Promise((resolve) => server.close(resolve)) })
  return { first, url: `http://127.0.0.1:${server.address().port}/` }
}

/** Alertmanager with the configuration of docker/monitoring, whose receiver for critical alerts is that address. */
const alertmanager = async (url) => {
  const file = join(folder, "alertmanager.yml")
  const config = readFileSync(join(monitoring, "alertmanager.yml"), "utf8").replace("group_wait: 30s", "group_wait: 0s")
  const onCall = "  - name: on-call\n"
  if (!config.endsWith(onCall)) throw new Error("alertmanager.yml does not end with the receiver on-call")
  writeFileSync(file, `${config}    webhook_configs: [{ url: "${url}" }]\n`)
  const port = await freePort()
  const args = [`--config.file=${file}`, `--storage.path=${folder}/alertmanager`, "--cluster.listen-address="]
  started.push(background("prometheus-alertmanager", [...args, `--web.listen-address=127.0.0.1:${port}`]))
  return `127.0.0.1:${port}`
}

/** A rule that fires on the first event of a run, by the format alertmanager; then a run, and its end. */
const alertOfRun = async (port, manager) => {
  const post = async (path, body) => {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, options)
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const action = { type: "webhook", format: "alertmanager", url: `http://${manager}/api/v2/alerts` }
  await post("/alerts/rules", {
    ...{ id: "first-event", name: "RunHasEvents", per: "run", window: "run", measure: "events" },
    levels: [{ at: 1, severity: "warning", actions: [action] }]
  })
  const session = {
    ...{ modeName: "macp.mode.decision.v1", modeVersion: "1.0.0", configurationVersion: "config.default" },
    ...{ ttlMs: 60_000, participants: [{ id: "a" }], metadata: { scenarioRef: "monitoring/alerts@1.0.0" } }
  }
  const { runId } = await post("/runs", { mode: "live", runtime: { kind: "rust" }, session })
  const until = async (isThere, text) => {
    const end = performance.now() + LIMIT
    for (;;) {
      const answer = await fetch(`http://${manager}/api/v2/alerts?filter=run%3D%22${runId}%22`)
      const found = await answer.json()
      if (found.length > 0 === isThere) return found
      if (performance.now() > end) throw new Error(`${text} in ${LIMIT} ms: ${JSON.stringify(found)}`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  const [{ labels, status }] = await until(true, "Alertmanager got no alert of the run")
  const expected = { alertname: "RunHasEvents", severity: "warning", scenario: "monitoring/alerts@1.0.0", run: runId }
  for (const [name, value] of Object.entries(expected)) {
    if (labels[name] !== value) throw new Error(`the label ${name} is ${labels[name]}, not ${value}`)
  }
  if (status.state === "suppressed") throw new Error(JSON.stringify(status))
  await post(`/runs/${runId}/abandon`, { reason: "the test of the monitoring ends it" })
  await until(false, "Alertmanager kept the alert of the ended run")
  return runId
}

/** A file with the routes of alertmanager.yml and the receivers that docs/reference/operations.md shows. */
const exampleOfReceivers = () => {
  const [, example] =
    readFileSync(join(root, "docs/reference/operations.md"), "utf8").match(/\n\n( {4}global:\n(?: {4}.*\n)+)/) ?? []
  if (example === undefined) throw new Error("docs/reference/operations.md shows no receivers")
  const [routes] = readFileSync(join(monitoring, "alertmanager.yml"), "utf8").split("receivers:\n")
  const file = join(folder, "example.yml")
  writeFileSync(file, `${routes}${example.replaceAll(/^ {4}/gm, "")}`)
  return file
}

const within = (promise, text) => {
  let late
  const limit = new Promise((_, reject) => {
    late = setTimeout(() => reject(new Error(`${text} in ${LIMIT} ms`)), LIMIT)
  })
  return Promise.race([promise, limit]).finally(() => clearTimeout(late))
}

try {
  step("checking rules and configuration")
  run("promtool", ["check", "rules", rules])
  run("promtool", ["test", "rules", "rules.test.yml"], { cwd: monitoring })
  run("promtool", ["check", "config", "--syntax-only", "prometheus.yml"], { cwd: monitoring })
  run("amtool", ["check-config", "alertmanager.yml"], { cwd: monitoring })
  run("amtool", ["check-config", exampleOfReceivers()])
  for (const [severity, name] of [
    ["warning", "team"],
    ["critical", "on-call"]
  ]) {
    const test = ["config", "routes", "test", "--config.file=alertmanager.yml", `--verify.receivers=${name}`]
    run("amtool", [...test, `severity=${severity}`], { cwd: monitoring })
  }
  say("promtool is content with the configuration, the rules and their tests")

  step("starting a stack")
  const targets = await start()
  for (const [job, port] of Object.entries(targets)) {
    step(`promtool check metrics of ${job}`)
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const { stderr, stdout } = run("promtool", ["check", "metrics"], { input: text })
    if ((stdout + stderr).trim() !== "") throw new Error(stdout + stderr)
    say(`promtool check metrics has nothing to say about ${job} (${text.split("\n").length} lines)`)
  }

  step("scraping both with Prometheus")
  let config = readFileSync(join(monitoring, "prometheus.yml"), "utf8").replaceAll("15s", "1s")
  const patient = readFileSync(rules, "utf8")
  writeFileSync(join(folder, "rules.yml"), patient.replaceAll("for: 2m", "for: 1s"))
  const people = await receiver()
  const manager = await alertmanager(people.url)
  config = config.replace("alertmanager:9093", manager)
  config += `  - job_name: runplane-gone\n    static_configs:\n      - targets: ["127.0.0.1:${await freePort()}"]\n`
  for (const [job, port] of Object.entries(targets)) {
    config = config.replace(new RegExp(`(job_name: ${job}[\\s\\S]*?targets: )\\[.*\\]`), `$1["127.0.0.1:${port}"]`)
  }
  writeFileSync(join(folder, "prometheus.yml"), config)
  const port = await freePort()
  const settings = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/tsdb`]
  started.push(background("prometheus", [...settings, `--web.listen-address=127.0.0.1:${port}`], { cwd: folder }))
  await scraped(port, Object.keys(targets))
  say("Prometheus scrapes both services, with the rules loaded")

  step("waiting for the alert about a service that is gone")
  const { alerts } = await within(people.first, "Alertmanager sent no alert")
  const [{ annotations, labels, status }] = alerts
  if (status !== "firing" || labels.alertname !== "RunplaneDown" || labels.job !== "runplane-gone")
    throw new Error(`another alert was sent: ${JSON.stringify(alerts)}`)
  if (!annotations.runbook_url.endsWith("#runplanedown")) throw new Error(JSON.stringify(annotations))
  say("an alert reaches the receiver of critical ones, with the link to its runbook")

  step("sending an alert of a run to Alertmanager, and its end")
  const runId = await alertOfRun(targets["runplane-control-plane"], manager)
  say(`Alertmanager has the alert of run ${runId}, and drops it when the run has ended`)
} catch (error) {
  explain(error)
  process.exitCode = 1
} finally {
  for (const program of started.reverse()) await program.stop()
  // Root's database may live elsewhere, with a link to it.
  spawnSync("rm", ["-rf", join(folder, "data/postgres/")])
  rmSync(folder, { recursive: true, force: true })
}
