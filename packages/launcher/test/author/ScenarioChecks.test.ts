import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Finding } from "../../src/author/Finding.ts"
import { openPacks } from "../../src/author/PacksFolder.ts"
import { checkScenario } from "../../src/author/ScenarioChecks.ts"
import { compileInputSchema } from "../../src/catalog/InputSchema.ts"
import { type MemoryTree, memoryFiles } from "../fixtures/MemoryFiles.ts"
import { type ScenarioParts, scenarioYaml, templateYaml } from "../fixtures/Packs.ts"

const FOLDER = "/packs/demo/scenarios/one/1.0.0"
const FILE = "demo/scenarios/one/1.0.0/scenario.yaml"
const TEMPLATE = "demo/scenarios/one/1.0.0/templates/t.yaml"
const FIXTURE = "demo/scenarios/one/1.0.0/fixtures/f.json"
const names = "pack: demo\nscenario: one\nversion: 1.0.0"

interface Case {
  readonly scenario?: ScenarioParts
  readonly files?: Readonly<Record<string, string>>
  readonly says: ReadonlyArray<string>
}

const findingsOf = ({ scenario = {}, files = {} }: Omit<Case, "says">) => {
  const tree: MemoryTree = {
    [`${FOLDER}/scenario.yaml`]: scenarioYaml({ metadata: names, ...scenario }),
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`${FOLDER}/${name}`, text]))
  }
  return Effect.gen(function* () {
    const packs = yield* openPacks("/packs")
    const verdict = checkScenario(yield* packs.scenario(FOLDER), {
      compileSchema: compileInputSchema,
      knowsAgent: (ref) => ref === "agent-a" || ref === "agent-b",
      undescribedCommitment: "warning"
    })
    return verdict.findings
  }).pipe(Effect.provide(memoryFiles(tree)))
}

const say = ({ file, level, message }: Finding) => `${level} ${file}: ${message}`

