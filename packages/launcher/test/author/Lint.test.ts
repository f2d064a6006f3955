import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { checkPolicyFiles } from "../../src/author/CheckedPolicies.ts"
import { lintPacks } from "../../src/author/Lint.ts"
import { openPacks } from "../../src/author/PacksFolder.ts"
import { compileInputSchema } from "../../src/catalog/InputSchema.ts"
import { type MemoryTree, memoryFiles } from "../fixtures/MemoryFiles.ts"
import { packYaml, scenarioYaml, templateYaml } from "../fixtures/Packs.ts"

const FOLDER = "demo/scenarios/one/1.0.0"
const names = "pack: demo\nscenario: one\nversion: 1.0.0"
const scenario = (launch = "", metadata = names, rest = "") => ({
  [`/packs/${FOLDER}/scenario.yaml`]: scenarioYaml({ metadata, launch, rest })
})
const policy = (content: object) => ({ "/packs/_policies/policy.demo.json": JSON.stringify(content) })
const majority = { policy_id: "policy.demo", mode: "macp.mode.decision.v1", schema_version: 3, rules: {} }

const lint = (tree: MemoryTree) =>
  Effect.gen(function* () {
    const packs = yield* openPacks("/packs")
    const directories = (yield* packs.list("/packs")).filter((path) => !path.startsWith("/packs/_"))
    const result = yield* lintPacks(packs, directories, {
      compileSchema: compileInputSchema,
      knowsAgent: () => true,
      isPerson: undefined,
      isRemote: undefined,
      policies: yield* checkPolicyFiles("/packs/_policies")
    })
    return {
      packs: result.packs,
      says: result.findings.map(({ file, level, message }) => `${level} ${file}: ${message}`)
    }
  }).pipe(Effect.provide(memoryFiles(tree)))

const pack = { "/packs/demo/pack.yaml": packYaml() }

