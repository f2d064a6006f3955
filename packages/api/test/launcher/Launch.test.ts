import { assert, describe, it } from "@effect/vitest"
import { CompileRequest, ExampleRunRequest } from "../../src/launcher/Launch.ts"
import { bodySchema } from "../../src/validation/RequestSchema.ts"
import { decode } from "../support/Decode.ts"

const exampleBody = bodySchema(ExampleRunRequest, { unknownKeys: "drop" })
const compileBody = bodySchema(CompileRequest, { unknownKeys: "drop" })
const messagesOf = (value: unknown) => decode(exampleBody, value).messages
const decoded = (value: unknown) => decode(exampleBody, value).value

describe("the body of a launch", () => {
  it("reports its fields in their order", () => {
    assert.deepStrictEqual(
      messagesOf({
        templateId: 1,
        mode: "dry",
        inputs: [],
        bootstrapAgents: "true",
        tags: "a",
        requester: [],
        runLabel: 1
      }),
      [
        "scenarioRef should not be empty",
        "scenarioRef must be a string",
        "templateId must be a string",
        "mode must be one of the following values: live, sandbox",
        "inputs must be an object",
        "bootstrapAgents must be a boolean value",
        "each value in tags must be a string",
        "tags must be an array",
        "requester must be an object",
        "runLabel must be a string"
      ]
    )
  })

  it("distinguishes an empty reference, a missing one and a number", () => {
    assert.deepStrictEqual(messagesOf({ scenarioRef: "", inputs: {} }), ["scenarioRef should not be empty"])
    assert.deepStrictEqual(messagesOf({ scenarioRef: 1, inputs: {} }), ["scenarioRef must be a string"])
    assert.deepStrictEqual(messagesOf({ scenarioRef: "a/b@1", inputs: null }), ["inputs must be an object"])
  })

  it("drops unknown keys and null options, and keeps only what a requester may have", () => {
    assert.deepStrictEqual(
      decoded({
        scenarioRef: "a/b@1",
        inputs: { x: 1 },
        templateId: null,
        submit: false,
        requester: { actorId: "me", actorType: null, extra: 1 }
      }),
      { scenarioRef: "a/b@1", inputs: { x: 1 }, requester: { actorId: "me" } }
    )
    assert.deepStrictEqual(
      messagesOf({ scenarioRef: "a/b@1", inputs: {}, requester: { actorId: 5, actorType: "robot" } }),
      [
        "requester.actorId must be a string",
        "requester.actorType must be one of the following values: user, service, system"
      ]
    )
    assert.deepStrictEqual(decode(compileBody, { scenarioRef: "a/b@1", inputs: {}, tags: 1 }).value, {
      scenarioRef: "a/b@1",
      inputs: {}
    })
  })
})
