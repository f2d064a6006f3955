import { type ChildProcess, spawn } from "node:child_process"
import { createServer, type Server } from "node:http"
import { createInterface } from "node:readline"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { LauncherClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { FetchHttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Launcher } from "../src/Launcher.ts"
import type { LauncherOptions } from "../src/LauncherSettings.ts"
import { isAlive, writePacks } from "./fixtures/Roots.ts"

const MAIN = new URL("../src/main.ts", import.meta.url).pathname
const REQUEST = { scenarioRef: "demo/one@1.0.0", inputs: {} }

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  Effect.flatMap(fs.makeTempDirectoryScoped(), (path) => fs.realPath(path))
)

/** The service on a free port, and a client for it. */
const start = Effect.fnUntraced(function* (root: string, packsDir: string, options: LauncherOptions = {}) {
  const context = yield* Layer.build(
    Launcher.layer({
      host: "127.0.0.1",
      port: 0,
      settings: { packsDir, serviceRoot: root, bootstrapDir: `${root}/bootstrap`, agentStopGraceMs: 500, ...options }
    })
  )
  const { url, port } = yield* Effect.provideContext(Launcher, context)
  return { url, port, client: yield* clientOf(url) }
})

const clientOf = (baseUrl: string) =>
  Effect.provide(LauncherClient, Layer.provide(LauncherClient.layer({ baseUrl }), FetchHttpClient.layer))

/** A control plane that accepts every run; `bodies` are the descriptors that it was given. */
const fakeControlPlane = Effect.gen(function* () {
  const bodies: Array<{ readonly session: { readonly sessionId: string } }> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString())
      bodies.push(body)
      const { sessionId } = body.session
      response.writeHead(202, { "content-type": "application/json" })
      response.end(JSON.stringify({ runId: sessionId, sessionId, status: "queued", traceId: "0".repeat(32) }))
    })
  })
  const port = yield* listen(server)
  return { bodies, url: `http://127.0.0.1:${port}` }
})

const listen = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

const gone = (pids: ReadonlyArray<number>) =>
  Effect.suspend(() => (pids.some(isAlive) ? Effect.fail("still there" as const) : Effect.void)).pipe(
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 250 })
  )

const pidsOf = (agents: ReadonlyArray<{ readonly participantMetadata: { readonly pid?: number } }>) =>
  agents.map(({ participantMetadata: { pid } }) => {
    assert.isDefined(pid)
    return pid
  })

layer(NodeFileSystem.layer, { excludeTestServices: true })("the launch service on a port", (it) => {
  it.effect("runs an example: agents as processes, the run submitted, everything stopped at the end", () =>
    Effect.gen(function* () {
      const pids = yield* Effect.gen(function* () {
        const root = yield* temporary
        const plane = yield* fakeControlPlane
        const { client } = yield* start(root, writePacks(root, { a: "attach", b: "attach" }), {
          controlPlane: { url: plane.url, timeoutMs: 5_000, apiKey: undefined },
          registerPolicies: false
        })
        const answer = yield* client.launch.runExample({ payload: { ...REQUEST, runLabel: "try" } })
        assert.strictEqual(answer.sessionId, answer.compiled.sessionId)
        assert.deepInclude(answer.controlPlaneRun, { sessionId: answer.compiled.sessionId, status: "queued" })
        assert.deepStrictEqual(plane.bodies, [JSON.parse(JSON.stringify(answer.compiled.runDescriptor))])
        assert.deepStrictEqual(
          answer.hostedAgents.map((agent) => agent.participantId),
          ["first", "second"]
        )
        const started = pidsOf(answer.hostedAgents)
        assert.isTrue(started.every(isAlive))
        return started
      }).pipe(Effect.scoped)
      yield* gone(pids)
    })
  )

  it.effect("takes a launch back when an agent does not stay", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const { client } = yield* start(root, writePacks(root, { a: "attach", b: "exit" }))
      const error = yield* Effect.flip(client.launch.runExample({ payload: REQUEST }))
      assert.deepInclude(error, { statusCode: 502, errorCode: "AGENT_ATTACH_FAILED" })
      const { pid } = JSON.parse(yield* fs.readFileString(`${root}/first.json`))
      yield* gone([pid])
      assert.deepStrictEqual(yield* fs.readDirectory(`${root}/bootstrap`), [])
    }).pipe(Effect.scoped)
  )

  it.effect("answers raw requests with the status and form of the specification", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const { url } = yield* start(root, writePacks(root, { a: "attach", b: "attach" }))
      const call = (path: string, init?: RequestInit) =>
        Effect.promise(async () => {
          const response = await fetch(`${url}${path}`, init)
          return { status: response.status, body: await response.json() }
        })
      assert.deepStrictEqual(yield* call("/healthz"), { status: 200, body: { ok: true, service: "runplane-launcher" } })
      assert.deepStrictEqual(yield* call("/runs"), {
        status: 404,
        body: { message: "Cannot GET /runs", error: "Not Found", statusCode: 404 }
      })
      const broken = yield* call("/launch/compile", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{"
      })
      assert.strictEqual(broken.status, 400)
      assert.isString(Reflect.get(Object(broken.body), "message"))
    }).pipe(Effect.scoped)
  )

  it.effect("fails with one clear reason when its port is taken", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const port = yield* listen(createServer())
      const error = yield* Effect.flip(
        Layer.build(Launcher.layer({ host: "127.0.0.1", port, settings: { packsDir: root } }))
      )
      assert.strictEqual(error.message, `the launch service cannot listen on 127.0.0.1:${port}: the port is in use`)
    }).pipe(Effect.scoped)
  )

  it.effect("does not start with a broken agent profile", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const packsDir = writePacks(root, { a: "attach", b: "attach" })
      yield* fs.writeFileString(`${packsDir}/_agents/profiles/agent-b.json`, "{}")
      const error = yield* Effect.flip(
        Layer.build(Launcher.layer({ host: "127.0.0.1", port: 0, settings: { packsDir } }))
      )
      assert.match(error.message, /^invalid agent profile profiles\/agent-b\.json: /)
    }).pipe(Effect.scoped)
  )

  it.effect("leaves no agent behind when its process is killed", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const packsDir = writePacks(root, { a: "attach", b: "attach" })
      const { service, url } = yield* startProcess({ PACKS_DIR: packsDir, SERVICE_ROOT: root, TMPDIR: root })
      const client = yield* clientOf(url)
      const pids = pidsOf((yield* client.launch.runExample({ payload: REQUEST })).hostedAgents)
      assert.isTrue(pids.every(isAlive))
      service.kill("SIGKILL")
      yield* gone(pids)
    }).pipe(Effect.scoped)
  )
})

/** The service as `node src/main.ts` on a free port, once it says that it listens. */
const startProcess = (env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly service: ChildProcess; readonly url: string }>((resume) => {
      const service = spawn(process.execPath, [MAIN], {
        env: { PATH: process.env["PATH"], PORT: "0", HOST: "127.0.0.1", ...env },
        stdio: ["ignore", "pipe", "inherit"]
      })
      createInterface(service.stdout).on("line", (line) => {
        const url = /listens on (\S+)/.exec(line)?.[1]
        if (url !== undefined) resume(Effect.succeed({ service, url }))
      })
    }),
    ({ service }) => Effect.sync(() => service.kill("SIGKILL"))
  )
