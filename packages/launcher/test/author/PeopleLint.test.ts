import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { checkPolicyFiles } from "../../src/author/CheckedPolicies.ts"
import { lintPacks } from "../../src/author/Lint.ts"
import { openPacks } from "../../src/author/PacksFolder.ts"
import { compileInputSchema } from "../../src/catalog/InputSchema.ts"
import { type MemoryTree, memoryFiles } from "../fixtures/MemoryFiles.ts"
import { packYaml, scenarioYaml, templateYaml } from "../fixtures/Packs.ts"

const FOLDER = "demo/scenarios/one/1.0.0"
const metadata = "pack: demo\nscenario: one\nversion: 1.0.0"

const OFFICER = "{ type: object, properties: { officer: { type: string, default: ana } } }"

const DOCUMENT = readFileSync(join(import.meta.dirname, "../../../../docs/reference/people.md"), "utf8")

/** The block of docs/reference/people.md with this first line. */
const block = (first: string): string => {
  const lines = DOCUMENT.split("\n")
  const start = lines.indexOf(`    ${first}`)
  const end = lines.findIndex((line, at) => at > start && !line.startsWith("    "))
  assert.isAtLeast(start, 0)
  return lines
    .slice(start, end)
    .map((line) => line.slice(4))
    .join("\n")
}

const lint = (people: string, more: MemoryTree = {}, signIn?: "key" | "oidc", remote?: string) =>
  Effect.gen(function* () {
    const packs = yield* openPacks("/packs")
    const directories = (yield* packs.list("/packs")).filter((path) => !path.startsWith("/packs/_"))
    const { findings } = yield* lintPacks(packs, directories, {
      compileSchema: compileInputSchema,
      knowsAgent: () => true,
      isPerson: (agentRef) => agentRef === "agent-b" && remote === undefined,
      isRemote: remote === undefined ? undefined : (agentRef) => agentRef === remote,
      signIn,
      policies: yield* checkPolicyFiles("/packs/_policies")
    })
    return findings.map(({ file, level, line, message }) => `${level} ${file}:${line ?? ""}: ${message}`)
  }).pipe(
    Effect.provide(
      memoryFiles({
        "/packs/demo/pack.yaml": packYaml(),
        [`/packs/${FOLDER}/scenario.yaml`]: scenarioYaml({ metadata, launch: people }),
        ...more
      })
    )
  )

const DIRECTORY = { "/packs/demo/people.yaml": "people:\n  ana: { name: Ana, groups: [risk] }\n" }
const UNANIMOUS = {
  "/packs/_policies/policy.all.json": JSON.stringify({
    policy_id: "policy.all",
    mode: "macp.mode.decision.v1",
    schema_version: 3,
    rules: { voting: { algorithm: "unanimous" } }
  })
}
const LINKED = {
  "/packs/demo/people.yaml": "people: { dora: { link: personal, email: dora@example.org, code: dora@example.net } }"
}
const all = 'policyVersion: policy.all\npeople: { second: { assign: ["group:risk"] } }'

