import { createServer } from "node:http"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { LauncherClient } from "@runplane/api"
import { listening, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { FetchHttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Launcher } from "../src/Launcher.ts"
import type { LauncherOptions } from "../src/LauncherSettings.ts"
import { isAlive, writePacks } from "./fixtures/Roots.ts"
import { neighbour, sendJson } from "./fixtures/Servers.ts"
import { startService } from "./fixtures/ServiceProcess.ts"

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

/** A control plane that accepts every run. */
const fakeControlPlane = neighbour(({ session }, response) => {
  const sessionId = Reflect.get(Object(session), "sessionId")
  sendJson(response, 202, { runId: sessionId, sessionId, status: "queued", traceId: "0".repeat(32) })
})

const gone = (pids: ReadonlyArray<number>) =>
  Effect.suspend(() => (pids.some(isAlive) ? Effect.fail("still there" as const) : Effect.void)).pipe(
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 1_500 })
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
        const answer = yield* client.launch.runExample({
          payload: { ...REQUEST, runLabel: "try", gate: { case: "c", seed: 7 }, againOf: "r1" }
        })
        assert.strictEqual(answer.sessionId, answer.compiled.sessionId)
        const { metadata } = answer.compiled.runDescriptor.session
        assert.deepInclude(metadata, { runLabel: "try", gate: { case: "c", seed: 7 }, againOf: "r1" })
        assert.deepInclude(answer.controlPlaneRun, { sessionId: answer.compiled.sessionId, status: "queued" })
        assert.deepStrictEqual(
          plane.requests.map(({ body }) => body),
          [JSON.parse(JSON.stringify(answer.compiled.runDescriptor))]
        )
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
      const port = yield* listening(createServer())
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

  it.effect("says which setting keeps it from starting, and ends with 1", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* Effect.flip(startService({ PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "" }))
      assert.strictEqual(code, 1)
      assert.lengthOf(stdout, 1)
      assert.match(stdout[0] ?? "", /PROTO_AUTH_SERVICE_URL is required/)
    }).pipe(Effect.scoped)
  )

  it.effect("ends at SIGTERM with 0, without an agent or a bootstrap file left", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* temporary
      const packsDir = writePacks(root, { a: "attach", b: "attach" })
      const { service, url } = yield* startService({ PACKS_DIR: packsDir, SERVICE_ROOT: root, TMPDIR: root })
      const client = yield* clientOf(url)
      const pids = pidsOf((yield* client.launch.runExample({ payload: REQUEST })).hostedAgents)
      assert.strictEqual((yield* service.kill("SIGTERM")).code, 0)
      assert.isFalse(pids.some(isAlive))
      const [folder = ""] = (yield* fs.readDirectory(root)).filter((name) => name.startsWith("macp-bootstrap"))
      assert.deepStrictEqual(
        (yield* fs.readDirectory(`${root}/${folder}`)).filter((name) => name.endsWith(".json")),
        []
      )
    }).pipe(Effect.scoped)
  )

  it.effect("ends as fast as ever while the collector of its traces is away, and counts the lost spans", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const packsDir = writePacks(root, { a: "attach", b: "attach" })
      const collector = `http://127.0.0.1:${yield* listening(createServer((request) => void request.socket.destroy()))}`
      const { service, url } = yield* startService({
        ...{ PACKS_DIR: packsDir, SERVICE_ROOT: root, TMPDIR: root },
        ...{ OTEL_ENABLED: "true", OTEL_EXPORTER_OTLP_ENDPOINT: collector },
        // The exporter itself tries again for as long as this.
        ...{ OTEL_BSP_SCHEDULE_DELAY: "10", OTEL_EXPORTER_OTLP_TIMEOUT: "100" }
      })
      const get = (path: string) => Effect.promise(async () => (await fetch(`${url}${path}`)).text())
      yield* get("/packs")
      yield* until(get("/metrics"), (text) => /runplane_trace_spans_total\{outcome="dropped"\} [1-9]/.test(text))
      yield* get("/packs")
      const start = Date.now()
      const { code, stdout } = yield* service.kill("SIGTERM")
      assert.strictEqual(code, 0)
      assert.isBelow(Date.now() - start, 3_000)
      assert.lengthOf(
        stdout.filter((line) => line.includes("the export of traces does not work")),
        1
      )
    }).pipe(Effect.scoped)
  )

  it.effect("leaves no agent behind when its process is killed", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const packsDir = writePacks(root, { a: "attach", b: "attach" })
      const { service, url } = yield* startService({ PACKS_DIR: packsDir, SERVICE_ROOT: root, TMPDIR: root })
      const client = yield* clientOf(url)
      const pids = pidsOf((yield* client.launch.runExample({ payload: REQUEST })).hostedAgents)
      assert.isTrue(pids.every(isAlive))
      yield* service.kill("SIGKILL")
      yield* gone(pids)
    }).pipe(Effect.scoped)
  )
})
