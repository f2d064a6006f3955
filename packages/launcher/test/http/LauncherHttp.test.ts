import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { profile } from "../fixtures/Compiled.ts"
import { serve, tree } from "../fixtures/ServedRoutes.ts"

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

  it.effect("leads browsers from its root to the control plane, which has the console, and no other client", () =>
    Effect.gen(function* () {
      const browser = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" }
      const call = yield* serve({ publicControlPlaneUrl: "https://runs.example.org/below/" })
      const led = yield* call("GET", "/", undefined, browser)
      assert.deepInclude(led, { status: 302, location: "https://runs.example.org/below/" })
      const unknown = { status: 404, body: { statusCode: 404, message: "Cannot GET /", error: "Not Found" } }
      assert.deepStrictEqual(yield* call("GET", "/"), unknown)
      const alone = yield* serve()
      assert.deepStrictEqual(yield* alone("GET", "/", undefined, browser), unknown)
    })
  )

  it.effect("has no inbox without a database, and names the setting", () =>
    Effect.gen(function* () {
      const call = yield* serve()
      const { body, status } = yield* call("GET", "/inbox")
      assert.strictEqual(status, 500)
      assert.deepInclude(body, { errorCode: "INVALID_CONFIG" })
      assert.include(body.message, "LAUNCHER_DATABASE_URL")
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