describe("lint of seats", () => {
  it.effect("finds nothing in a seat that is right", () =>
    Effect.gen(function* () {
      const unused = (yield* lint(all, { ...DIRECTORY, ...UNANIMOUS })).filter(
        (text) => !text.includes("can be met without")
      )
      assert.deepStrictEqual(unused, [])
    })
  )

  it.effect("warns that an abstention of an agent that speaks A2A counts toward a quorum of votes", () =>
    Effect.gen(function* () {
      const policy = {
        ...{ policy_id: "policy.quorum", mode: "macp.mode.decision.v1", schema_version: 3 },
        rules: { voting: { algorithm: "majority" }, commitment: { require_vote_quorum: true } }
      }
      const policies = { "/packs/_policies/policy.quorum.json": JSON.stringify(policy) }
      const says = yield* lint(
        "policyVersion: policy.quorum\na2a: { second: { onFailure: abstain } }",
        policies,
        undefined,
        "agent-b"
      )
      const line = says.find((text) => text.includes("abstention"))
      assert.match(
        line ?? says.join(),
        /^warning demo\/.*scenario\.yaml:\d+: .*policy\.quorum an abstention counts as a voter of the quorum, also one by a failed turn$/
      )
    })
  )

  it.effect("refuses a proof that a key cannot give, where people sign in with keys", () =>
    Effect.gen(function* () {
      const fresh = 'policyVersion: policy.all\npeople: { second: { assign: ["group:risk"], proof: fresh } }'
      const found = (signIn?: "key" | "oidc") =>
        Effect.map(lint(fresh, { ...DIRECTORY, ...UNANIMOUS }, signIn), (says) =>
          says.filter((text) => text.startsWith("error"))
        )
      assert.match((yield* found("key"))[0] ?? "", /: proof fresh needs a sign-in at an OIDC issuer: a key has no time/)
      assert.deepStrictEqual(yield* found("oidc"), [])
      assert.deepStrictEqual(yield* found(), [])
    })
  )

  it.effect.each([
    [
      "a person without an entry",
      "",
      DIRECTORY,
      /^error demo\/.*scenario\.yaml:\d+: the agent of participant "second" is a person/
    ],
    [
      "a group of no directory",
      'people: { second: { assign: ["group:typo"] } }',
      DIRECTORY,
      /: no directory defines the group "typo"$/
    ],
    [
      "a deadline after the end",
      'people: { second: { assign: ["group:risk"], deadline: 5m } }',
      DIRECTORY,
      /: the deadline is after the end of the session/
    ],
    [
      "an act of another mode",
      'people: { second: { assign: ["group:risk"], acts: [approve] } }',
      DIRECTORY,
      /: a decision has no act "approve"/
    ],
    ["a misspelt key", 'people: { second: { assign: ["group:risk"], dedline: 5s } }', DIRECTORY, /dedline/],
    [
      "a step after the deadline",
      'people: { second: { assign: ["group:risk"], deadline: 1m, escalate: [{ after: 2m, to: ["group:risk"] }] } }',
      DIRECTORY,
      /step 1, after 120000 ms, is not before the deadline/
    ],
    [
      "a question that outlives the suspension",
      'people: { second: { assign: ["group:risk"], deadline: 8d, wait: suspend } }',
      DIRECTORY,
      /^error .*: the deadline is longer than a suspension can be .*raise maxSuspendMs/
    ],
    [
      "a person whose links prove no sign-in",
      'people: { second: { assign: ["person:dora"], proof: fresh } }',
      LINKED,
      /^error .*: dora answers by personal links, which proof fresh refuses/
    ],
    [
      "a policy that needs no person",
      'people: { second: { assign: ["group:risk"] } }',
      DIRECTORY,
      /^warning .*: policy\.default can be met without "second"/
    ],
    [
      "a broken directory",
      'people: { second: { assign: ["person:ana"] } }',
      { "/packs/demo/people.yaml": "people: { ana: { groups: risk } }" },
      /^error demo\/people\.yaml:1: invalid people\.ana\.groups/
    ],
    [
      "a directory of nothing",
      'people: { second: { assign: ["person:ana"] } }',
      { "/packs/demo/people.yaml": "" },
      /^error demo\/people\.yaml:.*: invalid/
    ]
  ] as const)("reports %s", ([, people, more, message]) =>
    Effect.gen(function* () {
      const says = yield* lint(people, more)
      assert.isTrue(
        says.some((text) => message.test(text)),
        says.join("\n")
      )
    })
  )

  it.effect("finds nothing in the scenario and the directory of the document", () =>
    Effect.gen(function* () {
      const people = block("people:").replace("risk-officer", "second")
      const launch = scenarioYaml({ metadata, launch: people, schema: OFFICER }).replace(
        "ttlMs: 60000",
        "ttlMs: 86400000"
      )
      const says = yield* lint("", {
        [`/packs/${FOLDER}/scenario.yaml`]: launch,
        "/packs/demo/people.yaml": block("# people.yaml")
      })
      assert.deepStrictEqual(
        says.filter((text) => !text.includes("can be met without")),
        []
      )
    })
  )

  it.effect("says of a template what its own launch brings", () =>
    Effect.gen(function* () {
      const template = templateYaml("late", "spec: { overrides: { launch: { people: { second: { deadline: 5m } } } } }")
      const says = yield* lint('people: { second: { assign: ["person:ana"] } }', {
        [`/packs/${FOLDER}/templates/late.yaml`]: template
      })
      assert.isTrue(
        says.some((text) => /^error demo\/.*templates\/late\.yaml:\d+: the deadline is after/.test(text)),
        says.join("\n")
      )
    })
  )
})
