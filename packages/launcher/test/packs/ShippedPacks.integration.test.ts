import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, layer } from "@effect/vitest"
import { EXAMPLE_AGENTS } from "@runplane/agents"
import { mayCommit, PINNED_RELEASE, payloadTypeName, policyRuleFaults, readPolicy } from "@runplane/domain"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseManifest } from "../../src/agents/AgentManifest.ts"
import { AgentCatalog } from "../../src/catalog/AgentCatalog.ts"
import { type LaunchPlan, type ScenarioVersion, scenarioRefOf } from "../../src/catalog/Catalog.ts"
import { compileInputSchema } from "../../src/catalog/InputSchema.ts"
import { openPackFiles } from "../../src/catalog/PackFiles.ts"
import { loadCatalog } from "../../src/catalog/PackLoader.ts"
import { PackRegistry } from "../../src/catalog/PackRegistry.ts"
import type { JsonObject } from "../../src/common/Json.ts"
import { LaunchCompiler } from "../../src/compile/LaunchCompiler.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

const PACKS = fileURLToPath(new URL("../../../../packs/", import.meta.url))

/** The modes of the standard, each shown by a pack. */
const STANDARD_MODES = ["decision", "handoff", "proposal", "quorum", "task"].map((mode) => `macp.mode.${mode}.v1`)

/** Agents for new scenarios of other authors; no scenario here needs them. */
const STARTERS = ["panel-lead-agent", "panel-agent"]

const readJson = (path: string) => JSON.parse(readFileSync(`${PACKS}${path}`, "utf8"))
const jsonNames = (folder: string) =>
  readdirSync(`${PACKS}${folder}`).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []))

const folderOf = ({ pack, scenario, version }: ScenarioVersion) => `${pack}/scenarios/${scenario}/${version}`
const fixturesOf = (scenario: ScenarioVersion) =>
  jsonNames(`${folderOf(scenario)}/fixtures`).map((name) => [
    name,
    readJson(`${folderOf(scenario)}/fixtures/${name}.json`)
  ])

const policies = jsonNames("_policies").map((name) => ({ name, ...readJson(`_policies/${name}.json`) }))
const policyOf = (plan: LaunchPlan) => policies.find(({ policy_id }) => policy_id === plan.launch.policyVersion)

/** Every launch that a scenario can result in: as declared, and with each of its templates. */
const plansOf = (scenario: ScenarioVersion): ReadonlyArray<readonly [string, LaunchPlan]> => [
  [scenarioRefOf(scenario), scenario.base],
  ...scenario.templates.map(({ plan, slug }) => [`${scenarioRefOf(scenario)} ${slug}`, plan] as const)
]

/** What only the file says, not the catalog. */
const ScenarioFile = Schema.Struct({
  metadata: Schema.Struct({ pack: Schema.String, scenario: Schema.String, version: Schema.String }),
  spec: Schema.Struct({
    launch: Schema.Struct({
      participants: Schema.Array(Schema.Struct({ role: Schema.String })),
      commitments: Schema.Array(
        Schema.Struct({
          description: Schema.String,
          requiredRoles: Schema.Array(Schema.String),
          policyRef: Schema.String
        })
      )
    })
  })
})

/** A scenario file with its includes. */
const fileOf = (scenario: ScenarioVersion) =>
  Effect.gen(function* () {
    const files = yield* openPackFiles(PACKS)
    const document = yield* files.read(`${PACKS}${folderOf(scenario)}/scenario.yaml`)
    return yield* Schema.decodeUnknownEffect(ScenarioFile)(document)
  })

const services = LaunchCompiler.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(PackRegistry.layer, AgentCatalog.layer)),
  // Nothing connects: the compiler refuses scenarios with people in a service without a database.
  Layer.provide(
    settingsLayer({
      packsDir: PACKS,
      registryCacheTtlMs: 60_000,
      database: { url: "postgres://127.0.0.1/people", password: undefined, caFile: undefined }
    })
  ),
  Layer.provideMerge(Layer.merge(NodeFileSystem.layer, NodePath.layer))
)

const shipped = Effect.gen(function* () {
  const { packs } = yield* (yield* PackRegistry).catalog
  return packs.flatMap(({ scenarios }) => scenarios.flatMap(({ versions }) => versions))
})

