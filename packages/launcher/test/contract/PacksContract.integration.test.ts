import { expect } from "vitest"
import { packYaml, scenarioYaml, templateYaml } from "../fixtures/Packs.ts"
import { contract, errorBody, type Statement } from "./Contract.ts"
import type { FileChanges } from "./World.ts"

const PACK = "demo/pack.yaml"
const FULL = "demo/scenarios/full/1.0.0"
const SCENARIO = `${FULL}/scenario.yaml`

const malformed = (what: string, files: FileChanges, message: string | RegExp): Statement => ({
  says: `${what} is INVALID_PACK_DATA`,
  path: "/packs",
  files,
  status: 500,
  answer: errorBody(500, "INVALID_PACK_DATA", message)
})

const included = (argument: string) => scenarioYaml({ launch: `contextTemplate: !include ${argument}` })
const including = (argument: string, message: string, files: FileChanges = {}) =>
  malformed(`!include ${argument}`, { ...files, [SCENARIO]: included(argument) }, `${message} (in ${SCENARIO})`)

contract("the launch service: INVALID_PACK_DATA", [
  malformed(
    "a pack's apiVersion",
    { [PACK]: packYaml({ header: "apiVersion: v9\nkind: ScenarioPack" }) },
    `invalid apiVersion in ${PACK}: v9`
  ),
  malformed(
    "a pack's kind",
    { [PACK]: packYaml({ header: "apiVersion: scenarios.macp.dev/v1\nkind: Pack" }) },
    `invalid kind in ${PACK}: expected ScenarioPack, got Pack`
  ),
  malformed("a missing slug", { [PACK]: packYaml({ slug: '""' }) }, `missing metadata.slug in ${PACK}`),
  malformed(
    "a slug that another pack has",
    { [PACK]: packYaml({ slug: "cast" }) },
    `duplicate metadata.slug in ${PACK}: cast/pack.yaml has it too`
  ),
  malformed(
    "a scenario's apiVersion",
    { [SCENARIO]: scenarioYaml({ header: "apiVersion: 1\nkind: ScenarioVersion" }) },
    `invalid apiVersion in ${SCENARIO}: 1`
  ),
  malformed(
    "a scenario's kind",
    { [SCENARIO]: scenarioYaml({ header: "apiVersion: scenarios.macp.dev/v1\nkind: Scenario" }) },
    `invalid kind in ${SCENARIO}: expected ScenarioVersion, got Scenario`
  ),
  malformed("broken YAML, with its line,", { [SCENARIO]: "a: 1\nb: [\n" }, /^invalid YAML in demo\/.+ \(line \d\)$/),
  malformed(
    "broken YAML in a template",
    { [`${FULL}/templates/z.yaml`]: "a: [" },
    /^invalid YAML in demo\/.+z\.yaml: /
  ),
  malformed(
    "an unknown tag",
    { [PACK]: "a: !env HOME" },
    `invalid YAML in ${PACK}: unknown scalar tag !<!env> (line 1)`
  ),
  malformed("a key given twice", { [PACK]: `${packYaml()}kind: x\n` }, /duplicated mapping key \(line 8\)$/),
  malformed(
    "a missing mode name, with the line of its block,",
    { [SCENARIO]: scenarioYaml().replace("modeName", "mode") },
    `invalid spec.launch.modeName in ${SCENARIO}: Missing key (line 11)`
  ),
  malformed(
    "a time to live that no runtime takes",
    { [SCENARIO]: scenarioYaml().replace("60000", "86400001") },
    /^invalid spec\.launch\.ttlMs in .+ \(line 14\)$/
  ),
  malformed(
    "an input schema that does not compile",
    { [SCENARIO]: scenarioYaml({ schema: "{ type: object, colour: red }" }) },
    /^invalid spec\.inputs\.schema in .+: strict mode: unknown keyword: "colour" \(line 9\)$/
  ),
  malformed(
    "an input schema that would check nothing",
    { [SCENARIO]: scenarioYaml({ schema: "{ $async: true, type: object }" }) },
    /^invalid spec\.inputs\.schema in .+ asynchronous/
  ),
  malformed(
    "a template that breaks the launch",
    { [`${FULL}/templates/z.yaml`]: templateYaml("z", "spec: { overrides: { launch: { participants: none } } }") },
    /^invalid spec\.overrides\.launch\.participants in demo\/.+\/templates\/z\.yaml: /
  ),
  including('""', "!include requires a non-empty string path"),
  including("../../../../../secret.yaml", "!include path escapes PACKS_DIR: ../../../../../secret.yaml"),
  including("/etc/passwd", "!include path escapes PACKS_DIR: /etc/passwd"),
  including("./notes.txt", '!include unsupported extension ".txt" for ./notes.txt'),
  including("./gone.yaml", "!include target not found: ./gone.yaml"),
  including("./scenario.yaml", "!include cycle detected at ./scenario.yaml"),
  malformed(
    "broken JSON in an include",
    { [SCENARIO]: included("./b.json"), [`${FULL}/b.json`]: '{\n"a":}' },
    `invalid JSON in ${FULL}/b.json: Unexpected token '}' (line 2)`
  ),
  malformed(
    "an alias bomb",
    {
      [PACK]: ["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdefghi"]
        .map((key, at, all) =>
          at === 0
            ? key
            : `${key}: &${key} [${Array(9)
                .fill(`*${all[at - 1]?.[0]}`)
                .join(",")}]`
        )
        .join("\n")
    },
    `more than 200000 values in ${PACK}`
  )
])