const cases: Readonly<Record<string, Case>> = {
  "finds nothing in a scenario that is right": { says: [] },
  "requires the three names": {
    scenario: { metadata: "" },
    says: ["pack", "scenario", "version"].map((key) => `error ${FILE}: metadata.${key} is missing`)
  },
  "warns when the folder has another name than the file says": {
    scenario: { metadata: "pack: demo\nscenario: two\nversion: 1.0.0" },
    says: [`warning ${FILE}: metadata.scenario is "two", but the folder, which counts, is "one": make them the same`]
  },
  "repeats what the service would say of a broken header": {
    scenario: { header: "apiVersion: scenarios.macp.dev/v2\nkind: ScenarioVersion" },
    says: [`error ${FILE}: invalid apiVersion in ${FILE}: scenarios.macp.dev/v2`]
  },
  "says where an input schema is wrong": {
    scenario: { schema: "{ type: object, propertys: {} }" },
    says: [`error ${FILE}: invalid spec.inputs.schema in ${FILE}: strict mode: unknown keyword: "propertys"`]
  },
  "warns of patterns that cannot run in linear time": {
    scenario: { schema: '{ properties: { a: { pattern: "^(?=a)" }, b: { pattern: "^([a-z]+)*@" } } }' },
    says: [
      `warning ${FILE}: the pattern "^(?=a)" cannot run in linear time: an input may make it exceed the time limit; ` +
        "write it without lookarounds, back-references and counts above 1000"
    ]
  },
  "names a placeholder that nothing gives a value": {
    scenario: { launch: 'contextTemplate: { text: "{{ inputs.amount }} {{ inputs.reason }}" }' },
    says: [
      `error ${FILE}: placeholder {{ inputs.reason }} has no value: neither a default of the input schema nor a fixture gives it`
    ]
  },
  "is content with a placeholder that one fixture fills": {
    scenario: { launch: 'contextTemplate: { text: "{{ inputs.reason }}" }' },
    files: { "fixtures/f.json": '{ "reason": "because" }', "fixtures/g.json": "{}" },
    says: []
  },
  "looks for placeholders in commitments too": {
    scenario: { launch: 'commitments: [{ id: c, title: "{{ inputs.who }}", description: d }]' },
    says: [
      `error ${FILE}: placeholder {{ inputs.who }} has no value: neither a default of the input schema nor a fixture gives it`
    ]
  },
  "warns of a commitment without a description and refuses one without a title": {
    scenario: { launch: "commitments: [{ id: c, title: t }, { id: d, description: e }]" },
    says: [`warning ${FILE}: commitment 1 has no description`, `error ${FILE}: commitment 2 has no title`]
  },
  "warns of numbers where a text is meant": {
    scenario: {
      launch: "contextTemplate: { orderId: 1234567e89, price: 1.10, ids: ['7', 007, 1.50], commit: 12345e7 }"
    },
    files: { "templates/t.yaml": templateYaml("t", "spec: { defaults: { version: 1.10, limit: 1e3 } }") },
    says: [
      `warning ${FILE}: 1234567e89 is read as the number 1.234567e+95: put it in quotes if it is a text`,
      `warning ${FILE}: 1.50 is read as the number 1.5: put it in quotes if it is a text`,
      `warning ${FILE}: 12345e7 is read as the number 123450000000: put it in quotes if it is a text`,
      `warning ${TEMPLATE}: 1.10 is read as the number 1.1: put it in quotes if it is a text`
    ]
  },
  "refuses a number as a version": {
    scenario: { metadata: "pack: demo\nscenario: one\nversion: 1.10" },
    says: [
      `error ${FILE}: metadata.version is the number 1.1: put it in quotes`,
      `warning ${FILE}: 1.10 is read as the number 1.1: put it in quotes if it is a text`
    ]
  },
  "refuses an id with a control character": {
    files: {
      "templates/t.yaml": templateYaml(
        "t",
        'spec: { overrides: { launch: { participants: [{ id: "a\\0b", role: r, agentRef: agent-a }] } } }'
      )
    },
    says: [
      `error ${TEMPLATE}: spec.launch.participants.0.id must be one line without control, direction and zero-width characters`
    ]
  },
  "warns of an extension that is not base64": {
    scenario: { launch: "extensions: { a: 7!, b: eA== }" },
    says: [
      `warning ${FILE}: launch.extensions.a must be a base64-encoded string, got text that is not base64: ` +
        "no launch of it can start agents"
    ]
  },
  "refuses extensions that are no map of texts": {
    scenario: { launch: "extensions: { a: 7 }" },
    says: [`error ${FILE}: launch.extensions.a must be a base64-encoded string, got number`]
  },
  "refuses an initiator who does not take part": {
    scenario: { launch: "initiatorParticipantId: third" },
    says: [
      `error ${FILE}: initiatorParticipantId "third" is not a participant: no agent would open the session; name one of: first, second`
    ]
  },
  "refuses a template's participant without an agent, and one declared twice": {
    files: {
      "templates/t.yaml": templateYaml(
        "t",
        "spec: { overrides: { launch: { participants: [{ id: x, role: r, agentRef: agent-c }, { id: x, role: r, agentRef: agent-a }] } } }"
      )
    },
    says: [
      `error ${TEMPLATE}: participant "x" names "agent-c", which is not an agent of the catalog`,
      `error ${TEMPLATE}: participant "x" is declared twice: give each participant its own id`
    ]
  },
  "refuses a shadow of no participant, of the initiator, and without an agent": {
    scenario: {
      launch: "shadows: [{ as: third, agent: agent-a }, { as: first, agent: agent-a }, { as: second, agent: agent-c }]"
    },
    says: [
      `error ${FILE}: shadows.0.as "third" is not a participant; name one of: first, second`,
      `error ${FILE}: shadows.1.as "first" opens the session: its messages cannot be left out for a shadow`,
      `error ${FILE}: shadows.2.agent "agent-c" is not an agent of the catalog`
    ]
  },
  "refuses a template's shadow without an agent": {
    files: {
      "templates/t.yaml": templateYaml(
        "t",
        "spec: { overrides: { launch: { shadows: [{ as: second, agent: agent-c }, { as: third, agent: agent-a }] } } }"
      )
    },
    says: [
      `error ${TEMPLATE}: shadows.0.agent "agent-c" is not an agent of the catalog`,
      `error ${TEMPLATE}: shadows.1.as "third" is not a participant; name one of: first, second`
    ]
  },
  "checks fixtures against the input schema": {
    files: { "fixtures/f.json": '{ "amount": "seven" }' },
    says: [`error ${FIXTURE}: fails the input schema: /amount must be number`]
  },
  "reports a fixture that is not JSON, and one that is not an object": {
    files: { "fixtures/f.json": "[1]", "fixtures/g.json": '{ "amount": ' },
    says: [
      `error ${FIXTURE}: holds no JSON object`,
      "error demo/scenarios/one/1.0.0/fixtures/g.json: invalid JSON in demo/scenarios/one/1.0.0/fixtures/g.json: Unexpected end of JSON input (line 1)"
    ]
  },
  "warns of a template that the service would ignore": {
    files: { "templates/t.yaml": "kind: Template\nmetadata: { slug: t }" },
    says: [`warning ${TEMPLATE}: ignored: a template needs kind ScenarioTemplate and metadata.slug`]
  },
  "refuses two templates with one slug": {
    files: { "templates/t.yaml": templateYaml("same"), "templates/u.yaml": templateYaml("same") },
    says: [
      `error demo/scenarios/one/1.0.0/templates/u.yaml: left out: ${TEMPLATE} has the metadata.slug "same" too; give the copy a slug of its own, or remove it`
    ]
  },
  "warns of template defaults that fail the schema, and of replaced commitments": {
    files: {
      "templates/t.yaml": templateYaml(
        "t",
        "spec: { defaults: { amount: many }, overrides: { launch: { commitments: [] } } }"
      )
    },
    says: [
      `warning ${TEMPLATE}: its defaults fail the input schema: /amount must be number`,
      `warning ${TEMPLATE}: overrides commitments, which replaces the scenario's whole list`
    ]
  },
  "reports a template whose overrides do not fit": {
    files: { "templates/t.yaml": templateYaml("t", "spec: { overrides: { launch: { ttlMs: 0 } } }") },
    says: [
      `error ${TEMPLATE}: invalid spec.overrides.launch.ttlMs in ${TEMPLATE}: Expected a value between 1 and 86400000`
    ]
  }
}