const cases: Readonly<Record<string, readonly [tree: MemoryTree, says: ReadonlyArray<string>]>> = {
  "finds nothing in a pack that is right": [
    { ...pack, ...scenario("policyVersion: policy.demo"), ...policy(majority) },
    []
  ],
  "warns of a policy without a file": [
    { ...pack, ...scenario("policyVersion: policy.other") },
    [`warning ${FOLDER}/scenario.yaml: policyVersion policy.other has no file: it must be registered by other means`]
  ],
  "leaves out what begins with a dot, wherever it lists a folder": [
    {
      ...pack,
      ...scenario("policyVersion: policy.demo"),
      ...policy(majority),
      "/packs/_policies/._policy.demo.json": "\u0000",
      "/packs/demo/scenarios/._one/1.0.0/scenario.yaml": "\u0000",
      "/packs/demo/scenarios/one/.1.0.0.bak/scenario.yaml": "\u0000",
      [`/packs/${FOLDER}/templates/._t.yaml`]: "\u0000",
      [`/packs/${FOLDER}/fixtures/._f.json`]: "\u0000",
      [`/packs/${FOLDER}/data/.DS_Store`]: "\u0000"
    },
    []
  ],
  "knows the policy that every runtime has": [{ ...pack, ...scenario("policyVersion: policy.default") }, []],
  "refuses rules outside of the mode's closed set": [
    { ...pack, ...scenario(), ...policy({ ...majority, rules: { voting: { algorithm: "majority", treshold: 0.5 } } }) },
    ['error _policies/policy.demo.json: rules /voting: unrecognized key "treshold"']
  ],
  "refuses a policy of another mode": [
    {
      ...pack,
      ...scenario("policyVersion: policy.demo"),
      ...policy({ ...majority, mode: "macp.mode.quorum.v1" })
    },
    [
      `error ${FOLDER}/scenario.yaml: policyVersion policy.demo is a policy for macp.mode.quorum.v1, not for macp.mode.decision.v1`
    ]
  ],
  "refuses a commitment without a description": [
    { ...pack, ...scenario("commitments: [{ id: c, title: t }]") },
    [`error ${FOLDER}/scenario.yaml: commitment 1 has no description`]
  ],
  "warns when a template has fewer commitments than the scenario": [
    {
      ...pack,
      ...scenario("commitments: [{ id: c, title: t, description: d }]"),
      [`/packs/${FOLDER}/templates/t.yaml`]: templateYaml("t", "spec: { overrides: { launch: { commitments: [] } } }")
    },
    [
      `warning ${FOLDER}/templates/t.yaml: overrides commitments, which replaces the scenario's whole list`,
      `warning ${FOLDER}/templates/t.yaml: replaces 1 commitments by 0`
    ]
  ],
  "names the copy of a template, wherever its name sorts, and not the original": [
    {
      ...pack,
      ...scenario(),
      [`/packs/${FOLDER}/templates/a copy.yaml`]: templateYaml("a"),
      [`/packs/${FOLDER}/templates/a.yaml`]: templateYaml("a"),
      [`/packs/${FOLDER}/templates/Copy of b.yml`]: templateYaml("b"),
      [`/packs/${FOLDER}/templates/fast.yaml`]: templateYaml("b")
    },
    [
      `error ${FOLDER}/templates/a copy.yaml: left out: ${FOLDER}/templates/a.yaml has the metadata.slug "a" too; give the copy a slug of its own, or remove it`,
      `error ${FOLDER}/templates/Copy of b.yml: left out: ${FOLDER}/templates/fast.yaml has the metadata.slug "b" too; give the copy a slug of its own, or remove it`
    ]
  ],
  "warns of a blank idempotency key": [
    { ...pack, ...scenario("", names, "execution: { idempotencyKey: ' ' }") },
    [`warning ${FOLDER}/scenario.yaml: execution.idempotencyKey is blank and is ignored: give it a text, or remove it`]
  ],
  "warns of data that no scenario includes": [
    {
      ...pack,
      ...scenario("contextTemplate: { used: !include ./data/used.json }"),
      [`/packs/${FOLDER}/data/used.json`]: "[]",
      [`/packs/${FOLDER}/data/unused.json`]: "[]"
    },
    [`warning ${FOLDER}/data/unused.json: no !include names it`]
  ],
  "wants kebab-case names": [
    {
      "/packs/demo/pack.yaml": packYaml({ slug: "Demo_Pack" }),
      ...scenario("", "pack: Demo_Pack\nscenario: One\nversion: 1.0.0")
    },
    [
      'error demo/pack.yaml: metadata.slug "Demo_Pack" is not kebab-case',
      `warning ${FOLDER}/scenario.yaml: metadata.scenario is "One", but the folder, which counts, is "one": make them the same`,
      `error ${FOLDER}/scenario.yaml: metadata.scenario "One" is not kebab-case`
    ]
  ],
  "warns when the scenario names another pack, and when a policy stands in a file of another name": [
    {
      ...pack,
      ...scenario("", "pack: other\nscenario: one\nversion: 1.0.0"),
      "/packs/_policies/p.json": JSON.stringify(majority)
    },
    [
      'warning _policies/p.json: its policy_id is "policy.demo": name the file policy.demo.json, so that it is found',
      `warning ${FOLDER}/scenario.yaml: metadata.pack is "other", but the pack's slug, which counts, is "demo": make them the same`
    ]
  ],
  "names the key of a pack file that a misspelt one was meant to be": [
    { "/packs/demo/pack.yaml": packYaml().replace("description", "descripton"), ...scenario() },
    ["error demo/pack.yaml: metadata.descripton is not a key of the format: write description"]
  ],
  "refuses two packs with one slug": [
    { ...pack, "/packs/other/pack.yaml": packYaml() },
    ['error other/pack.yaml: the slug "demo" is taken by demo/pack.yaml']
  ],
  "says which folders are skipped": [
    { ...pack, "/packs/notes/readme.txt": "", "/packs/demo/scenarios/idea/1.0.0/notes.txt": "" },
    [
      "warning demo/scenarios/idea: not listed: none of its versions has a scenario.yaml",
      "warning notes: skipped: it has no pack.yaml"
    ]
  ]
}

describe("lintPacks", () => {
  it.effect.each(Object.entries(cases))("%s", ([, [tree, says]]) =>
    Effect.map(lint(tree), (result) => assert.deepStrictEqual(result.says, says))
  )

  it.effect("checks every pack although one is broken", () =>
    Effect.map(lint({ ...pack, ...scenario("ttlMs: 0"), "/packs/broken/pack.yaml": "kind: [" }), ({ packs, says }) => {
      assert.strictEqual(packs, 2)
      assert.strictEqual(says.length, 2)
    })
  )
})
