import { assert, describe, it } from "@effect/vitest"
import { Shutdown } from "@runplane/server"
import * as Effect from "effect/Effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import * as Layer from "effect/Layer"
import { AgentCatalog } from "../../src/catalog/AgentCatalog.ts"
import { PackRegistry } from "../../src/catalog/PackRegistry.ts"
import {
  agentAttachFailed,
  authMintFailed,
  invalidConfig,
  launchesFull,
  processNotFound
} from "../../src/common/LaunchErrors.ts"
import { LaunchCompiler } from "../../src/compile/LaunchCompiler.ts"
import { LaunchedRuns } from "../../src/control-plane/LaunchedRuns.ts"
import { ExampleRuns } from "../../src/examples/ExampleRuns.ts"
import { LauncherRoutes } from "../../src/http/Routes.ts"
import { LauncherMetrics, layerAgentMetrics } from "../../src/operate/AgentMetrics.ts"
import { LauncherReadiness } from "../../src/operate/LauncherReadiness.ts"
import { compiledLaunch, profile } from "../fixtures/Compiled.ts"
import { type MemoryTree, memoryFiles } from "../fixtures/MemoryFiles.ts"
import { scenarioYaml, smallPack, templateYaml } from "../fixtures/Packs.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

const VERSION = "/packs/demo/scenarios/one/1.0.0"
const tree: MemoryTree = {
  ...smallPack(),
  [`${VERSION}/scenario.yaml`]: scenarioYaml({ launch: 'contextTemplate: { n: "{{ inputs.needed }}" }' }),
  [`${VERSION}/templates/t.yaml`]: templateYaml("t", "spec: { defaults: { needed: 1 } }"),
  ...Object.fromEntries(
    Object.entries(smallPack("other")).map(([file, text]) => [file, String(text).replace("agent-b", "agent-unknown")])
  )
}

const shownProcess = {
  id: "4f6c2b1e-8f0e-4d43-9d0c-6f1b0a7c9e21",
  pid: 4711,
  state: "running",
  since: "2026-03-10T09:21:07.412Z",
  sessionId: "s",
  runId: "r",
  scenarioRef: "a/b@1",
  participantId: "one",
  agentRef: "agent-a"
} as const

/** The service's routes in memory: real catalog and compiler over made-up files, a made-up example flow. */
const serve = (
  options: {
    readonly files?: MemoryTree
    readonly run?: ExampleRuns["Service"]["run"]
    readonly environment?: string
  } = {}
) => {
  const examples = Layer.succeed(ExampleRuns, {
    queue: Effect.succeed({
      agents: { running: 4, limit: 4 },
      limit: 2,
      waiting: [{ position: 1, sessionId: "s", scenarioRef: "a/b@1", agents: 2, waitingMs: 5 }]
    }),
    processes: Effect.succeed([shownProcess]),
    stopProcess: (id) => (id === shownProcess.id ? Effect.void : Effect.fail(processNotFound(id))),
    stops: Effect.succeed({ afterRunEnd: 3, onRequest: 1, killed: 2 }),
    run: options.run ?? (() => Effect.succeed({ compiled: compiledLaunch(), hostedAgents: [] }))
  })
  const capabilities = Layer.mergeAll(examples, LaunchCompiler.layer, LaunchedRuns.layer).pipe(
    Layer.provideMerge(PackRegistry.layer),
    Layer.provideMerge(AgentCatalog.layerMemory([profile("agent-a"), profile("agent-b")])),
    Layer.provideMerge(
      settingsLayer({ packsDir: "/packs", ...(options.environment ? { environment: options.environment } : {}) })
    ),
    Layer.provide(memoryFiles(options.files ?? tree))
  )
  const { handler, dispose } = HttpRouter.toWebHandler(
    LauncherRoutes.pipe(
      Layer.provide([LauncherReadiness.layer, layerAgentMetrics]),
      Layer.provide(capabilities),
      Layer.provide([LauncherMetrics.layer, Shutdown.layer, FetchHttpClient.layer]),
      Layer.provide(HttpServer.layerServices)
    ),
    { disableLogger: true }
  )
  const call = (method: string, path: string, body?: unknown) =>
    Effect.gen(function* () {
      const request = new Request(`http://launcher.test${path}`, {
        method,
        ...(body === undefined
          ? {}
          : {
              body: typeof body === "string" ? body : JSON.stringify(body),
              headers: { "content-type": "application/json" }
            })
      })
      const response = yield* Effect.promise(() => handler(request))
      const text = yield* Effect.promise(() => response.text())
      return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text }
    })
  return Effect.as(
    Effect.addFinalizer(() => Effect.promise(dispose)),
    call
  )
}

