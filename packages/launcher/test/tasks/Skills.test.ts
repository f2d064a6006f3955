import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { requested, skillsIn } from "../../src/tasks/Skills.ts"
import { load, scenarioYaml, smallPack } from "../fixtures/Packs.ts"

const SCHEMA =
  "{ type: object, required: [amount], additionalProperties: false, properties: { amount: { type: number } } }"
const published = (schema = SCHEMA) => scenarioYaml({ schema, rest: "publish: a2a" })

const skillsOf = (files: Readonly<Record<string, string>>) =>
  Effect.map(load({ ...smallPack(), ...files }), ({ catalog }) => skillsIn(catalog))

const ONE = { "/packs/demo/scenarios/one/1.0.0/scenario.yaml": published() }
const TWO = { ...ONE, "/packs/demo/scenarios/two/1.0.0/scenario.yaml": published() }

const message = (data?: Schema.Json, named: { readonly skill?: string; readonly template?: string } = {}) => ({
  data,
  skill: named.skill,
  template: named.template
})

describe("published scenarios", () => {
  it.effect("are the latest of their versions with `publish: a2a`", () =>
    Effect.gen(function* () {
      const skills = yield* skillsOf({
        ...ONE,
        "/packs/demo/scenarios/one/1.1.0/scenario.yaml": published(),
        "/packs/demo/scenarios/one/1.2.0/scenario.yaml": scenarioYaml(),
        "/packs/demo/scenarios/hidden/1.0.0/scenario.yaml": scenarioYaml()
      })
      assert.deepStrictEqual(
        skills.map(({ id, version }) => [id, version.version]),
        [["demo/one", "1.1.0"]]
      )
    })
  )

  it.effect("refuse another protocol, with the key", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(
        skillsOf({ "/packs/demo/scenarios/one/1.0.0/scenario.yaml": scenarioYaml({ rest: "publish: a2b" }) })
      )
      assert.include(failure.message, "invalid spec.publish")
    })
  )
})

describe("a message", () => {
  it.effect("with inputs that fit launches the only skill", () =>
    Effect.map(skillsOf(ONE), (skills) =>
      assert.deepStrictEqual(
        requested(message({ amount: 1 }), skills),
        Result.succeed({
          _tag: "Launch",
          scenarioRef: "demo/one@1.0.0",
          template: undefined,
          inputs: { amount: 1 }
        })
      )
    )
  )

  it.effect("without inputs, or with others, leads to a request for inputs that says why", () =>
    Effect.gen(function* () {
      const skills = yield* skillsOf(ONE)
      const why = (data?: Schema.Json) => {
        const found = Result.getOrThrow(requested(message(data), skills))
        return found._tag === "Ask" ? found.why : assert.fail("it is launched")
      }
      assert.strictEqual(why(), "a data part has to hold the inputs")
      assert.strictEqual(why(["amount"]), "the data part has to be an object of inputs")
      assert.include(why({}), "the inputs must have required property 'amount'")
      assert.include(why({ amount: "1" }), "amount must be number")
      // However many inputs are wrong, the text stays short.
      assert.isBelow(why(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, at]))).length, 1_000)
    })
  )

  it.effect("has to name one of several skills, and may name it in an earlier message of its task", () =>
    Effect.gen(function* () {
      const skills = yield* skillsOf(TWO)
      const open = Result.getOrThrow(requested(message({ amount: 1 }), skills))
      assert.deepStrictEqual(open, {
        _tag: "Ask",
        skill: undefined,
        why: "metadata.skill has to name one of 2 skills"
      })
      const ref = (found: ReturnType<typeof requested>) => {
        const { success } = Result.isSuccess(found) ? found : assert.fail("refused")
        return success._tag === "Launch" ? success.scenarioRef : "none"
      }
      assert.strictEqual(ref(requested(message({ amount: 1 }, { skill: "demo/two" }), skills)), "demo/two@1.0.0")
      assert.strictEqual(ref(requested(message({ amount: 1 }), skills, "demo/two")), "demo/two@1.0.0")
      // The latest message has precedence.
      assert.strictEqual(
        ref(requested(message({ amount: 1 }, { skill: "demo/one" }), skills, "demo/two")),
        "demo/one@1.0.0"
      )
    })
  )

  it.effect("that names an unknown skill or template is refused with the field", () =>
    Effect.gen(function* () {
      const skills = yield* skillsOf(ONE)
      const refusal = (named: { readonly skill?: string; readonly template?: string }) => {
        const found = requested(message({ amount: 1 }, named), skills)
        return Result.isFailure(found) ? [found.failure.kind, found.failure.field] : assert.fail("accepted")
      }
      assert.deepStrictEqual(refusal({ skill: "demo/two" }), ["InvalidParams", "message.metadata.skill"])
      assert.deepStrictEqual(refusal({ template: "nix" }), ["InvalidParams", "message.metadata.template"])
    })
  )

  it("to a service without a published scenario is not supported", () => {
    const found = requested(message({ amount: 1 }), [])
    assert.strictEqual(Result.isFailure(found) && found.failure.kind, "UnsupportedOperation")
  })
})
