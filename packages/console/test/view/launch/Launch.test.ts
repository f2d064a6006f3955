import { assert, describe, it } from "@effect/vitest"
import { inputsOf, originOf } from "../../../src/view/launch/Again.ts"
import { fieldSpec, fits, inputFaults } from "../../../src/view/launch/FormSchema.ts"
import { clientOf, commandOf, curlOf } from "../../../src/view/launch/LaunchCommands.ts"
import { type LaunchProgress, launchSteps } from "../../../src/view/launch/LaunchSteps.ts"
import { eventsOf, said } from "../../support.ts"

const order = {
  scenarioRef: "a/b@1.0.0",
  templateId: undefined,
  inputs: { say: "it's", count: 3, looksLikeJson: "true", nested: { deep: [1] } },
  runLabel: "mine"
}

describe("a launch as a command", () => {
  it("is quoted for the shell, and names the variable of the key", () => {
    const curl = curlOf(order, "http://l:3000", true)
    assert.include(curl, `curl 'http://l:3000/examples/run'`)
    assert.include(curl, "$RUNPLANE_API_KEY")
    assert.include(curl, `it'\\''s`)
    assert.notInclude(curlOf(order, "http://l:3000", false), "api-key")
  })

  it("gives the command line every input in a form that it reads back", () => {
    const command = commandOf(order, "http://l:3000")
    for (const part of [`-i 'say=it'\\''s'`, "-i 'count=3'", `-i 'looksLikeJson="true"'`, `'nested={"deep":[1]}'`]) {
      assert.include(command, part)
    }
  })

  it("is a program with the typed client", () => {
    assert.include(clientOf(order, "http://l:3000", true), `launcher.call("runExample"`)
  })
})

const nothing: LaunchProgress = {
  isAsked: true,
  problem: undefined,
  queuePosition: undefined,
  agents: undefined,
  hasRun: false,
  run: undefined
}
const states = (progress: Partial<LaunchProgress>) =>
  launchSteps({ ...nothing, ...progress }).map(({ about, state }) =>
    about === undefined ? state : `${state}: ${about}`
  )

describe("the steps of a launch", () => {
  it("follow each other", () => {
    assert.deepStrictEqual(states({}), ["done", "now", "later", "later", "later"])
    assert.include(states({ queuePosition: 3 })[1] ?? "", "position 3 in the queue")
    assert.deepStrictEqual(states({ agents: 4, hasRun: true }), ["done", "done: 4 agents", "done", "now", "later"])
    const run = { status: "running", lastEventIndex: 5, startedSession: true, errorMessage: undefined }
    assert.deepStrictEqual(states({ agents: 4, hasRun: true, run }).slice(2), ["done", "done", "done"])
  })

  it("say which one failed and what can be done", () => {
    const failed = (code: string, status: number) =>
      launchSteps({ ...nothing, problem: { code, status, messages: ["it broke"] } }).find(
        ({ state }) => state === "failed"
      )
    assert.deepStrictEqual(
      [
        failed("VALIDATION_ERROR", 400)?.id,
        failed("UNREACHABLE", 0)?.id,
        failed("AGENT_ATTACH_FAILED", 502)?.id,
        failed("AUTH_MINT_FAILED", 502)?.id,
        failed("LAUNCHES_FULL", 503)?.id
      ],
      ["compiled", "compiled", "agents", "agents", "agents"]
    )
    assert.include(states({ agents: 2 })[2] ?? "", "failed: the agents run, but the control plane did not take the run")
    const run = { status: "failed", lastEventIndex: 3, startedSession: false, errorMessage: "no agent joined" }
    assert.strictEqual(states({ agents: 2, hasRun: true, run })[3], "failed: no agent joined")
  })
})

describe("launching again", () => {
  it("begins with the scenario and the inputs that the run recorded", () => {
    const metadata = { sourceRef: "incident/region-failover@1.0.0", templateId: "default", runLabel: "x" }
    assert.deepStrictEqual(originOf(metadata), {
      scenario: "incident/region-failover",
      version: "1.0.0",
      template: "",
      label: "x"
    })
    assert.isUndefined(originOf({ sourceRef: "by hand" }))
    assert.isUndefined(originOf({ sourceRef: 3 }))
    const data = btoa(JSON.stringify({ lag: 4, other: true, nested: { a: 1 } }))
    const events = eventsOf([said("signal.emitted", "Signal", "lead", { signalType: "session.context", data })])
    assert.deepStrictEqual(inputsOf(events, ["lag", "nested", "missing"]), { lag: 4, nested: { a: 1 } })
    assert.deepStrictEqual(inputsOf([], ["lag"]), {})
  })
})

