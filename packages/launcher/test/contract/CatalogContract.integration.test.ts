import { expect } from "vitest"
import { packYaml } from "../fixtures/Packs.ts"
import { contract, errorBody, type Statement } from "./Contract.ts"
import { AGENT_REFS, castYaml, profileOf } from "./PacksTree.ts"

const get = (path: string, says: string, over: Partial<Statement> = {}): Statement => ({
  says: `GET ${path} ${says}`,
  path,
  status: 200,
  ...over
})

const notFound = (errorCode: string, message: string): Partial<Statement> => ({
  status: 404,
  answer: errorBody(404, errorCode, message)
})

const SCHEMA = "/packs/demo/scenarios/full/versions/1.0.0/launch-schema"
const LATER = { "demo/scenarios/later/1.0.0/scenario.yaml": castYaml([]) }

const full = {
  scenario: "full",
  name: "Full Scenario",
  summary: "Everything that the format has",
  versions: ["1.0.0"],
  templates: ["default", "small"],
  tags: ["everything", "exec"],
  runtimeKind: "rust",
  agentRefs: ["agent-member", "agent-lead"]
}
const many = {
  scenario: "many",
  name: "Cast",
  versions: ["2.0.0", "10.0.0"],
  templates: [],
  tags: [],
  runtimeKind: "rust",
  agentRefs: ["agent-member"]
}

contract("the launch service: Resources: packs and scenarios", [
  get("/healthz", "is ok and names the service", { answer: { ok: true, service: "contract-launcher" } }),
  get("/packs", "lists packs with their four fields, by directory", {
    answer: [
      { slug: "cast", name: "Demo", description: "A demo pack", tags: ["demo"] },
      { slug: "demo", name: "Demo", description: "A demo pack", tags: ["demo"] },
      { slug: "second", name: "second", description: "", tags: [] }
    ]
  }),
  get("/packs/demo/scenarios", "summarises scenarios by their latest version", { answer: [full, many] }),
  get("/packs/second/scenarios", "is empty for a pack without scenarios", { answer: [] }),
  get("/packs/second-dir/scenarios", "does not know a pack by its directory", {
    ...notFound("PACK_NOT_FOUND", "pack not found: second-dir")
  }),
  get("/packs/nope/scenarios", "is PACK_NOT_FOUND", notFound("PACK_NOT_FOUND", "pack not found: nope")),
  get("/packs/%F0%9F%8E%AD/scenarios", "is PACK_NOT_FOUND for any text", {
    ...notFound("PACK_NOT_FOUND", "pack not found: \u{1f3ad}")
  }),
  get("/scenarios", "names the pack of each scenario, and only this list does", {
    answer: expect.arrayContaining([
      { packSlug: "demo", ...full },
      { packSlug: "demo", ...many }
    ])
  }),
  get("/scenarios", "shows what was added on disk at the next request", {
    files: LATER,
    answer: expect.arrayContaining([expect.objectContaining({ packSlug: "demo", scenario: "later", agentRefs: [] })])
  }),
  get("/packs", "shows what was taken away on disk at the next request", {
    files: { "second-dir/pack.yaml": null },
    answer: [expect.objectContaining({ slug: "cast" }), expect.objectContaining({ slug: "demo" })]
  }),
  get("/scenarios", "has no policy hints", {
    answer: expect.not.arrayContaining([expect.objectContaining({ policyHints: expect.anything() })])
  })
])

contract("the launch service: Resources: agents", [
  get("/agents", "lists every profile by file name, each with its scenarios and without metrics", {
    also: ({ body }) => {
      expect(body.map(({ agentRef }: { agentRef: string }) => agentRef)).toStrictEqual(AGENT_REFS)
      expect(body[0]).toStrictEqual({ ...profileOf("agent-broken"), scenarios: ["cast/broken@1.0.0"] })
    }
  }),
  get("/agents/agent-mock", "finds the scenarios that name the agent by scanning all packs", {
    answer: { ...profileOf("agent-mock"), scenarios: ["cast/mixed@1.0.0", "cast/unstarted@1.0.0"] }
  }),
  get("/agents/agent-member", "counts each version, once, templates left out", {
    includes: {
      scenarios: expect.arrayContaining(["demo/full@1.0.0", "demo/many@2.0.0", "demo/many@10.0.0", "cast/order@1.0.0"])
    },
    also: ({ body }) => expect(new Set(body.scenarios).size).toBe(body.scenarios.length)
  }),
  get("/agents/agent-mock", "shows a scenario that was added on disk", {
    files: { "demo/scenarios/later/1.0.0/scenario.yaml": castYaml([{ id: "m", agent: "agent-mock" }]) },
    includes: { scenarios: ["cast/mixed@1.0.0", "cast/unstarted@1.0.0", "demo/later@1.0.0"] }
  }),
  get("/agents/unknown", "is AGENT_NOT_FOUND", notFound("AGENT_NOT_FOUND", "example agent not found: unknown")),
  get("/agents/..%2Fmanifests%2Fagent-lead", "does not take a path for an agent", {
    ...notFound("AGENT_NOT_FOUND", "example agent not found: ../manifests/agent-lead")
  })
])

