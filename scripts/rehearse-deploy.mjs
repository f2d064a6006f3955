// A team's set-up with the settings and commands that docs/reference/deploy.md prints, on this machine: a PostgreSQL of
// its own, the sandbox as a process, two control planes and a launch service behind haproxy, keys with roles, a
// cancellation. Then what operations.md promises: a rolling restart under load, a backup, a restore. Needs Debian's
// postgresql and haproxy; where one is missing it exits 77.
//
//   npm run test:deploy
import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { sessionOfMcp } from "./packages/mcp-session.mjs"
import { blocksUnder, commandUnder, onThisMachine, settingsUnder } from "./packages/pages.mjs"
import { background, explain, freePort, root, run, say, step } from "./packages/support.mjs"

const VERSIONS = "/usr/lib/postgresql"
const version = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort().at(-1) : undefined
const programs = version === undefined ? undefined : join(VERSIONS, version, "bin")
const leaveOut = (what) => {
  console.log(`deploy: ${what} is not installed`)
  process.exit(77)
}
if (programs === undefined || !existsSync(join(programs, "initdb"))) leaveOut("postgresql")
if (spawnSync("haproxy", ["-v"]).status !== 0) leaveOut("haproxy")

/** Starts and restarts on a busy machine. Milliseconds. */
const LIMIT = 120_000
const PAGE = "docs/reference/deploy.md"
const OPERATIONS = "docs/reference/operations.md"
const [planePage] = settingsUnder(PAGE, "Control planes")
const [launcherPage] = settingsUnder(PAGE, "Launch service")
const [sandboxPage, planeWithSandbox, launcherWithSandbox] = settingsUnder(PAGE, "The sandbox as runtime")
const [admin, launching, operator, viewer] = planePage.AUTH_API_KEYS.split(",")
const KEYS = { admin, launcher: launching, operator, viewer }
/** Requests that go on through everything. */
const CLIENTS = 4

const folder = mkdtempSync(join(tmpdir(), "runplane-deploy-"))
chmodSync(folder, 0o755)
const isRoot = process.getuid?.() === 0
const uid = isRoot ? Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })) : undefined
const asPostgres = { cwd: "/", ...(isRoot && { uid, gid: uid }), env: { ...process.env, PGPASSWORD: "secret" } }
const started = []
const names = ["postgres", "sandbox", "one", "two", "launcher", "proxy", "planes", "restored"]
const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()])))
const superuser = ["-h", "127.0.0.1", "-p", String(ports.postgres), "-U", "postgres"]
const databaseUrl = (name) => `postgresql://runplane:secret@127.0.0.1:${ports.postgres}/${name}`

const begin = (command, args, env, options = {}) => {
  const inherited = Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|TMPDIR|NODE_EXTRA_CA_CERTS)$/.test(name)
  )
  const program = background(command, args, {
    cwd: root,
    env: { ...Object.fromEntries(inherited), ...env },
    ...options
  })
  started.push(program)
  return program
}

const until = async (what, look) => {
  const end = performance.now() + LIMIT
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > end) throw new Error(`${what}: not within ${LIMIT} ms`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const ask = async (url, key, body, method = body === undefined ? "GET" : "POST") => {
  const answer = await fetch(url, {
    method,
    signal: AbortSignal.timeout(60_000),
    // The launch service takes a key as x-api-key alone.
    headers: { authorization: `Bearer ${key}`, "x-api-key": key, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) }
}

/** Whether something answers there with 200, soon. */
const isServed = async (url) => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    await answer.arrayBuffer()
    return answer.status === 200
  } catch {
    return false
  }
}

const answersReady = (port) =>
  until(`ready on port ${port}`, () => isServed(`http://127.0.0.1:${port}/readyz?strict=true`))

const startPostgres = async () => {
  const data = join(folder, "postgres")
  mkdirSync(data, { mode: 0o700 })
  const passwords = join(folder, "password")
  writeFileSync(passwords, "secret", { mode: 0o644 })
  if (isRoot) run("chown", ["postgres:", data])
  const init = ["-D", data, "-U", "postgres", "--auth=scram-sha-256", `--pwfile=${passwords}`, "--encoding=UTF8"]
  run(join(programs, "initdb"), init, asPostgres)
  const args = ["-D", data, "-p", String(ports.postgres), "-c", "listen_addresses=127.0.0.1"]
  const server = begin(join(programs, "postgres"), [...args, "-c", "unix_socket_directories="], {}, asPostgres)
  await server.says("ready to accept connections", LIMIT)
  // As createuser does with its password.
  const role = "CREATE ROLE runplane LOGIN PASSWORD 'secret'"
  run(join(programs, "psql"), [...superuser, "--command", role, "postgres"], asPostgres)
  createDatabase("runplane")
}