const SCHEMA = "/packs/demo/scenarios/one/versions/1.0.0/launch-schema"
const summary = {
  scenario: "one",
  name: "One",
  versions: ["1.0.0"],
  templates: ["t"],
  tags: [],
  runtimeKind: "rust",
  agentRefs: ["agent-a", "agent-b"]
}
const withRefs = (agentRef: string, scenarios: ReadonlyArray<string>) => ({ ...profile(agentRef), scenarios })

describe("the catalog over HTTP", () => {
  it.effect.each<readonly [path: string, body: unknown]>([
    ["/healthz", { ok: true, service: "svc" }],
    ["/livez", { status: "ok" }],
    [
      "/readyz?strict=true",
      { status: "ok", ok: true, checks: { catalog: { ok: true, detail: "2 packs" }, loops: { ok: true, detail: "" } } }
    ],
    ["/packs", ["demo", "other"].map((slug) => ({ slug, name: "Demo", description: "A demo pack", tags: ["demo"] }))],
    ["/packs/demo/scenarios", [summary]],
    [
      "/scenarios",
      [
        { packSlug: "demo", ...summary },
        { packSlug: "other", ...summary, templates: [], agentRefs: ["agent-a", "agent-unknown"] }
      ]
    ],
    ["/agents", [withRefs("agent-a", ["demo/one@1.0.0", "other/one@1.0.0"]), withRefs("agent-b", ["demo/one@1.0.0"])]],
    ["/agents/agent-b", withRefs("agent-b", ["demo/one@1.0.0"])]
  ])("GET %s", ([path, expected]) =>
    Effect.gen(function* () {
      const call = yield* serve()
      assert.deepStrictEqual(yield* call("GET", path), { status: 200, body: expected })
    })
  )

  it.effect("is not ready without packs, which a strict probe reads from the status", () =>
    Effect.gen(function* () {
      const call = yield* serve({ files: { "/packs/README.md": "" } })
      const lenient = yield* call("GET", "/readyz")
      assert.strictEqual(lenient.status, 200)
      assert.deepInclude(lenient.body, { status: "degraded", ok: false })
      const strict = yield* call("GET", "/readyz?strict=true")
      assert.deepStrictEqual(strict, { status: 503, body: lenient.body })
      assert.strictEqual((yield* call("GET", "/readyz?strict=a&strict=b")).status, 200)
    })
  )

  it.effect("GET /metrics names the build and the requests", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      const { body, status } = yield* call("GET", "/metrics")
      assert.strictEqual(status, 200)
      assert.match(body, /runplane_build_info\{service="launcher",version="[\d.]+",node="[\d.]+"\} 1/)
      assert.include(body, "# TYPE http_requests_total counter")
    })
  )

  it.effect("GET launch-schema answers profiles in the participants' roles, without their scenarios", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      const { status, body } = yield* call("GET", `${SCHEMA}?template=t`)
      assert.strictEqual(status, 200)
      assert.strictEqual(body.templateId, "t")
      assert.deepStrictEqual(body.defaults, { amount: 7, needed: 1 })
      assert.deepStrictEqual(body.agents, [
        { ...profile("agent-a"), role: "leader" },
        { ...profile("agent-b"), role: "member" }
      ])
      const plain = yield* call("GET", `${SCHEMA}?template=`)
      assert.notProperty(plain.body, "templateId")
    })
  )

  it.effect.each([
    ["/packs/nope/scenarios", "PACK_NOT_FOUND", "pack not found: nope"],
    ["/agents/nope", "AGENT_NOT_FOUND", "example agent not found: nope"],
    ["/packs/nope/scenarios/one/versions/1.0.0/launch-schema", "PACK_NOT_FOUND", "pack not found: nope"],
    ["/packs/demo/scenarios/nope/versions/1.0.0/launch-schema", "SCENARIO_NOT_FOUND", "scenario not found: demo/nope"],
    ["/packs/demo/scenarios/one/versions/9/launch-schema", "VERSION_NOT_FOUND", "version not found: demo/one@9"],
    [`${SCHEMA}?template=nope`, "TEMPLATE_NOT_FOUND", "template not found: nope for demo/one@1.0.0"],
    [
      "/packs/other/scenarios/one/versions/1.0.0/launch-schema",
      "AGENT_NOT_FOUND",
      "example agent not found: agent-unknown"
    ]
  ] as const)("GET %s is %s", ([path, errorCode, message]) =>
    Effect.gen(function* () {
      const call = yield* serve()
      assert.deepStrictEqual(yield* call("GET", path), { status: 404, body: { statusCode: 404, errorCode, message } })
    })
  )

  it.effect.each([
    ["GET", "/packs"],
    ["GET", "/scenarios"],
    ["GET", "/agents"],
    ["GET", SCHEMA],
    ["POST", "/launch/compile"]
  ] as const)("%s %s is INVALID_PACK_DATA when any pack file is malformed", ([method, path]) =>
    Effect.gen(function* () {
      const call = yield* serve({ files: { ...tree, "/packs/bad/pack.yaml": "apiVersion: v0" } })
      const answer = yield* call(
        method,
        path,
        method === "POST" ? { scenarioRef: "demo/one@1.0.0", inputs: {} } : undefined
      )
      assert.deepStrictEqual(answer, {
        status: 500,
        body: {
          statusCode: 500,
          errorCode: "INVALID_PACK_DATA",
          message: "invalid apiVersion in bad/pack.yaml: v0"
        }
      })
    })
  )
})