const summaryOfFull = {
  modeName: "macp.mode.decision.v1",
  modeVersion: "1.0.0",
  configurationVersion: "config.full",
  policyVersion: "policy.full",
  ttlMs: 120_000,
  initiatorParticipantId: "lead"
}

contract("the launch service: Resources: launch schema", [
  get(SCHEMA, "has the fields of the specification", {
    answer: {
      scenarioRef: "demo/full@1.0.0",
      formSchema: expect.objectContaining({ type: "object", required: ["customer", "amount"] }),
      defaults: { amount: 10, express: false, address: { city: "Aby" }, list: ["x", "y"] },
      participants: [
        { id: "one", role: "reviewer", agentRef: "agent-member" },
        { id: "lead", role: "", agentRef: "agent-lead" }
      ],
      agents: [{ ...profileOf("agent-member"), role: "reviewer" }, profileOf("agent-lead")],
      runtime: { kind: "rust", version: "v2" },
      launchSummary: summaryOfFull,
      expectedDecisionKinds: ["go", "stay"]
    }
  }),
  get(`${SCHEMA}?template=small`, "shows the template's defaults and overrides, the form unchanged", {
    includes: {
      templateId: "small",
      formSchema: { properties: { amount: { default: 10 } } },
      defaults: {
        customer: "C-1",
        amount: 5,
        express: false,
        address: { zip: "2" },
        list: ["x", "y"],
        extra: "kept for the form"
      },
      participants: [{ id: "lead", role: "leader", agentRef: "agent-lead" }],
      runtime: { kind: "rust", version: "v3" },
      launchSummary: { ...summaryOfFull, ttlMs: 1_000 }
    }
  }),
  get(`${SCHEMA}?template=default`, "takes a template called default only when the request names it", {
    includes: { templateId: "default", launchSummary: summaryOfFull }
  }),
  get(`${SCHEMA}?template=`, "counts an empty template as absent", { lacks: ["templateId"] }),
  get(`${SCHEMA}?template=small&colour=red`, "ignores other parameters", { includes: { templateId: "small" } }),
  get("/packs/demo/scenarios/many/versions/10.0.0/launch-schema", "leaves out what the scenario does not say", {
    answer: {
      scenarioRef: "demo/many@10.0.0",
      formSchema: { type: "object" },
      defaults: {},
      participants: [{ id: "ten", role: "member", agentRef: "agent-member" }],
      agents: [{ ...profileOf("agent-member"), role: "member" }],
      runtime: { kind: "rust", version: "v1" },
      launchSummary: {
        modeName: "macp.mode.decision.v1",
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        ttlMs: 60_000
      }
    }
  }),
  get(
    "/packs/nope/scenarios/full/versions/1.0.0/launch-schema",
    "is PACK_NOT_FOUND",
    notFound("PACK_NOT_FOUND", "pack not found: nope")
  ),
  get(
    "/packs/demo/scenarios/nope/versions/1.0.0/launch-schema",
    "is SCENARIO_NOT_FOUND",
    notFound("SCENARIO_NOT_FOUND", "scenario not found: demo/nope")
  ),
  get(
    "/packs/demo/scenarios/versionless/versions/readme/launch-schema",
    "does not list a scenario without a valid version",
    notFound("SCENARIO_NOT_FOUND", "scenario not found: demo/versionless")
  ),
  get(
    "/packs/demo/scenarios/full/versions/2.0.0/launch-schema",
    "is VERSION_NOT_FOUND",
    notFound("VERSION_NOT_FOUND", "version not found: demo/full@2.0.0")
  ),
  get(
    `${SCHEMA}?template=other`,
    "is TEMPLATE_NOT_FOUND, also for a file of another kind",
    notFound("TEMPLATE_NOT_FOUND", "template not found: other for demo/full@1.0.0")
  ),
  get(
    "/packs/cast/scenarios/unknown/versions/1.0.0/launch-schema",
    "is AGENT_NOT_FOUND for an agent outside the catalog",
    notFound("AGENT_NOT_FOUND", "example agent not found: agent-unknown")
  )
])

contract(
  "discovery without packs",
  [
    get("/packs", "is empty when PACKS_DIR is missing", { answer: [] }),
    get("/scenarios", "is empty", { answer: [] }),
    get("/agents", "is empty", { answer: [] })
  ],
  { tree: { "/elsewhere": "" } }
)

contract(
  "REGISTRY_CACHE_TTL_MS",
  [
    get("/packs", "reads the packs once", { answer: expect.objectContaining({ length: 3 }) }),
    get("/packs", "serves that reading for as long as the setting says", {
      files: { "demo/pack.yaml": packYaml().replace("Demo", "Renamed") },
      answer: expect.objectContaining({ length: 3 }),
      also: ({ text }) => expect(text).not.toContain("Renamed")
    }),
    get("/packs", "does not see a broken file before then either", { files: { "demo/pack.yaml": "a: [" } })
  ],
  { env: { REGISTRY_CACHE_TTL_MS: "600000" } }
)
