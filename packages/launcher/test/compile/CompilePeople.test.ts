import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { compileLaunch } from "../../src/compile/CompileLaunch.ts"
import { CONTEXT, REF, versionOf } from "../fixtures/CompiledScenario.ts"

const SCHEMA = "{ type: object, properties: { officer: { default: ana }, group: { default: 'group:risk' } } }"

const isPerson = (agentRef: string) => agentRef === "agent-b"

const compiled = Effect.fnUntraced(function* (
  people: string | undefined,
  inputs: Readonly<Record<string, string>> = {},
  groups: ReadonlySet<string> | undefined = undefined
) {
  const launch = people === undefined ? "" : `people: ${people}`
  const version = yield* versionOf({ schema: SCHEMA, launch })
  const context = { ...CONTEXT, people: { isPerson, groups } }
  return compileLaunch(version, { scenarioRef: REF, inputs }, context)
})

const messageOf = (...given: Parameters<typeof compiled>) =>
  Effect.map(compiled(...given), (result) => (Result.isFailure(result) ? result.failure.message : "compiled"))

describe("the seats of a compiled launch", () => {
  it.effect("have the inputs filled in", () =>
    Effect.gen(function* () {
      const people =
        '{ second: { assign: ["person:{{ inputs.officer }}", "{{ inputs.group }}", "group:desk"], deadline: 30s } }'
      const { people: seats } = yield* Effect.fromResult(yield* compiled(people, { officer: "bo" }))
      assert.deepStrictEqual(seats, {
        second: { assign: ["person:bo", "group:risk", "group:desk"], deadline: "30s" }
      })
    })
  )

  it.effect("leave the launch of agents alone as it was", () =>
    Effect.gen(function* () {
      const version = yield* versionOf({})
      const context = { ...CONTEXT, people: { isPerson: () => false, groups: undefined } }
      const agents = yield* Effect.fromResult(compileLaunch(version, { scenarioRef: REF, inputs: {} }, context))
      assert.notInclude(Object.keys(agents), "people")
    })
  )

  it.effect.each([
    [
      "the person has no entry",
      undefined,
      {},
      /^launch\.people\.second: the agent of participant "second" is a person/
    ],
    [
      "the value names neither",
      '{ second: { assign: ["{{ inputs.officer }}"] } }',
      {},
      /^launch\.people\.second\.assign\.0: /
    ],
    [
      "the value is a placeholder again",
      '{ second: { assign: ["{{ inputs.officer }}"] } }',
      { officer: "{{ inputs.group }}" },
      /^launch\.people\.second\.assign\.0: "\{\{ inputs\.group }}" is neither group:<id> nor person:<id>$/
    ],
    [
      "the input is missing",
      '{ second: { assign: ["{{ inputs.nope }}"] } }',
      {},
      /^undefined placeholder: \{\{ inputs\.nope }}$/
    ],
    [
      "an agent has the seat",
      '{ second: { assign: ["person:a"] }, first: { assign: ["person:a"] } }',
      {},
      /^launch\.people\.first: /
    ],
    [
      "the deadline is too late",
      '{ second: { assign: ["person:a"], deadline: 2m } }',
      {},
      /^launch\.people\.second\.deadline: /
    ],
    [
      "a step is after the end of the session",
      '{ second: { assign: ["person:a"], escalate: [{ after: 2d, to: ["person:b"] }] } }',
      {},
      /^launch\.people\.second\.escalate: step 1, after 172800000 ms, is not before the end of the session/
    ],
    [
      "a step has another name",
      '{ second: { assign: ["person:a"], escalate: [{ after: 1s, to: ["{{ inputs.lead }}"] }] } }',
      { lead: "{{ inputs.group }}" },
      /^launch\.people\.second\.escalate\.0\.to\.0: "\{\{ inputs\.group }}" is neither group:<id> nor person:<id>$/
    ],
    [
      "the session cannot be suspended for so long",
      '{ second: { assign: ["person:a"], deadline: 8d, wait: suspend } }',
      {},
      /^launch\.people\.second\.deadline: .* raise maxSuspendMs/
    ]
  ] as const)("are refused when %s", ([, people, inputs, message]) =>
    Effect.gen(function* () {
      assert.match(yield* messageOf(people, inputs), message)
    })
  )

  it.effect.each([
    ["oidc", /^compiled$/],
    [undefined, /^compiled$/],
    ["key", /^launch\.people\.second\.proof: proof fresh needs a sign-in at an OIDC issuer: a key has no time/],
    ["none", /^launch\.people\.second\.proof: proof fresh needs .* set OIDC_ISSUER and OIDC_CLIENT_ID$/]
  ] as const)("take proof fresh from a service with the sign-in %s", ([signIn, message]) =>
    Effect.gen(function* () {
      const version = yield* versionOf({
        schema: SCHEMA,
        launch: 'people: { second: { assign: ["person:a"], proof: fresh } }'
      })
      const context = { ...CONTEXT, people: { isPerson, groups: undefined, signIn } }
      const result = compileLaunch(version, { scenarioRef: REF, inputs: {} }, context)
      assert.match(Result.isFailure(result) ? result.failure.message : "compiled", message)
    })
  )

  it.effect("with proof fresh or passkey, take no person who answers by links, also from an input", () =>
    Effect.gen(function* () {
      const persons = [{ id: "dora", groups: ["risk"], hasLink: true }]
      const messageWith = Effect.fnUntraced(function* (proof: string) {
        const people = `people: { second: { assign: ["{{ inputs.officer }}"], proof: ${proof} } }`
        const version = yield* versionOf({ schema: SCHEMA, launch: people })
        const context = { ...CONTEXT, people: { isPerson, groups: undefined, persons } }
        const request = { scenarioRef: REF, inputs: { officer: "person:dora" } }
        const result = compileLaunch(version, request, context)
        return Result.isFailure(result) ? result.failure.message : "compiled"
      })
      assert.strictEqual(yield* messageWith("session"), "compiled")
      for (const proof of ["fresh", "passkey"]) {
        const refused = `launch.people.second.proof: dora answers by personal links, which proof ${proof} refuses`
        assert.strictEqual(yield* messageWith(proof), refused)
      }
    })
  )

  it.effect("need groups of the directory, also from an input", () =>
    Effect.gen(function* () {
      const groups = new Set(["risk"])
      const people = '{ second: { assign: ["{{ inputs.group }}"] } }'
      assert.strictEqual(yield* messageOf(people, {}, groups), "compiled")
      assert.strictEqual(
        yield* messageOf(people, { group: "group:typo" }, groups),
        'launch.people.second.assign: no directory defines the group "typo"'
      )
      const escalating = '{ second: { assign: ["group:risk"], escalate: [{ after: 1s, to: ["{{ inputs.group }}"] }] } }'
      assert.strictEqual(yield* messageOf(escalating, { group: "group:risk" }, groups), "compiled")
      assert.strictEqual(
        yield* messageOf(escalating, { group: "group:typo" }, groups),
        'launch.people.second.escalate: step 1: no directory defines the group "typo"'
      )
    })
  )
})