describe("POST /launch/compile", () => {
  const compile = (body: unknown) => Effect.flatMap(serve(), (call) => call("POST", "/launch/compile", body))
  const ref = { scenarioRef: "demo/one@1.0.0" }

  it.effect("answers 201 with a fresh session id each time, the same in both fields", () =>
    Effect.gen(function* () {
      const request = { ...ref, mode: "live", inputs: { needed: 5 }, controlPlane: "ignored" }
      const [one, two] = yield* Effect.all([compile(request), compile(request)])
      assert.strictEqual(one.status, 201)
      assert.match(one.body.sessionId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.strictEqual(one.body.runDescriptor.session.sessionId, one.body.sessionId)
      assert.notStrictEqual(one.body.sessionId, two.body.sessionId)
      assert.strictEqual(one.body.mode, "live")
      assert.deepStrictEqual(one.body.scenarioMeta.sessionContext, { n: 5 })
    })
  )

  it.effect.each([
    [
      "inputs that fail the schema",
      { ...ref, inputs: { amount: "x" } },
      400,
      "VALIDATION_ERROR",
      "Input validation failed"
    ],
    [
      "a placeholder without a value",
      { ...ref, inputs: {} },
      400,
      "COMPILATION_ERROR",
      "undefined placeholder: {{ inputs.needed }}"
    ],
    [
      "a reference that is none",
      { scenarioRef: "demo", inputs: {} },
      400,
      "INVALID_SCENARIO_REF",
      `invalid scenarioRef: missing '@' in "demo"`
    ],
    ["an unknown pack", { scenarioRef: "x/one@1.0.0", inputs: {} }, 404, "PACK_NOT_FOUND", "pack not found: x"],
    [
      "an unknown scenario",
      { scenarioRef: "demo/x@1.0.0", inputs: {} },
      404,
      "SCENARIO_NOT_FOUND",
      "scenario not found: demo/x"
    ],
    [
      "an unknown version",
      { scenarioRef: "demo/one@2", inputs: {} },
      404,
      "VERSION_NOT_FOUND",
      "version not found: demo/one@2"
    ],
    [
      "an unknown template",
      { ...ref, templateId: "x", inputs: {} },
      404,
      "TEMPLATE_NOT_FOUND",
      "template not found: x for demo/one@1.0.0"
    ]
  ] as const)("refuses %s", ([, body, status, errorCode, message]) =>
    Effect.gen(function* () {
      const answer = yield* compile(body)
      assert.strictEqual(answer.status, status)
      assert.deepInclude(answer.body, { statusCode: status, errorCode, message })
      assert.strictEqual("metadata" in answer.body, errorCode === "VALIDATION_ERROR")
    })
  )

  it.effect("compiles with an unknown agent", () =>
    Effect.map(compile({ scenarioRef: "other/one@1.0.0", inputs: {} }), (answer) =>
      assert.strictEqual(answer.status, 201)
    )
  )

  it.effect("answers a malformed body in the framework's form", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* compile({ mode: "both", inputs: [] }), {
        status: 400,
        body: {
          message: [
            "scenarioRef should not be empty",
            "scenarioRef must be a string",
            "mode must be one of the following values: live, sandbox",
            "inputs must be an object"
          ],
          error: "Bad Request",
          statusCode: 400
        }
      })
    })
  )
})

