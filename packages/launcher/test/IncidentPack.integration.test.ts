import { readFileSync } from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, layer } from "@effect/vitest"
import type { CompileRequest } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { AgentCatalog } from "../src/catalog/AgentCatalog.ts"
import { PackRegistry } from "../src/catalog/PackRegistry.ts"
import { LaunchCompiler } from "../src/compile/LaunchCompiler.ts"
import { settingsLayer } from "./fixtures/Settings.ts"

const PACKS = new URL("../../../packs/", import.meta.url).pathname
const REF = "incident/region-failover@1.0.0"

/** The compiler over the packs of this repository, or a changed copy of them. */
const servicesOver = (packsDir: string) =>
  LaunchCompiler.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(PackRegistry.layer, AgentCatalog.layer)),
    Layer.provide(settingsLayer({ packsDir, registryCacheTtlMs: 60_000 })),
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
/** The fields of the validator's list that distinguish problems. */
const decodeProblems = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ keyword: Schema.String, instancePath: Schema.String, params: Schema.JsonObject }))
)
const compile = (request: Partial<CompileRequest>) =>
  Effect.flatMap(LaunchCompiler, (compiler) => compiler.compile({ scenarioRef: REF, inputs: {}, ...request }))
const readJson = (path: string) => JSON.parse(readFileSync(`${PACKS}${path}`, "utf8"))
const runbook = readJson("incident/scenarios/region-failover/1.0.0/data/runbook-steps.json")