const createDatabase = (name) =>
  run(join(programs, "createdb"), [...superuser, "--owner", "runplane", name], asPostgres)

/** The page's settings of a control plane. All processes are on one host here, and the load is one client's. */
const planeSettings = (port, database = "runplane") => ({
  ...onThisMachine(
    { ...planePage, ...planeWithSandbox },
    {
      DATABASE_URL: databaseUrl(database),
      RUNTIME_ADDRESS: `127.0.0.1:${ports.sandbox}`,
      AUTH_API_KEYS: planePage.AUTH_API_KEYS,
      LAUNCHER_PUBLIC_URL: launcher
    }
  ),
  HOST: "127.0.0.1",
  PORT: String(port),
  THROTTLE_LIMIT: "100000"
})

const launcherSettings = () => {
  const { PROTO_AUTH_SERVICE_URL: _, ...page } = launcherPage
  const settings = onThisMachine(
    { ...page, ...launcherWithSandbox },
    {
      AUTH_API_KEYS: KEYS.operator,
      // One more name of this machine stands for the address that only the launch service knows.
      PROTO_CONTROL_PLANE_URL: planes.replace("127.0.0.1", "localhost"),
      CONTROL_PLANE_PUBLIC_URL: planes,
      CORS_ORIGIN: planes,
      PROTO_CONTROL_PLANE_API_KEY: KEYS.launcher,
      PROTO_RUNTIME_ADDRESS: `127.0.0.1:${ports.sandbox}`,
      PROTO_CANCEL_CALLBACK_HOST: "127.0.0.1",
      PACKS_DIR: join(root, "packs")
    }
  )
  return { ...settings, HOST: "127.0.0.1", PORT: String(ports.launcher) }
}

/** A program as the page starts it. */
const beginAs = (heading, env) => {
  const [command, ...args] = commandUnder(PAGE, heading)
  return begin(join(root, command), args, env)
}

const startPlane = async (name) => {
  const plane = beginAs("Control planes", planeSettings(ports[name]))
  await answersReady(ports[name])
  return plane
}

/** The proxy of docker/, with the addresses of this machine. */
const startProxy = async () => {
  const addresses = {
    "control-plane-1:3001": `127.0.0.1:${ports.one}`,
    "control-plane-2:3001": `127.0.0.1:${ports.two}`,
    "launcher:3000": `127.0.0.1:${ports.launcher}`,
    "bind :8001": `bind 127.0.0.1:${ports.planes}`,
    "bind :8000": `bind 127.0.0.1:${ports.proxy}`
  }
  let config = readFileSync(join(root, "docker/proxy/haproxy.cfg"), "utf8")
  for (const [there, here] of Object.entries(addresses)) config = config.replaceAll(there, here)
  const file = join(folder, "haproxy.cfg")
  writeFileSync(file, config)
  run("haproxy", ["-c", "-f", file])
  begin("haproxy", ["-db", "-f", file], {})
}

const planes = `http://127.0.0.1:${ports.planes}`
const launcher = `http://127.0.0.1:${ports.proxy}`

const launch = async () => {
  const body = { scenarioRef: "incident/region-failover@1.0.0", inputs: {} }
  const answer = await ask(`${launcher}/examples/run`, KEYS.operator, body)
  const id = answer.body?.controlPlaneRun?.runId
  const page = `${planes}/console/runs/${id}`
  if (answer.body?.links?.page !== page) throw new Error(`a launch links ${JSON.stringify(answer.body?.links)}`)
  if (answer.status !== 201 || id === undefined) throw new Error(`a launch: ${JSON.stringify(answer)}`)
  return id
}

const completed = (id) =>
  until(`run ${id} completed`, async () => {
    const { body, status } = await ask(`${planes}/runs/${id}`, KEYS.viewer)
    if (status === 200 && /failed|cancelled/.test(body.status)) throw new Error(`run ${id} ${body.status}`)
    return status === 200 && body.status === "completed"
  })

