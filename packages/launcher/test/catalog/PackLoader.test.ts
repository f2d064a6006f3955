import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { findPack, findVersion, scenariosByAgent, summarise } from "../../src/catalog/Catalog.ts"
import type { MemoryTree } from "../fixtures/MemoryFiles.ts"
import { load, packYaml, type ScenarioParts, scenarioYaml, smallPack, templateYaml } from "../fixtures/Packs.ts"

const SCENARIO = "/packs/demo/scenarios/one/1.0.0/scenario.yaml"
const TEMPLATES = "/packs/demo/scenarios/one/1.0.0/templates"

const withScenario = (parts: ScenarioParts): MemoryTree => ({ ...smallPack(), [SCENARIO]: scenarioYaml(parts) })
const withTemplate = (text: string): MemoryTree => ({ ...smallPack(), [`${TEMPLATES}/t.yaml`]: text })

describe("discovery", () => {
  it.effect("serves an empty catalog with a warning when the directory is missing", () =>
    Effect.gen(function* () {
      const { catalog, warnings } = yield* load({})
      assert.deepStrictEqual(catalog.packs, [])
      assert.lengthOf(warnings, 1)
    })
  )

  it.effect(
    "ignores plain files and directories with a leading underscore, and skips a directory without pack.yaml",
    () =>
      Effect.gen(function* () {
        const { catalog, warnings } = yield* load({
          ...smallPack(),
          "/packs/README.md": "hello",
          "/packs/_shared/pack.yaml": "not: a pack",
          "/packs/empty/notes.txt": "n"
        })
        assert.deepStrictEqual(
          catalog.packs.map((pack) => pack.slug),
          ["demo"]
        )
        assert.lengthOf(warnings, 1)
        assert.match(warnings[0] ?? "", /empty/)
      })
  )

  it.effect("knows a pack by its slug, not by its directory, and lists packs by directory name", () =>
    Effect.gen(function* () {
      const { catalog } = yield* load({
        "/packs/z-dir/pack.yaml": packYaml({ slug: "alpha" }),
        "/packs/a-dir/pack.yaml": packYaml({ slug: "omega" })
      })
      assert.deepStrictEqual(
        catalog.packs.map((pack) => pack.slug),
        ["omega", "alpha"]
      )
      assert.isTrue(Result.isFailure(findPack(catalog, "z-dir")))
    })
  )

  it.effect("leaves the copy of a template out, and serves the rest", () =>
    Effect.gen(function* () {
      const { catalog, warnings } = yield* load({
        ...smallPack(),
        [`${TEMPLATES}/a copy.yaml`]: templateYaml("a", "spec: { defaults: { amount: 1 } }"),
        [`${TEMPLATES}/a.yaml`]: templateYaml("a", "spec: { defaults: { amount: 2 } }")
      })
      const found = findVersion(catalog, { pack: "demo", scenario: "one", version: "1.0.0" })
      const templates = Result.isSuccess(found) ? found.success.templates : []
      assert.deepStrictEqual(
        templates.map(({ defaults, slug }) => [slug, defaults]),
        [["a", { amount: 2 }]]
      )
      const folder = "demo/scenarios/one/1.0.0/templates"
      assert.deepStrictEqual(warnings, [
        `${folder}/a copy.yaml:2: left out: ${folder}/a.yaml has the metadata.slug "a" too; ` +
          "give the copy a slug of its own, or remove it"
      ])
    })
  )

  it.effect("names scenario and version by their directories and not by the metadata of the file", () =>
    Effect.gen(function* () {
      const { catalog } = yield* load(withScenario({ metadata: "scenario: other\nversion: 9.9.9" }))
      const found = findVersion(catalog, { pack: "demo", scenario: "one", version: "1.0.0" })
      assert.isTrue(Result.isSuccess(found))
    })
  )

  it.effect("warns of numbers that are read otherwise than written, in includes too, once each", () =>
    Effect.gen(function* () {
      const { warnings } = yield* load({
        ...withScenario({ launch: "contextTemplate: { a: !include ./c.yaml, b: !include ./c.yaml }" }),
        [SCENARIO.replace("scenario.yaml", "c.yaml")]: "n: 1\norderId: 1.10"
      })
      const file = "demo/scenarios/one/1.0.0/c.yaml:2"
      assert.deepStrictEqual(warnings, [`${file}: 1.10 is read as the number 1.1: put it in quotes if it is a text`])
    })
  )

  it.effect("refuses a number for a text with what to do", () =>
    Effect.gen(function* () {
      const tree = { ...smallPack(), [SCENARIO]: scenarioYaml().replace("modeVersion: 1.0.0", "modeVersion: 1.10") }
      const { message } = yield* Effect.flip(load(tree))
      assert.match(message, /^invalid spec\.launch\.modeVersion in .*: Expected string: put the number in quotes/)
    })
  )

  it.effect("logs faults that do not keep a file from loading, with their lines, and serves it", () =>
    Effect.gen(function* () {
      const text = scenarioYaml({
        metadata: "scenario: other",
        schema: "{ type: object, properties: { amount: { type: number, default: seven } } }",
        launch: "policyVerison: p\nkickoffTemplate: [{ from: stranger }]"
      })
      const { catalog, warnings } = yield* load({
        ...smallPack(),
        [SCENARIO]: text,
        [`${TEMPLATES}/t.yaml`]: templateYaml("t", "spec: { overrides: { launch: { ttlMS: 5 } } }")
      })
      assert.lengthOf(catalog.packs, 1)
      const lineOf = (part: string) => text.split("\n").findIndex((line) => line.includes(part)) + 1
      const file = "demo/scenarios/one/1.0.0"
      assert.deepStrictEqual(warnings, [
        `${file}/scenario.yaml:${lineOf("policyVerison")}: spec.launch.policyVerison is not a key of the format: write policyVersion`,
        `${file}/scenario.yaml:${lineOf("scenario: other")}: metadata.scenario is "other", but the folder, which counts, is "one": make them the same`,
        `${file}/scenario.yaml:${lineOf("default: seven")}: the default of the input "amount" contradicts its schema: /amount must be number; change one of them`,
        `${file}/scenario.yaml:${lineOf("stranger")}: the kickoff is from "stranger", who is not a participant; name one of: first, second`,
        `${file}/templates/t.yaml:3: spec.overrides.launch.ttlMS is not a key of the format: write ttlMs`
      ])
    })
  )

  it.effect.each<readonly [string, string, string]>([
    ["a value of its own", "topic: {{ inputs.amount }}", "{{ inputs.amount }}"],
    ["the beginning of a text", "topic: {{ inputs.amount }} of them", "{{ inputs.amount }}"],
    ["an entry of a list", "topic:\n  - one\n  - {{inputs.amount}}", "{{inputs.amount}}"]
  ])("says at its line that a placeholder needs quotes: %s", ([, lines, placeholder]) =>
    Effect.gen(function* () {
      const text = scenarioYaml({
        launch: `contextTemplate:\n  fine: "{{ inputs.amount }}"\n  ${lines.replaceAll("\n", "\n  ")}`
      })
      const failure = yield* Effect.flip(load({ ...smallPack(), [SCENARIO]: text }))
      const line = text.split("\n").findIndex((candidate) => /[:-] \{\{/.test(candidate)) + 1
      assert.strictEqual(
        failure.message,
        `invalid YAML in demo/scenarios/one/1.0.0/scenario.yaml: a placeholder needs quotes around its text: write "${placeholder}" (line ${line})`
      )
    })
  )

  it.effect("leaves out a scenario without a valid version, and a version without a document", () =>
    Effect.gen(function* () {
      const { catalog } = yield* load({
        ...smallPack(),
        "/packs/demo/scenarios/bare/1.0.0/notes.txt": "n",
        "/packs/demo/scenarios/one/2.0.0/scenario.yaml": "# later\n",
        "/packs/demo/scenarios/one/3.0.0/scenario.yaml": "- a\n- list\n"
      })
      const summaries = catalog.packs.flatMap((pack) => pack.scenarios.map(summarise))
      assert.deepStrictEqual(
        summaries.map(({ scenario, versions }) => ({ scenario, versions })),
        [{ scenario: "one", versions: ["1.0.0"] }]
      )
    })
  )

  it.effect.each([
    ["empty", ""],
    ["a comment", "# c"],
    ["a list", "- 1"],
    ["a scalar", "word"]
  ] as const)("skips only the pack whose pack.yaml is %s", ([, text]) =>
    Effect.gen(function* () {
      const { catalog, warnings } = yield* load({ ...smallPack(), "/packs/half/pack.yaml": text })
      assert.lengthOf(catalog.packs, 1)
      assert.lengthOf(warnings, 1)
    })
  )
})

describe("summaries", () => {
  it.effect("sorts versions as semantic versions and describes the latest one", () =>
    Effect.gen(function* () {
      const scenario = (name: string, agent: string) =>
        scenarioYaml({ metadata: `summary: ${name}\ntags: [${name}]` }).replaceAll("agent-b", agent)
      const { catalog } = yield* load({
        "/packs/demo/pack.yaml": packYaml(),
        "/packs/demo/scenarios/one/10.0.0/scenario.yaml": scenario("ten", "agent-a"),
        "/packs/demo/scenarios/one/10.0.0/templates/z.yaml": templateYaml("beta"),
        "/packs/demo/scenarios/one/10.0.0/templates/a.yml": templateYaml("zeta"),
        "/packs/demo/scenarios/one/10.0.0/templates/other.yaml": "kind: Something\nmetadata: { slug: no }",
        "/packs/demo/scenarios/one/10.0.0/templates/nameless.yaml": "kind: ScenarioTemplate",
        "/packs/demo/scenarios/one/2.0.0/scenario.yaml": scenario("two", "agent-b"),
        "/packs/demo/scenarios/one/10.0.0-rc.1/scenario.yaml": scenario("candidate", "agent-b")
      })
      const [summary] = catalog.packs.flatMap((pack) => pack.scenarios.map(summarise))
      assert.deepStrictEqual(summary, {
        scenario: "one",
        name: "One",
        summary: "ten",
        versions: ["2.0.0", "10.0.0-rc.1", "10.0.0"],
        templates: ["beta", "zeta"],
        tags: ["ten"],
        runtimeKind: "rust",
        agentRefs: ["agent-a", "agent-a"]
      })
    })
  )

  it.effect("collects for every agent the versions that name it, once each", () =>
    Effect.gen(function* () {
      const { catalog } = yield* load({ ...smallPack("a"), ...smallPack("b") })
      assert.deepStrictEqual(scenariosByAgent(catalog).get("agent-b"), ["a/one@1.0.0", "b/one@1.0.0"])
    })
  )
})

describe("malformed pack data", () => {
  const pack = (text: string): MemoryTree => ({ ...smallPack(), "/packs/demo/pack.yaml": text })
  const cases: ReadonlyArray<readonly [name: string, tree: MemoryTree, message: string | RegExp]> = [
    [
      "a pack's apiVersion",
      pack(packYaml({ header: "apiVersion: v2\nkind: ScenarioPack" })),
      "invalid apiVersion in demo/pack.yaml: v2"
    ],
    [
      "a pack's kind",
      pack(packYaml({ header: "apiVersion: scenarios.macp.dev/v1\nkind: Pack" })),
      "invalid kind in demo/pack.yaml: expected ScenarioPack, got Pack"
    ],
    ["a missing slug", pack(packYaml({ slug: "''" })), "missing metadata.slug in demo/pack.yaml"],
    ["broken YAML", pack("a: ["), /^invalid YAML in demo\/pack\.yaml: /],
    [
      "a slug used twice",
      { ...smallPack(), "/packs/other/pack.yaml": packYaml() },
      "duplicate metadata.slug in other/pack.yaml: demo/pack.yaml has it too"
    ],
    [
      "a scenario's kind",
      withScenario({ header: "apiVersion: scenarios.macp.dev/v1\nkind: X" }),
      "invalid kind in demo/scenarios/one/1.0.0/scenario.yaml: expected ScenarioVersion, got X"
    ],
    [
      "a scenario without spec",
      { ...smallPack(), [SCENARIO]: "apiVersion: scenarios.macp.dev/v1\nkind: ScenarioVersion\nmetadata: { name: n }" },
      /^invalid spec in demo\/scenarios\/one\/1\.0\.0\/scenario\.yaml: /
    ],
    [
      "a missing mode name",
      { ...smallPack(), [SCENARIO]: scenarioYaml().replace("modeName", "modeNam") },
      /^invalid spec\.launch\.modeName in /
    ],
    [
      "a ttl that is not a number",
      { ...smallPack(), [SCENARIO]: scenarioYaml().replace("60000", "soon") },
      /^invalid spec\.launch\.ttlMs in /
    ],
    [
      "a ttl beyond the runtime's limit",
      { ...smallPack(), [SCENARIO]: scenarioYaml().replace("60000", "86400001") },
      /^invalid spec\.launch\.ttlMs in /
    ],
    [
      "a participant without agent",
      { ...smallPack(), [SCENARIO]: scenarioYaml().replace(", agentRef: agent-b", "") },
      /^invalid spec\.launch\.participants\.1\.agentRef in /
    ],
    [
      "an unknown schema keyword",
      withScenario({ schema: "{ type: object, colour: red }" }),
      /^invalid spec\.inputs\.schema in .*: strict mode: unknown keyword/
    ],
    [
      "an unknown format",
      withScenario({ schema: "{ type: object, properties: { a: { type: string, format: colour } } }" }),
      /unknown format "colour"/
    ],
    [
      "a schema of an unsupported draft",
      withScenario({ schema: "{ $schema: 'http://json-schema.org/draft-04/schema#', type: object }" }),
      /no schema with key or ref/
    ],
    ["a broken template", withTemplate("a: ["), /^invalid YAML in demo\/scenarios\/one\/1\.0\.0\/templates\/t\.yaml: /],
    [
      "a template that breaks the launch",
      withTemplate(templateYaml("t", "spec: { overrides: { launch: { ttlMs: never } } }")),
      /^invalid spec\.overrides\.launch\.ttlMs in demo\/scenarios\/one\/1\.0\.0\/templates\/t\.yaml: /
    ],
    [
      "a kickoff entry of a wrong kind",
      withScenario({ launch: "kickoffTemplate: [{ kind: shout }]" }),
      /^invalid spec\.launch\.kickoffTemplate\.0\.kind in /
    ]
  ]

  it.effect.each(cases)("%s fails the whole catalog", ([, tree, message]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(load({ ...tree, ...smallPackBeside }))
      assert.strictEqual(error._tag, "InvalidPackData")
      if (typeof message === "string") assert.strictEqual(error.message, message)
      else assert.match(error.message, message)
    })
  )

  const smallPackBeside = smallPack("healthy")

  it.effect("accepts a schema that declares draft 2020-12", () =>
    load(withScenario({ schema: "{ $schema: 'https://json-schema.org/draft/2020-12/schema', type: object }" }))
  )

  it.effect("reads a catalog twice although a schema carries $id", () => {
    const tree = withScenario({ schema: "{ $id: 'https://runplane.test/inputs', type: object }" })
    return Effect.andThen(load(tree), load(tree))
  })
})
