import { expect } from "vitest"
import { scenarioYaml } from "../fixtures/Packs.ts"
import { contract, frameworkBody, type Statement } from "./Contract.ts"
import { compile, FULL_FILE as FILE, FULL_REF as REF, refused } from "./Requests.ts"

const broken = (instancePath: string, keyword: string, params: unknown) =>
  expect.objectContaining({
    instancePath,
    keyword,
    params,
    schemaPath: expect.any(String),
    message: expect.any(String)
  })

contract("the launch service: POST /launch/compile: errors", [
  compile(
    "inputs that fail the schema are VALIDATION_ERROR with the validator's list",
    {
      inputs: { customer: "7", amount: 1_001, mail: "none", extra: 1 }
    },
    {
      ...refused(400, "VALIDATION_ERROR", "Input validation failed", {
        errors: expect.arrayContaining([
          broken("/customer", "pattern", { pattern: "^C-[0-9]+$" }),
          broken("/amount", "maximum", { comparison: "<=", limit: 1_000 }),
          broken("/mail", "format", { format: "email" }),
          broken("", "additionalProperties", { additionalProperty: "extra" })
        ])
      })
    }
  ),
  compile(
    "a missing input is VALIDATION_ERROR at the root",
    { inputs: {} },
    {
      ...refused(400, "VALIDATION_ERROR", "Input validation failed", {
        errors: [broken("", "required", { missingProperty: "customer" })]
      })
    }
  ),
  compile(
    "inputs are not coerced",
    { inputs: { customer: "C-1", amount: "5" } },
    {
      status: 400,
      includes: { errorCode: "VALIDATION_ERROR" }
    }
  ),
  compile("unknown inputs pass unless the schema forbids them", {
    scenarioRef: "demo/many@2.0.0",
    inputs: { any: [1] }
  }),
  ...(
    [
      ["demo/full", `invalid scenarioRef: missing '@' in "demo/full"`],
      ["full@1.0.0", `invalid scenarioRef: missing '/' in "full@1.0.0"`],
      ["/full@1.0.0", `invalid scenarioRef: empty component in "/full@1.0.0"`],
      ["demo/full@", `invalid scenarioRef: empty component in "demo/full@"`],
      ["demo/@1", `invalid scenarioRef: empty component in "demo/@1"`]
    ] as const
  ).map(([scenarioRef, message]) =>
    compile(`${scenarioRef} is INVALID_SCENARIO_REF`, { scenarioRef }, refused(400, "INVALID_SCENARIO_REF", message))
  ),
  ...(
    [
      ["nope/full@1.0.0", "PACK_NOT_FOUND", "pack not found: nope"],
      ["demo/nope@1.0.0", "SCENARIO_NOT_FOUND", "scenario not found: demo/nope"],
      ["demo/full/x@1.0.0", "SCENARIO_NOT_FOUND", "scenario not found: demo/full/x"],
      ["demo/full@9.9.9", "VERSION_NOT_FOUND", "version not found: demo/full@9.9.9"],
      ["demo/full@1@1.0.0", "SCENARIO_NOT_FOUND", "scenario not found: demo/full@1"]
    ] as const
  ).map(([scenarioRef, code, message]) =>
    compile(`${scenarioRef} is ${code}`, { scenarioRef }, refused(404, code, message))
  ),
  compile(
    "a scenario with a person is INVALID_CONFIG without a database",
    { scenarioRef: "cast/person@1.0.0", inputs: {} },
    refused(500, "INVALID_CONFIG", "LAUNCHER_DATABASE_URL is not set: cast/person@1.0.0 has a seat of a person")
  ),
  compile(
    "an unknown template is TEMPLATE_NOT_FOUND, before the inputs are looked at",
    { templateId: "no", inputs: {} },
    {
      ...refused(404, "TEMPLATE_NOT_FOUND", "template not found: no for demo/full@1.0.0")
    }
  )
])