layer(servicesOver(PACKS), { excludeTestServices: true })("the incident pack", (it) => {
  it.effect("compiles its fast track exactly as expected", () =>
    Effect.gen(function* () {
      const compiled = yield* compile({
        templateId: "sev1-fast-track",
        inputs: { errorRatePercent: 64.2, standby: { region: "north-3", warm: true } }
      })
      const { sessionId } = compiled
      const ids = ["replication-analyst", "impact-analyst", "security-analyst", "incident-commander"]
      assert.deepStrictEqual(compiled, {
        sessionId,
        mode: "sandbox",
        runDescriptor: {
          mode: "sandbox",
          runtime: { kind: "rust", version: "v2" },
          session: {
            sessionId,
            modeName: "macp.mode.decision.v1",
            modeVersion: "1.0.0",
            configurationVersion: "config.default",
            policyVersion: "policy.incident.fast-track",
            ttlMs: 120000,
            participants: ids.map((id) => ({ id })),
            metadata: {
              source: "svc",
              sourceRef: REF,
              scenarioRef: REF,
              templateId: "sev1-fast-track",
              environment: "test",
              demoType: "incident-failover",
              decisionOwner: "incident-commander",
              intent: "decide whether checkout-api fails over to north-3",
              posture: "fast-track"
            }
          },
          execution: {
            tags: ["example", "incident", "region-failover", "go-no-go", "fast-track", "failover", "decision"],
            requester: { actorId: "on-call-console", actorType: "service" }
          }
        },
        initiator: {
          participantId: "incident-commander",
          sessionStart: {
            intent: "decide whether checkout-api fails over to north-3",
            participants: ids,
            ttlMs: 120000,
            maxSuspendMs: 60000,
            modeVersion: "1.0.0",
            configurationVersion: "config.default",
            policyVersion: "policy.incident.fast-track",
            extensions: { "ops.bridge": "YnJpZGdlLTc=" }
          },
          kickoff: {
            messageType: "Proposal",
            payloadType: "macp.modes.decision.v1.ProposalPayload",
            payload: {
              proposal_id: "INC-4207-failover",
              option: "fail_over_now",
              rationale: "Choose go, hold or no_go for checkout-api (sev1)."
            }
          }
        },
        scenarioMeta: {
          policyHints: {
            type: "supermajority",
            description: "Two thirds of the bridge must agree inside two minutes; no veto",
            threshold: 0.67,
            vetoEnabled: false,
            vetoThreshold: 1,
            minimumConfidence: 0.4,
            designatedRoles: []
          },
          sessionContext: {
            incidentId: "INC-4207",
            service: "checkout-api",
            severity: "sev1",
            errorRatePercent: 64.2,
            replicationLagSeconds: 2,
            customerFacing: true,
            standby: { region: "north-3", warm: true },
            headline: "checkout-api at 64.2% errors, standby north-3",
            runbook
          },
          initiatorParticipantId: "incident-commander"
        },
        display: {
          title: "Regional Failover Go/No-Go",
          scenarioRef: REF,
          templateId: "sev1-fast-track",
          expectedDecisionKinds: ["go", "hold", "no_go"]
        },
        participantBindings: [
          { participantId: "replication-analyst", role: "data-safety", agentRef: "replication-agent" },
          { participantId: "impact-analyst", role: "customer-impact", agentRef: "impact-agent" },
          { participantId: "security-analyst", role: "security", agentRef: "security-agent" },
          { participantId: "incident-commander", role: "commander", agentRef: "commander-agent" }
        ]
      })
    })
  )

  it.effect("compiles without inputs, because its defaults satisfy its schema", () =>
    Effect.map(compile({}), (compiled) =>
      assert.strictEqual(compiled.runDescriptor.session.metadata?.["templateId"], "default")
    )
  )

  it.effect("compiles its fixture", () =>
    Effect.gen(function* () {
      const inputs = readJson("incident/scenarios/region-failover/1.0.0/fixtures/cold-standby.json")
      const compiled = yield* compile({ inputs })
      assert.deepInclude(compiled.scenarioMeta.sessionContext, {
        headline: "checkout-api at 38% errors, standby north-3"
      })
      assert.notProperty(compiled.display, "templateId")
      assert.strictEqual(compiled.runDescriptor.session.metadata?.["templateId"], "default")
    })
  )

  it.effect.each([
    [
      { errorRatePercent: 140, severity: "sev9", extra: 1 },
      [
        ["additionalProperties", "", { additionalProperty: "extra" }],
        ["enum", "/severity", { allowedValues: ["sev1", "sev2", "sev3"] }],
        ["maximum", "/errorRatePercent", { comparison: "<=", limit: 100 }]
      ]
    ],
    [{ incidentId: "4207" }, [["pattern", "/incidentId", { pattern: "^INC-[0-9]{4,6}$" }]]],
    [{ standby: { region: "north-3" } }, [["required", "/standby", { missingProperty: "warm" }]]],
    [{ detectedAt: "yesterday" }, [["format", "/detectedAt", { format: "date-time" }]]]
  ] as const)("refuses %j with the validator's list", ([inputs, expected]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(compile({ inputs }))
      const problems = yield* decodeProblems(error.metadata?.["errors"])
      assert.sameDeepMembers(
        problems.map(({ keyword, instancePath, params }) => [keyword, instancePath, params]),
        expected.map((problem) => [...problem])
      )
    })
  )

  it.effect.each([
    [
      "an extension that is not a text",
      "scenario.yaml",
      "YnJpZGdlLTc=",
      "7",
      "COMPILATION_ERROR",
      /launch\.extensions\.ops\.bridge/
    ],
    [
      "a placeholder of an input that was not given",
      "scenario.yaml",
      '"{{ inputs.severity }}"',
      '"{{ inputs.detectedAt }}"',
      "COMPILATION_ERROR",
      /^undefined placeholder: \{\{ inputs\.detectedAt \}\}$/
    ],
    [
      "an include that leads out",
      "scenario.yaml",
      "./data/runbook-steps.json",
      "../../../../../../outside.yaml",
      "INVALID_PACK_DATA",
      /^!include path escapes PACKS_DIR: /
    ],
    [
      "another kind",
      "../../../pack.yaml",
      "ScenarioPack",
      "Pack",
      "INVALID_PACK_DATA",
      /^invalid kind in incident\/pack\.yaml/
    ]
  ] as const)("fails with %s", ([, file, from, to, errorCode, message]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const packsDir = `${yield* fs.makeTempDirectoryScoped()}/packs`
      for (const folder of ["_agents", "_shared", "incident"])
        yield* fs.copy(`${PACKS}${folder}`, `${packsDir}/${folder}`)
      const broken = `${packsDir}/incident/scenarios/region-failover/1.0.0/${file}`
      yield* fs.writeFileString(broken, (yield* fs.readFileString(broken)).replace(from, to))
      const error = yield* Effect.flip(compile({})).pipe(Effect.provide(Layer.fresh(servicesOver(packsDir))))
      assert.strictEqual(error.errorCode, errorCode)
      assert.match(error.message, message)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