layer(services, { excludeTestServices: true })("the packs that are shipped", (it) => {
  it.effect("load without a warning, from folders that say the same as the files", () =>
    Effect.gen(function* () {
      const { catalog, warnings } = yield* loadCatalog(PACKS, compileInputSchema)
      assert.deepStrictEqual(warnings, [])
      for (const pack of catalog.packs) {
        for (const { slug, versions } of pack.scenarios) {
          for (const version of versions) {
            const { metadata } = yield* fileOf(version)
            assert.deepStrictEqual(metadata, { pack: pack.slug, scenario: slug, version: version.version })
          }
        }
      }
    })
  )

  it.effect("show every standard mode, both dialects of input schemas, and scenarios with two versions", () =>
    Effect.gen(function* () {
      const scenarios = yield* shipped
      assert.sameMembers([...new Set(scenarios.map(({ base }) => base.launch.modeName))], STANDARD_MODES)
      const dialects = scenarios.map(({ formSchema }) => formSchema["$schema"])
      assert.includeMembers(dialects, [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#"
      ])
      const { packs } = yield* (yield* PackRegistry).catalog
      const twice = packs.flatMap((pack) => pack.scenarios.filter(({ versions }) => versions.length === 2))
      assert.isAtLeast(twice.length, 2)
    })
  )

  it.effect("compile with nothing, with every fixture, and with each of their templates", () =>
    Effect.gen(function* () {
      const compiler = yield* LaunchCompiler
      for (const scenario of yield* shipped) {
        const scenarioRef = scenarioRefOf(scenario)
        const fixtures = fixturesOf(scenario)
        assert.isAtLeast(scenario.templates.length, 2, scenarioRef)
        assert.isAtLeast(fixtures.length, 3, scenarioRef)
        for (const [, inputs] of [["none", {}], ...fixtures]) {
          for (const templateId of [undefined, ...scenario.templates.map(({ slug }) => slug)]) {
            const template = templateId === undefined ? {} : { templateId }
            const { initiator, scenarioMeta } = yield* compiler.compile({ scenarioRef, inputs, ...template })
            assert.isDefined(initiator?.kickoff)
            assert.notInclude(JSON.stringify([initiator, scenarioMeta]), "{{")
          }
        }
      }
    })
  )

  it.effect("refuse inputs that they do not know, and inputs of another type", () =>
    Effect.gen(function* () {
      const compiler = yield* LaunchCompiler
      for (const scenario of yield* shipped) {
        const [property = ""] = Object.keys(scenario.schemaDefaults)
        for (const inputs of [{ surprise: 1 }, { [property]: { nested: [] } }]) {
          const error = yield* Effect.flip(compiler.compile({ scenarioRef: scenarioRefOf(scenario), inputs }))
          assert.strictEqual(error.errorCode, "VALIDATION_ERROR")
        }
      }
    })
  )

  it.effect("kick off with a message of their mode, from the initiator to the others", () =>
    Effect.gen(function* () {
      const compiler = yield* LaunchCompiler
      for (const scenario of yield* shipped) {
        const compiled = yield* compiler.compile({ scenarioRef: scenarioRefOf(scenario), inputs: {} })
        const ids = compiled.participantBindings.map(({ participantId }) => participantId)
        const { initiator } = compiled
        const { messageType = "", payloadType } = initiator?.kickoff ?? {}
        assert.strictEqual(payloadType, payloadTypeName(scenario.base.launch.modeName, messageType))
        for (const [, { launch }] of plansOf(scenario)) {
          const [kickoff] = launch.kickoffTemplate ?? []
          assert.strictEqual(kickoff?.["from"], initiator?.participantId)
          assert.sameMembers(
            [String(kickoff?.["from"]), ...(Array.isArray(kickoff?.["to"]) ? kickoff["to"].map(String) : [])],
            ids
          )
        }
      }
    })
  )

  it("have policies that are right for their modes", () => {
    for (const { mode, name, policy_id, rules, schema_version } of policies) {
      assert.deepStrictEqual([policy_id, schema_version], [name, 2])
      assert.deepStrictEqual(policyRuleFaults(mode, rules), [], name)
    }
  })

  it("let the operator of the control plane pause the sessions of one policy", () => {
    const { policy_id, rules, ...file } = readJson("_policies/policy.support.day-desk.json")
    const text = { policyId: policy_id, mode: file.mode, schemaVersion: file.schema_version }
    const policy = Result.getOrThrow(readPolicy({ ...text, rules: JSON.stringify(rules) }, PINNED_RELEASE))
    const participants = ["frontline", "billing"]
    const may = (sender: string) =>
      mayCommit(sender, { initiator: "frontline", participants, policy, release: PINNED_RELEASE })
    assert.deepStrictEqual(["frontline", CONTROL_PLANE_IDENTITY, "billing"].map(may), [true, true, false])
  })

  it.effect("name a policy of their own mode, and leave none unused", () =>
    Effect.gen(function* () {
      const plans = (yield* shipped).flatMap(plansOf)
      for (const [name, plan] of plans) assert.strictEqual(policyOf(plan)?.mode, plan.launch.modeName, name)
      assert.sameMembers(
        [...new Set(plans.map(([, plan]) => String(plan.launch.policyVersion)))],
        policies.map(({ policy_id }) => policy_id)
      )
    })
  )

  it.effect("give their agents the rules of the policy", () =>
    Effect.gen(function* () {
      for (const scenario of yield* shipped) {
        const participants = scenario.base.launch.participants.length
        for (const [name, plan] of plansOf(scenario)) {
          assert.deepStrictEqual(rulesOf(plan), ruledBy(policyOf(plan), participants), name)
        }
      }
    })
  )

  it.effect("have commitments, roles that take part and policies that exist", () =>
    Effect.gen(function* () {
      for (const scenario of yield* shipped) {
        const { commitments, participants } = (yield* fileOf(scenario)).spec.launch
        const roles = participants.map(({ role }) => role)
        assert.isNotEmpty(commitments)
        for (const { description, policyRef, requiredRoles } of commitments) {
          assert.isNotEmpty(description)
          assert.includeMembers(roles, [...requiredRoles])
          assert.include(
            policies.map(({ policy_id }) => policy_id),
            policyRef
          )
        }
      }
    })
  )

  it.effect(
    "know every agent they name; each has a manifest that starts an agent that exists, and a part to play",
    () =>
      Effect.gen(function* () {
        const { get, profiles } = yield* AgentCatalog
        const refs = (yield* shipped).flatMap(({ base }) => base.launch.participants.map(({ agentRef }) => agentRef))
        for (const agentRef of new Set(refs)) {
          const { bootstrapStrategy, framework } = yield* get(agentRef)
          assert.strictEqual(framework === "person", bootstrapStrategy === "seat")
          if (framework === "person") continue
          const manifest = Result.getOrThrow(
            parseManifest(readFileSync(`${PACKS}_agents/manifests/${agentRef}.json`, "utf8"))
          )
          assert.deepStrictEqual([manifest.id, manifest.framework], [agentRef, framework])
          assert.deepStrictEqual(manifest.host.args, ["--agent", agentRef])
        }
        const known = [...STARTERS, ...new Set(refs)]
        assert.sameMembers(
          profiles.map(({ agentRef }) => agentRef),
          known
        )
        // No process acts for a person.
        const started = profiles.flatMap(({ agentRef, framework }) => (framework === "person" ? [] : [agentRef]))
        assert.sameMembers(jsonNames("_agents/manifests"), started)
        assert.sameMembers(Object.keys(EXAMPLE_AGENTS), started)
      })
  )
})