describe("checkScenario", () => {
  it.effect.each(Object.entries(cases))("%s", ([, { says, ...given }]) =>
    Effect.map(findingsOf(given), (found) => assert.deepStrictEqual(found.map(say), says))
  )

  it.effect("does not stop at the first fault", () =>
    Effect.map(
      findingsOf({
        scenario: { launch: "initiatorParticipantId: third\nextensions: { a: 7 }" },
        files: { "fixtures/f.json": "[]", "templates/t.yaml": "kind: [" }
      }),
      (found) => assert.strictEqual(found.filter(({ level }) => level === "error").length, 4)
    )
  )

  /** Each with the text of the line that it is about. */
  const placed: Readonly<
    Record<string, Omit<Case, "says"> & { readonly says: ReadonlyArray<readonly [string, string]> }>
  > = {
    "names the key that a misspelt one was meant to be": {
      scenario: {
        launch: "policyVerison: policy.strict\nmax_suspend_ms: 5",
        rest: "execution:\n  requester:\n    actorID: me"
      },
      says: [
        ["policyVerison", "error: spec.launch.policyVerison is not a key of the format: write policyVersion"],
        ["max_suspend_ms", "error: spec.launch.max_suspend_ms is not a key of the format: write maxSuspendMs"],
        ["actorID", "error: spec.execution.requester.actorID is not a key of the format: write actorId"]
      ]
    },
    "says which keys have no effect, but not of the author's own": {
      scenario: { launch: "owner: me\nx-owner: me\n_note: mine" },
      says: [["owner: me", "warning: spec.launch.owner is not a key of the format and has no effect: remove it"]]
    },
    "refuses a default that contradicts the schema": {
      scenario: {
        schema:
          "\n      type: object\n      required: [amount, reason]\n      properties:\n        reason: { type: string }" +
          "\n        amount:\n          type: number\n          default: seven"
      },
      says: [
        [
          "default: seven",
          'error: the default of the input "amount" contradicts its schema: /amount must be number; change one of them'
        ]
      ]
    },
    "refuses a kickoff from a stranger, and warns of one to a stranger": {
      scenario: {
        launch:
          'kickoffTemplate:\n  - from: third\n    to: [second, fourth]\n    kind: proposal\n  - from: "{{ inputs.amount }}"'
      },
      says: [
        ["from: third", 'error: the kickoff is from "third", who is not a participant; name one of: first, second'],
        ["to: [", 'warning: the kickoff is to "fourth", who is not a participant; name one of: first, second']
      ]
    },
    "says at its line what does not load": {
      scenario: { launch: "maxSuspendMs: soon" },
      says: [["maxSuspendMs", `error: invalid spec.launch.maxSuspendMs in ${FILE}: Expected number`]]
    },
    "says at its line which placeholder has no value": {
      scenario: { launch: 'contextTemplate:\n  text: "because {{ inputs.reason }}"' },
      says: [
        [
          "{{ inputs.reason }}",
          "error: placeholder {{ inputs.reason }} has no value: neither a default of the input schema nor a fixture gives it"
        ]
      ]
    }
  }

  it.effect.each(Object.entries(placed))("%s", ([, { says, ...given }]) =>
    Effect.map(findingsOf(given), (found) => {
      const lines = scenarioYaml({ metadata: names, ...given.scenario }).split("\n")
      assert.deepStrictEqual(
        found.map(({ file, level, line, message }) => [file, line, `${level}: ${message}`]),
        says.map(([text, message]) => [FILE, lines.findIndex((line) => line.includes(text)) + 1, message])
      )
    })
  )

  it.effect("reports a bounded number of unknown keys", () =>
    Effect.map(
      findingsOf({ scenario: { launch: Array.from({ length: 3_000 }, (_, n) => `strange${n}: 1`).join("\n") } }),
      (found) => assert.lengthOf(found, 50)
    )
  )
})
