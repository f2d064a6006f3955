// The programs of the image, bundled as the image has them, with all that they find beside them: everything in one from
// an empty database, then the services one by one beside it, and how they end.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { buildApp } from "./image.mjs"
import { background, freePort, root, run, say, startStack, step } from "./support.mjs"

/** How the entrypoint of the image starts a program. */
const HEAP = "scripts/heap/start.mjs"
/** A start on a busy machine. Milliseconds. */
const LIMIT = 60_000

const until = async (what, program, look) => {
  const end = performance.now() + LIMIT
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found) return found
    if (performance.now() > end) throw new Error(`${what}: not within ${LIMIT} ms\n${program.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const textOf = async (url) => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${text}`)
  return text
}

/** A folder as a compressed archive, in MB. */
const compressedSize = (folder) => {
  const { stdout } = run("sh", ["-c", 'tar -C "$1" -cf - . | gzip | wc -c', "sh", folder])
  return Number(stdout) / 1_000_000
}

const endsWell = async (name, program) => {
  const ended = await program.stop("SIGTERM")
  if (ended !== "exit code 0") throw new Error(`${name}: ${ended} after SIGTERM\n${program.text()}`)
}

/** A collector that takes traces over HTTP and only counts them. */
const collector = async () => {
  let posts = 0
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      posts += 1
      response.end("{}")
    })
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, posts: () => posts, close: () => server.close() }
}

/** Its documents are served in development only. */
const testControlPlane = async (start, { auth, database, sandbox }) => {
  const port = await freePort()
  const traces = await collector()
  const program = start("control-plane", {
    NODE_ENV: "development",
    PORT: String(port),
    DATABASE_URL: database,
    RUNTIME_ADDRESS: `127.0.0.1:${sandbox}`,
    RUNTIME_ALLOW_INSECURE: "true",
    PROTO_AUTH_SERVICE_URL: auth,
    OTEL_ENABLED: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_BSP_SCHEDULE_DELAY: "100"
  })
  try {
    const url = `http://127.0.0.1:${port}`
    await until("the control plane is ready", program, () => textOf(`${url}/readyz?strict=true`))
    const page = await textOf(`${url}/console/`)
    const [, script] = /src="([^"]+\.js)"/.exec(page) ?? []
    if (script === undefined) throw new Error(`no page of the console: ${page}`)
    await textOf(new URL(script, `${url}/console/`))
    const { openapi, paths } = JSON.parse(await textOf(`${url}/docs-json`))
    if (openapi !== "3.1.0" || paths["/runs/{id}"] === undefined) throw new Error("no OpenAPI document")
    if (!(await textOf(`${url}/docs`)).includes("swagger")) throw new Error("no page of the OpenAPI document")
    const { data } = JSON.parse(await textOf(`${url}/runs?status=completed`))
    if (data.length === 0) throw new Error("the run of all-in-one is not there")
    await until("traces are exported", program, async () => traces.posts() > 0)
    await endsWell("control-plane", program)
  } finally {
    await program.stop()
    traces.close()
  }
}

const testLauncher = async (start, { auth, plane }) => {
  const port = await freePort()
  const program = start("launcher", {
    PORT: String(port),
    AUTH_API_KEYS: "key-of-the-image-test",
    PROTO_AUTH_SERVICE_URL: auth,
    PROTO_CONTROL_PLANE_URL: plane,
    // The port is closed; the check is that the exporter is in the bundle.
    OTEL_ENABLED: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc"
  })
  try {
    const url = `http://127.0.0.1:${port}`
    await until("the launch service is ready", program, () => textOf(`${url}/readyz?strict=true`))
    const answer = await fetch(`${url}/packs`, { headers: { "x-api-key": "key-of-the-image-test" } })
    const text = await answer.text()
    if (!text.includes('"incident"')) throw new Error(`no packs: ${answer.status} ${text}`)
    await endsWell("launcher", program)
  } finally {
    await program.stop()
  }
}

const testSandbox = async (start) => {
  const port = await freePort()
  const program = start("sandbox", { SANDBOX_PORT: String(port) })
  const listens = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(socket.destroy())).on("error", reject)
    })
  try {
    await until("the sandbox listens", program, listens)
    await program.stop("SIGTERM")
  } finally {
    await program.stop()
  }
}

export const testImagePrograms = async (folder, env) => {
  const app = join(folder, "app")
  const data = join(folder, "data")
  mkdirSync(folder)
  step("building the image's folder as the Dockerfile does")
  buildApp(folder, app, env)
  say("the Dockerfile's build stage makes /app from what .dockerignore lets through")
  const size = compressedSize(app)
  const documented = Number(/([\d.]+) MB compressed/.exec(readFileSync(join(root, "docker/README.md"), "utf8"))?.[1])
  if (!(Math.abs(size / documented - 1) < 0.1)) {
    throw new Error(`docker/README.md says ${documented} MB compressed, and it is ${size.toFixed(1)} MB`)
  }
  say(`it has ${size.toFixed(1)} MB compressed; docker/README.md says ${documented}`)

  const { DATABASE_URL: _, RUNTIME_ADDRESS: __, AUTH_API_KEYS: ___, ...inherited } = env
  const own = { ...inherited, HOST: "127.0.0.1", NODE_ENV: "production" }
  const file = (name) => join("lib", `${name}.js`)
  const start = (name, settings) => background("node", [HEAP, file(name)], { cwd: app, env: { ...own, ...settings } })
  step("the image's programs: everything in one")
  run("node", [file("all-in-one"), "--help"], { cwd: app, env: own })
  const settings = { ...own, NODE_ENV: "development", RUNPLANE_DATA_DIR: data, THROTTLE_LIMIT: "10000" }
  const { ports, stack, output } = await startStack("node", [HEAP, file("all-in-one")], app, settings)
  try {
    if (!output.includes("commits an approval")) throw new Error(`no decided run:\n${output}`)
    say("all-in-one of the bundle makes its database and shows a decided run")
    const postgres = /PostgreSQL +127\.0\.0\.1:(\d+)/.exec(output)?.[1]
    const password = readFileSync(join(data, "postgres/runplane-password"), "utf8").trim()
    const addresses = {
      auth: /auth service +(\S+)/.exec(output)?.[1],
      database: `postgresql://runplane:${password}@127.0.0.1:${postgres}/runplane`,
      plane: `http://127.0.0.1:${ports.CONTROL_PLANE_PORT}`,
      sandbox: ports.SANDBOX_PORT
    }
    step("the image's programs: one by one")
    const migrated = run("node", [file("runplane"), "migrate"], {
      cwd: app,
      env: { ...own, DATABASE_URL: addresses.database }
    })
    if (!migrated.stdout.includes("the schema is up to date")) throw new Error(migrated.stdout)
    await testControlPlane(start, addresses)
    say("control-plane of the bundle serves readiness, runs, console and documents, exports traces, and ends with 0")
    await testLauncher(start, addresses)
    say("launcher of the bundle serves its packs and ends with 0")
    await testSandbox(start)
    say("sandbox of the bundle listens")
    await endsWell("all-in-one", stack)
  } catch (error) {
    console.error(`\nall-in-one said last:\n${stack.text().slice(-3000)}`)
    throw error
  } finally {
    await stack.stop()
    const database = join(data, "postgres")
    // Root's database lives elsewhere, with a link to it.
    if (existsSync(database)) rmSync(realpathSync(database), { recursive: true, force: true })
  }
}
