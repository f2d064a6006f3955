import { assert, describe, it } from "@effect/vitest"
import { meantName } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { argumentsReader, inputDocument, unknownNames } from "../src/Arguments.ts"
import { tools } from "../src/Tools.ts"

const named = (name: string) => {
  const found = tools.find((spec) => spec.name === name)
  assert.isDefined(found)
  return argumentsReader(found.input)
}
const refused = (name: string, input: unknown) => Effect.map(Effect.flip(named(name)(input)), ({ message }) => message)

/** Every object of a JSON Schema with named members. */
const objectsIn = (schema: unknown): ReadonlyArray<Record<string, unknown>> =>
  typeof schema !== "object" || schema === null
    ? []
    : [
        ...("properties" in schema ? [{ ...schema }] : []),
        ...Object.values(schema).flatMap((inner: unknown) => objectsIn(inner))
      ]

// docs/reference/mcp.md#arguments
describe("the arguments of a tool", () => {
  it("allow no unknown member in the schema of any tool, at any depth", () => {
    for (const { input, name } of tools) {
      const { definitions, schema } = inputDocument(input)
      assert.strictEqual(schema["additionalProperties"], false, name)
      for (const object of [...objectsIn(schema), ...objectsIn(definitions)]) {
        assert.strictEqual(object["additionalProperties"], false, `${name}: ${JSON.stringify(object)}`)
      }
    }
  })

  it.effect("that are unknown are an error with the known names", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* refused("runs_search", { query: "status:failed" }),
        'unknown argument "query"; known: q, sort, limit, cursor'
      )
      assert.strictEqual(
        yield* refused("runs_search", { Limit: 3, sorts: "cost" }),
        'unknown arguments "Limit" (did you mean limit?), "sorts" (did you mean sort?); known: q, sort, limit, cursor'
      )
      assert.strictEqual(yield* refused("health", { a: 1 }), 'unknown argument "a"; it takes no arguments')
    })
  )

  it.effect("are named with their path where they are inside of others", () =>
    Effect.gen(function* () {
      const votes = [
        { participantId: "a", vote: "APPROVE" },
        { participant: "b", vote: "REJECT" }
      ]
      assert.strictEqual(
        yield* refused("decision_what_if", { runId: "r", votes, policy: { rules: { any: 1 }, modes: "x" } }),
        'unknown argument "votes.1.participant" (did you mean votes.1.participantId?); known: votes.1.participantId, votes.1.proposalId, votes.1.vote; ' +
          'unknown argument "policy.modes" (did you mean policy.mode?); known: policy.mode, policy.schemaVersion, ' +
          "policy.rules"
      )
    })
  )

  it.effect("are free where the tool takes any object", () =>
    Effect.gen(function* () {
      const input = { policyId: "p", mode: "m", rules: { voting: { algorithm: null, other: [null] } } }
      assert.deepStrictEqual(yield* named("policy_register")(input), input)
    })
  )

  it.effect("that are null are absent where they are optional, and stay where they are not", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* named("runs_search")({ q: "a", limit: null, cursor: null }), { q: "a" })
      assert.deepStrictEqual(yield* named("run_get")({ runId: null }), { runId: null })
      assert.deepStrictEqual(yield* named("runs_search")(null), {})
      const scope = { scenarioRef: null, tags: ["a"] }
      assert.deepStrictEqual(yield* named("policy_backtest")({ policy: { mode: null }, scope }), {
        policy: {},
        scope: { tags: ["a"] }
      })
      const nullable = argumentsReader(Schema.Struct({ value: Schema.optionalKey(Schema.NullOr(Schema.String)) }))
      assert.deepStrictEqual(yield* nullable({ value: null }), { value: null })
      const any = argumentsReader(Schema.Struct({ value: Schema.optionalKey(Schema.Json) }))
      assert.deepStrictEqual(yield* any({ value: null }), { value: null })
    })
  )

  it.effect("are named in few words, however many and however long they are", () =>
    Effect.gen(function* () {
      const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${"x".repeat(500)}${index}`, 1]))
      const message = yield* refused("runs_search", many)
      assert.isBelow(message.length, 1_000)
      assert.include(message, "9995 more")
      const votes = Array.from({ length: 1_000 }, () => ({ a: 1 }))
      assert.isBelow((yield* refused("decision_what_if", { runId: "r", votes })).length, 1_000)
      const own = yield* refused("runs_search", JSON.parse('{"__proto__": 1, "constructor": 2, "\\u0000": 3}'))
      assert.include(own, 'unknown arguments "__proto__", "constructor", "\\u0000"')
    })
  )

  it("of another kind have its word", () => {
    assert.strictEqual(
      unknownNames(["x"], ["afterSeq"], { kind: "parameter" }),
      'unknown parameter "x"; known: afterSeq'
    )
  })
})

describe("the name that a wrong one is a slip of", () => {
  it.each([
    ["limits", "limit"],
    ["LIMIT", "limit"],
    ["run_id", "runId"],
    ["query", undefined],
    ["x".repeat(10_000), undefined]
  ])("of %s is %s", (wrong, expected) => {
    assert.strictEqual(meantName(wrong, ["limit", "runId", "q"]), expected)
  })
})