const texts = (...message: ReadonlyArray<string>): Partial<Statement> => ({
  status: 400,
  answer: frameworkBody(400, "Bad Request", message)
})
const whole = ["scenarioRef should not be empty", "scenarioRef must be a string", "inputs must be an object"]

contract("malformed bodies", [
  compile("a missing scenarioRef breaks two rules", "{}", texts(...whole)),
  compile("an empty scenarioRef breaks one", { scenarioRef: "" }, texts("scenarioRef should not be empty")),
  compile("a scenarioRef that is not a text breaks one", { scenarioRef: 7 }, texts("scenarioRef must be a string")),
  compile("a templateId must be a string", { templateId: 7 }, texts("templateId must be a string")),
  compile(
    "a mode must be live or sandbox",
    { mode: "both" },
    {
      ...texts("mode must be one of the following values: live, sandbox")
    }
  ),
  ...[[], "x", 7, null].map((inputs) =>
    compile(`inputs must be an object, not ${JSON.stringify(inputs)}`, { inputs }, texts("inputs must be an object"))
  ),
  compile("an array counts as an empty object", "[]", texts(...whole)),
  compile("no body counts as an empty object", undefined, texts(...whole)),
  compile("another type counts as an empty object", "a=b", {
    headers: { "content-type": "text/plain" },
    ...texts(...whole)
  }),
  compile("a syntax error is answered with the parser's one text", '{"scenarioRef":', {
    status: 400,
    answer: frameworkBody(400, "Bad Request", expect.stringMatching(/JSON/))
  }),
  compile("a scalar is answered like a syntax error", "7", {
    status: 400,
    answer: frameworkBody(400, "Bad Request", expect.stringMatching(/JSON/))
  }),
  compile(
    "a body that is too deep is refused",
    `{"scenarioRef":"demo/many@2.0.0","inputs":{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`,
    {
      ...texts("body must not be nested deeper than 64 levels")
    }
  ),
  compile(
    "a body over one mebibyte is 413",
    { inputs: { x: "x".repeat(1_100_000) } },
    {
      status: 413,
      answer: frameworkBody(413, "Payload Too Large", expect.any(String))
    }
  ),
  compile("a body of almost one mebibyte is read", {
    scenarioRef: "demo/many@2.0.0",
    inputs: { x: "x".repeat(1_000_000) }
  })
])

const polluting = '{"constructor":{"prototype":{"polluted":1}},"n":1}'

contract("hostile inputs", [
  compile(
    "with keys of prototypes are values like any others",
    `{"scenarioRef":"${REF}","inputs":${polluting},"constructor":{"mode":"live"}}`,
    {
      files: { [FILE]: scenarioYaml({ launch: 'contextTemplate: { all: "{{ inputs.constructor }}" }' }) },
      includes: { mode: "sandbox", scenarioMeta: { sessionContext: { all: { prototype: { polluted: 1 } } } } },
      also: () => expect(Reflect.get({}, "polluted")).toBeUndefined()
    }
  ),
  compile("with the key __proto__ are refused", `{"scenarioRef":"${REF}","inputs":{"a":{"__proto__":1}}}`, {
    status: 400,
    answer: frameworkBody(400, "Bad Request", "inputs.a.__proto__ must not be used as a key")
  }),
  compile(
    "that break a rule very often get a bounded answer",
    { inputs: { customer: "C-1", list: Array(100_000).fill(7) } },
    {
      status: 400,
      also: ({ body }) => expect(body.metadata.errors).toHaveLength(1_000)
    }
  ),
  compile(
    "with half of a surrogate pair or NUL characters are refused",
    `{"scenarioRef":"demo/many@2.0.0","inputs":{"a":"\\ud800\\u0000"}}`,
    {
      status: 400,
      answer: frameworkBody(400, "Bad Request", ["inputs.a must not contain half of a surrogate pair"])
    }
  )
])