const STILL = { [PACK]: "a: [" }

contract("how far INVALID_PACK_DATA spreads", [
  ...["/packs", "/packs/cast/scenarios", "/scenarios", "/agents", "/agents/agent-lead"].map(
    (path): Statement => ({
      says: `GET ${path} fails with every pack`,
      path,
      files: STILL,
      status: 500,
      includes: { errorCode: "INVALID_PACK_DATA" }
    })
  ),
  ...["/launch/compile", "/examples/run"].map(
    (path): Statement => ({
      says: `POST ${path} fails with every pack`,
      method: "POST",
      path,
      body: { scenarioRef: "cast/unstarted@1.0.0", inputs: {} },
      files: STILL,
      status: 500,
      includes: { errorCode: "INVALID_PACK_DATA" }
    })
  ),
  { says: "GET /healthz does not", path: "/healthz", files: STILL, status: 200 },
  { says: "the catalog is back when the file is repaired", path: "/packs/demo/scenarios", status: 200 },
  ...["", "# later\n", "---\n", "- a list\n", "a scalar\n"].map(
    (text): Statement => ({
      says: `a pack.yaml that holds ${JSON.stringify(text)} leaves only its pack out`,
      path: "/packs",
      files: { [PACK]: text },
      status: 200,
      also: ({ body }) => {
        if (body.length !== 2) throw new Error(`found ${body.length} packs`)
      }
    })
  ),
  {
    says: "a scenario.yaml without a mapping leaves only its version out",
    path: "/packs/demo/scenarios",
    files: { [SCENARIO]: "# later" },
    status: 200,
    answer: [{ scenario: "many" }].map((expected) => ({
      ...expected,
      name: "Cast",
      versions: ["2.0.0", "10.0.0"],
      templates: [],
      tags: [],
      runtimeKind: "rust",
      agentRefs: ["agent-member"]
    }))
  }
])

const compile = (says: string, files: FileChanges, context: unknown): Statement => ({
  says,
  method: "POST",
  path: "/launch/compile",
  body: { scenarioRef: "demo/full@1.0.0", inputs: {} },
  files,
  status: 201,
  includes: { scenarioMeta: { sessionContext: context as object } }
})

contract("what pack files may hold", [
  compile(
    "includes of YAML and JSON, each relative to its own file",
    {
      [SCENARIO]: scenarioYaml({
        launch: "contextTemplate: { a: !include ../../../../_shared/a.YML, e: !include ./e.json }"
      }),
      "_shared/a.YML": "b: !include ./deep/b.json",
      "_shared/deep/b.json": '{"n":1}',
      [`${FULL}/e.json`]: ""
    },
    { a: { b: { n: 1 } }, e: null }
  ),
  compile(
    "anchors, and texts that other dialects take for values",
    {
      [SCENARIO]: scenarioYaml({
        launch:
          "contextTemplate: { a: &x { q: 1 }, b: *x, c: yes, d: 007, e: ~, f: 2020-01-01, g: 1e3, h: null, i: True }"
      })
    },
    { a: { q: 1 }, b: { q: 1 }, c: "yes", d: "007", e: "~", f: "2020-01-01", g: 1_000, h: null, i: "True" }
  )
])

const BROKEN = { "cast/scenarios/order/1.0.0/scenario.yaml": "spec: [" }
const BROKEN_TEXT = /^invalid YAML in cast\/scenarios\/order\/1\.0\.0\/scenario\.yaml: .* \(line \d+\)$/

const ofBroken = (path: string, says: string): Statement => ({
  says,
  path,
  files: BROKEN,
  status: 500,
  answer: errorBody(500, "INVALID_PACK_DATA", BROKEN_TEXT)
})

contract(
  "a broken file where packs are not strict",
  [
    ofBroken("/packs/cast/scenarios", "fails the list of its pack's scenarios"),
    ofBroken("/packs/cast/scenarios/mixed/versions/1.0.0/launch-schema", "fails every form of its pack"),
    {
      says: "fails launches of its pack",
      method: "POST",
      path: "/examples/run",
      body: { scenarioRef: "cast/mixed@1.0.0", inputs: {} },
      files: BROKEN,
      status: 500,
      answer: errorBody(500, "INVALID_PACK_DATA", BROKEN_TEXT)
    },
    {
      says: "leaves the other packs in the list",
      path: "/packs",
      files: BROKEN,
      status: 200,
      answer: [
        { slug: "demo", name: expect.any(String), description: expect.any(String), tags: expect.any(Array) },
        { slug: "second", name: "second", description: "", tags: [] }
      ]
    },
    {
      says: "leaves the other packs' launches",
      method: "POST",
      path: "/launch/compile",
      body: { scenarioRef: "demo/full@1.0.0", inputs: { customer: "C-7" } },
      files: BROKEN,
      status: 201
    },
    {
      says: "takes nothing but the second of two packs with one slug",
      path: "/packs/cast/scenarios",
      files: { "demo/pack.yaml": packYaml({ slug: "cast" }) },
      status: 200
    },
    {
      says: "shows a pack without a slug under the name of its folder",
      path: "/packs/demo/scenarios",
      files: { "demo/pack.yaml": packYaml({ slug: '""' }) },
      status: 500,
      answer: errorBody(500, "INVALID_PACK_DATA", "missing metadata.slug in demo/pack.yaml")
    },
    { says: "repaired is forgotten", path: "/packs/cast/scenarios", status: 200 }
  ],
  { env: { PACKS_STRICT: "false" } }
)