/** Clients that read and write all the time; `stop` answers how many requests there were and which were not served. */
const load = () => {
  let going = true
  let count = 0
  const refused = []
  const client = async (number) => {
    while (going) {
      count++
      const paths = ["/runs?limit=5", "/me", "/events?limit=5"]
      const answer = await ask(`${planes}${paths[count % paths.length]}`, KEYS.viewer).catch((error) => ({
        status: `${error.message} ${error.cause?.message ?? ""}`
      }))
      if (answer.status !== 200) refused.push(`client ${number}: ${answer.status}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
  return async () => {
    going = false
    await Promise.all(clients)
    return { count, refused }
  }
}

try {
  step("starting PostgreSQL")
  await startPostgres()
  const [install, migrate] = blocksUnder(PAGE, "Without containers")
    .flat()
    .filter((line) => line.includes("npm "))
  run("sh", ["-c", install], { cwd: root, timeout: 2 * LIMIT })
  const [, written] = /^DATABASE_URL=(\S+) /.exec(migrate)
  const applied = run("sh", ["-c", migrate.replace(written, databaseUrl("runplane"))], { cwd: root }).stdout
  if (!applied.includes("applied 1 ")) throw new Error(applied)
  say(`PostgreSQL ${version}, its schema made by runplane migrate`)

  step("starting the services behind haproxy")
  beginAs("The sandbox as runtime", {
    ...sandboxPage,
    SANDBOX_HOST: "127.0.0.1",
    SANDBOX_PORT: String(ports.sandbox)
  })
  const running = { one: await startPlane("one"), two: await startPlane("two") }
  await startProxy()
  beginAs("Launch service", launcherSettings())
  // What the proxy saw before the service listened may still take it out for one round of looks.
  await until("the launch service behind the proxy", async () => {
    for (let look = 0; look < 3; look++) {
      if (!(await isServed(`${launcher}/livez`))) return false
      await new Promise((resolve) => setTimeout(resolve, 2_000))
    }
    return true
  })
  if (!(await isServed(`${planes}/console/`))) throw new Error("there is no web console")
  for (const path of ["/metrics", "/livez", "/readyz"]) {
    const { status } = await fetch(`${planes}${path}`)
    if (status !== 404) throw new Error(`the proxy lets ${path} through: ${status}`)
  }
  say("two control planes with the web console and a launch service behind haproxy, with docker/proxy/haproxy.cfg")

  step("a session of MCP behind haproxy")
  await sessionOfMcp(planes, KEYS.viewer)
  say("20 requests of one session reach the process that has it")

  step("launching as the console does")
  const { launcherUrl } = await (await fetch(`${planes}/console/config.json`)).json()
  if (launcherUrl !== launcher) throw new Error(`the console calls the launch service at ${launcherUrl}`)
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "x-api-key" }
  const preflight = await fetch(`${launcherUrl}/examples/run`, {
    method: "OPTIONS",
    headers: { origin: planes, ...asked }
  })
  const allowed = preflight.headers.get("access-control-allow-origin")
  if (allowed !== planes) throw new Error(`the launch service lets pages of ${allowed} call, not of ${planes}`)
  await completed(await launch())
  say("the console reaches the launch service, and a launch links the public address of its run")

  step("trying the keys")
  for (const [key, path, body, method, wanted] of [
    ["unknown", "/runs", undefined, "GET", 401],
    [KEYS.viewer, "/runs", undefined, "GET", 200],
    [KEYS.viewer, "/runs", {}, "POST", 403],
    [KEYS.operator, "/admin/log-level", { level: "info" }, "PUT", 403],
    [KEYS.admin, "/admin/log-level", { level: "info" }, "PUT", 200]
  ]) {
    const { status } = await ask(`${planes}${path}`, key, body, method)
    if (status !== wanted) throw new Error(`${method} ${path} with ${key}: ${status}, not ${wanted}`)
  }
  say("keys of three roles do what docs/reference/http.md says, and no more")

  step("the unit of systemd")
  const unit = blocksUnder(PAGE, "As units of systemd").map((lines) => lines.join("\n"))
  if (spawnSync("systemd-analyze", ["--version"]).status !== 0)
    console.log("left out: systemd-analyze is not installed")
  else {
    const file = join(folder, "runplane-control-plane.service")
    const text = unit.join("\n\n").replaceAll("/srv/runplane", root).replace("User=runplane", "User=root")
    writeFileSync(file, text)
    const { stderr } = run("systemd-analyze", ["verify", file])
    const own = stderr.split("\n").filter((line) => line.includes("runplane-control-plane"))
    if (own.length > 0) throw new Error(own.join("\n"))
    say("systemd-analyze verify has nothing to say about the unit")
  }

  step("cancelling a launched run")
  const doomed = await launch()
  await until("the session opened", async () => {
    const { body } = await ask(`${planes}/runs/${doomed}`, KEYS.viewer)
    return body.status === "running"
  })
  const cancelled = await ask(`${planes}/runs/${doomed}/cancel`, KEYS.operator, { reason: "rehearsal" })
  if (cancelled.status !== 201) throw new Error(`cancel: ${JSON.stringify(cancelled)}`)
  await until("the run cancelled", async () => {
    const { body } = await ask(`${planes}/runs/${doomed}`, KEYS.viewer)
    if (/completed|failed/.test(body.status)) throw new Error(`the run is ${body.status}`)
    return body.status === "cancelled"
  })
  say("an operator cancels a launched run: its agent is asked, and ends the session")

  step("looking for who holds a row")
  const sql = blocksUnder(OPERATIONS, "RunplaneLogStandsStill").flat().join(" ")
  run(join(programs, "psql"), ["--set", "ON_ERROR_STOP=1", "--command", sql, databaseUrl("runplane")])

  step("a rolling restart under load")
  const first = await launch()
  await completed(first)
  const stop = load()
  const during = []
  for (const name of ["one", "two"]) {
    during.push(await launch())
    await running[name].stop("SIGTERM")
    running[name] = await startPlane(name)
    // The proxy asks every two seconds.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
  }
  const { count, refused } = await stop()
  for (const id of during) await completed(id)
  if (refused.length > 0)
    throw new Error(`${refused.length} of ${count} requests failed:\n${refused.slice(0, 5).join("\n")}`)
  say(`a rolling restart: ${count} requests served, none refused; the runs of meanwhile are complete`)

  step("backup and restore")
  const stateOf = async (base, id) => JSON.stringify((await ask(`${base}/runs/${id}/state`, KEYS.viewer)).body)
  const before = await stateOf(planes, first)
  const lines = blocksUnder(OPERATIONS, "Backup and restore").flat()
  const [backup, create, restore] = ["runplane backup ", "createdb ", "DATABASE_URL="].map((beginning) =>
    lines.find((line) => line.startsWith(beginning))
  )
  const command = `runplane() { node "${join(root, "packages/stack/src/runplane/main.ts")}" "$@"; }`
  const path = [programs, join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)
  const shell = (line, env) =>
    run("sh", ["-c", line], { cwd: folder, env: { ...process.env, PATH: path, PGPASSWORD: "secret", ...env } })
  shell(`${command}; ${backup}`, { DATABASE_URL: databaseUrl("runplane") })
  shell(create, { PGHOST: "127.0.0.1", PGPORT: String(ports.postgres), PGUSER: "postgres" })
  const address = databaseUrl("runplane_restored")
  shell(`${command}; ${restore.replace("postgresql://.../runplane_restored", address)}`, {})
  for (const name of ["one", "two"]) await running[name].stop("SIGTERM")
  beginAs("Control planes", planeSettings(ports.restored, "runplane_restored"))
  await answersReady(ports.restored)
  const restored = `http://127.0.0.1:${ports.restored}`
  if ((await stateOf(restored, first)) !== before) throw new Error("the restored run has another state")
  const { body } = await ask(`${restored}/runs?limit=50`, KEYS.viewer)
  if (body.total < 1 + during.length) throw new Error(`${body.total} runs after the restore`)
  say("a backup, restored into a new database, serves the same runs")
} catch (error) {
  explain(error)
  for (const program of started) console.error(`\n--\n${program.text().slice(-1500)}`)
  process.exitCode = 1
} finally {
  for (const program of started.reverse()) await program.stop("SIGTERM")
  rmSync(folder, { recursive: true, force: true })
}