describe("a form of every keyword", () => {
  const spec = (schema: unknown) => fieldSpec({ type: "object", properties: { it: schema }, $defs: defs })
  const defs = { days: { type: "integer", minimum: 0, maximum: 180 }, loop: { $ref: "#/$defs/loop" } }
  const kindOf = (schema: unknown) => {
    const form = spec(schema)
    return form.kind === "object" ? form.members[0]?.spec : undefined
  }

  it("follows references, and ends where they go in circles", () => {
    assert.deepInclude(kindOf({ $ref: "#/$defs/days", default: 60 }), { kind: "number", min: 0, max: 180 })
    assert.strictEqual(kindOf({ $ref: "#/$defs/loop" })?.kind, "json")
    assert.strictEqual(kindOf({ $ref: "#/$defs/nothing" })?.kind, "json")
    assert.strictEqual(kindOf({ $ref: "https://elsewhere" })?.kind, "json")
  })

  it("says in words what the schema constraints", () => {
    const constraints = (schema: unknown) => kindOf(schema)?.constraints.join("; ")
    assert.strictEqual(constraints({ type: "integer", minimum: 1, maximum: 9 }), "1 to 9")
    assert.strictEqual(
      constraints({ type: "number", exclusiveMinimum: 0, multipleOf: 5 }),
      "more than 0; a multiple of 5"
    )
    assert.strictEqual(
      constraints({ type: "string", minLength: 3, pattern: "^a" }),
      "at least 3 characters; in the form that the scenario expects"
    )
    assert.strictEqual(constraints({ type: "string", pattern: "^a", examples: ["ab", "ac"] }), "such as ab or ac")
    assert.strictEqual(constraints({ type: "string", pattern: "^a", default: "ad" }), "such as ad")
    assert.strictEqual(constraints({ type: "string", pattern: "^a", description: "Begins with a." }), "")
    assert.strictEqual(
      constraints({ type: "array", maxItems: 4, uniqueItems: true }),
      "at most 4 items; each item once"
    )
    assert.include(constraints({ type: "string", format: "date-time" }) ?? "", "2026-07-01")
  })

  it("reports a fault without a regular expression", () => {
    const error = { instancePath: "/id", message: 'must match pattern "^INC-"', params: { pattern: "^INC-" } }
    assert.deepStrictEqual(
      inputFaults({ errors: [error, { instancePath: "", params: { missingProperty: "b" } }] }),
      new Map([
        ["/id", ["does not have the form that the scenario expects"]],
        ["/b", ["is required"]]
      ])
    )
  })

  it("puts the parts of allOf together, and offers the branches of oneOf", () => {
    const all = kindOf({
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "number" } } }
      ]
    })
    assert.deepStrictEqual(
      all?.kind === "object" ? all.members.map(({ isRequired, name }) => [name, isRequired]) : [],
      [
        ["a", true],
        ["b", false]
      ]
    )
    const either = kindOf({
      oneOf: [
        { title: "By id", type: "object", properties: { id: { type: "string" } }, required: ["id"] },
        { type: "integer" },
        { const: "none" }
      ]
    })
    if (either?.kind !== "either") throw new Error("it is a choice of forms")
    assert.deepStrictEqual(
      either.branches.map(({ title }) => title),
      ["By id", "Number", '"none"']
    )
    const which = (value: number | string | Record<string, string>) =>
      either.branches.findIndex((one) => fits(one, value))
    assert.deepStrictEqual([which({ id: "x" }), which(3), which("none"), which(1.5)], [0, 1, 2, -1])
    assert.strictEqual(kindOf({ type: ["string", "null"] })?.kind, "text")
    assert.strictEqual(kindOf({ type: ["string", "integer"] })?.kind, "either")
    assert.strictEqual(kindOf({ type: "object", additionalProperties: { type: "number" } })?.kind, "json")
  })
})