describe("GET /examples/queue", () => {
  it.effect("shows the launches that wait", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      assert.deepStrictEqual(yield* call("GET", "/examples/queue"), {
        status: 200,
        body: {
          agents: { running: 4, limit: 4 },
          limit: 2,
          waiting: [{ position: 1, sessionId: "s", scenarioRef: "a/b@1", agents: 2, waitingMs: 5 }]
        }
      })
    })
  )
})

describe("POST /examples/run", () => {
  const failed = [{ participantId: "one", agentRef: "agent-a", reason: "gone" }]
  it.effect.each([
    [authMintFailed("auth-service returned 503", 503), 502, "AUTH_MINT_FAILED", { status: 503 }],
    [authMintFailed("auth-service response missing token"), 502, "AUTH_MINT_FAILED", undefined],
    [agentAttachFailed("s", failed), 502, "AGENT_ATTACH_FAILED", { sessionId: "s", failedParticipants: failed }],
    [invalidConfig("agent manifest missing for x"), 500, "INVALID_CONFIG", undefined],
    [launchesFull("2 launches wait", 2), 503, "LAUNCHES_FULL", { position: 2 }]
  ] as const)("answers the failures of the flow (%#)", ([failure, status, errorCode, metadata]) =>
    Effect.gen(function* () {
      const call = yield* serve({ run: () => Effect.fail(failure) })
      assert.deepStrictEqual(yield* call("POST", "/examples/run", { scenarioRef: "demo/one@1.0.0", inputs: {} }), {
        status,
        body: { statusCode: status, errorCode, message: failure.message, ...(metadata ? { metadata } : {}) }
      })
    })
  )

  it.effect("answers 201 with the answer of the flow, without keys that have no value", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      const answer = yield* call("POST", "/examples/run", { scenarioRef: "demo/one@1.0.0", inputs: {} })
      assert.deepStrictEqual(answer, { status: 201, body: { compiled: compiledLaunch(), hostedAgents: [] } })
    })
  )
})

describe("the agent processes", () => {
  it.effect("are listed, and stopped by their id", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      assert.deepStrictEqual(yield* call("GET", "/processes"), { status: 200, body: [shownProcess] })
      assert.deepStrictEqual(yield* call("DELETE", `/processes/${shownProcess.id}`), { status: 204, body: "" })
      assert.deepStrictEqual(yield* call("DELETE", "/processes/x"), {
        status: 404,
        body: { statusCode: 404, errorCode: "PROCESS_NOT_FOUND", message: "no agent process has the id x" }
      })
    })
  )

  it.effect("are metrics, with the launches that wait", () =>
    Effect.gen(function* () {
      const { body } = yield* (yield* serve())("GET", "/metrics")
      for (const line of [
        "runplane_agent_processes 4",
        "runplane_agent_processes_limit 4",
        "runplane_launches_waiting 1",
        'runplane_agents_stopped_total{why="run_ended"} 3',
        'runplane_agents_stopped_total{why="request"} 1',
        "runplane_agents_killed_total 2"
      ]) {
        assert.include(body, `${line}\n`)
      }
    })
  )
})

describe("the documentation", () => {
  it.effect("is there in development only", () =>
    Effect.gen(function* () {
      const development = yield* serve({ environment: "development" })
      assert.strictEqual((yield* development("GET", "/docs-json")).body.info.title, "Scenario launch service")
      assert.strictEqual((yield* development("GET", "/docs")).status, 200)
      const elsewhere = yield* serve({ environment: "production" })
      assert.deepStrictEqual((yield* elsewhere("GET", "/docs")).body, {
        message: "Cannot GET /docs",
        error: "Not Found",
        statusCode: 404
      })
    })
  )
})