/** The rules that the launch gives to its agents. */
const rulesOf = ({ launch }: LaunchPlan): JsonObject => {
  const context = launch.contextTemplate ?? {}
  switch (launch.modeName) {
    case "macp.mode.decision.v1": {
      const { threshold, type, vetoEnabled } = launch.policyHints ?? {}
      return { threshold: threshold ?? null, type: type ?? null, vetoEnabled: vetoEnabled ?? null }
    }
    case "macp.mode.quorum.v1": {
      const kickoff = JSON.stringify(launch.kickoffTemplate?.[0])
      return { approvals: Number(/"required_approvals":(\d+)/.exec(kickoff)?.[1]) }
    }
    case "macp.mode.proposal.v1":
      return { rules: context["rules"] ?? null }
    case "macp.mode.task.v1":
      return { reassignable: context["reassignable"] ?? null }
    default:
      return { silenceAcceptsAfterMs: context["silenceAcceptsAfterMs"] ?? null }
  }
}

/** The same from the policy, for a session with this many participants. */
const ruledBy = (policy: (typeof policies)[number] | undefined, participants: number): JsonObject => {
  const { acceptance, assignment, counter_proposal, objection_handling, rejection, threshold, voting } =
    policy?.rules ?? {}
  switch (policy?.mode) {
    case "macp.mode.decision.v1":
      return {
        threshold: voting.threshold,
        type: voting.algorithm,
        vetoEnabled: objection_handling.critical_severity_vetoes
      }
    case "macp.mode.quorum.v1":
      return {
        approvals: threshold.type === "percentage" ? Math.ceil((threshold.value * participants) / 100) : threshold.value
      }
    case "macp.mode.proposal.v1":
      return {
        rules: { maxRounds: counter_proposal.max_rounds, rejectionIsFinal: rejection.terminal_on_any_reject }
      }
    case "macp.mode.task.v1":
      return { reassignable: assignment.allow_reassignment_on_reject }
    default:
      return { silenceAcceptsAfterMs: acceptance.implicit_accept_timeout_ms }
  }
}
