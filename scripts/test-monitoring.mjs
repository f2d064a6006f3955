// What Debian's prometheus and promtool say of both services and of docker/monitoring: the exposition formats, a real
// scrape of a running stack, the alert rules and their tests. Where the programs are missing it says so and exits 77.
//
//   node scripts/run.mjs monitoring:all      (npm run test:monitoring)
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { background, explain, freePort, root, run, say, step } from "./packages/support.mjs"

/** A first start makes a database; a scrape follows within a second. Milliseconds. */
const LIMIT = 120_000

for (const program of ["promtool", "prometheus"]) {
  if (spawnSync(program, ["--version"]).status === 0) continue
  console.log(`monitoring: ${program} is not installed (Debian's package prometheus has it)`)
  process.exit(77)
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), "runplane-monitoring-")))
chmodSync(folder, 0o755)
const monitoring = join(root, "docker/monitoring")
const started = []

const start = async () => {
  const ports = {
    LAUNCHER_PORT: await freePort(),
    CONTROL_PLANE_PORT: await freePort(),
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

try {
  step("checking rules and configuration")
  run("promtool", ["check", "rules", "rules.yml"], { cwd: monitoring })
  run("promtool", ["test", "rules", "rules.test.yml"], { cwd: monitoring })
  run("promtool", ["check", "config", "--syntax-only", "prometheus.yml"], { cwd: monitoring })
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
  config = config.replace("rules.yml", join(monitoring, "rules.yml"))
  for (const [job, port] of Object.entries(targets)) {
    config = config.replace(new RegExp(`(job_name: ${job}[\\s\\S]*?targets: )\\[.*\\]`), `$1["127.0.0.1:${port}"]`)
  }
  writeFileSync(join(folder, "prometheus.yml"), config)
  const port = await freePort()
  const settings = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/tsdb`]
  started.push(background("prometheus", [...settings, `--web.listen-address=127.0.0.1:${port}`], { cwd: folder }))
  await scraped(port, Object.keys(targets))
  say("Prometheus scrapes both services, with the rules loaded")
} catch (error) {
  explain(error)
  process.exitCode = 1
} finally {
  for (const program of started.reverse()) await program.stop()
  // Root's database may live elsewhere, with a link to it.
  spawnSync("rm", ["-rf", join(folder, "data/postgres/")])
  rmSync(folder, { recursive: true, force: true })
}
