import { assert, describe, it } from "@effect/vitest"
import type { CompileRequest } from "@runplane/api"
import * as Effect from "effect/Effect"
import { findVersion } from "../../src/catalog/Catalog.ts"
import { isJsonObject } from "../../src/common/Json.ts"
import { compileLaunch } from "../../src/compile/CompileLaunch.ts"
import { launchSchemaOf } from "../../src/compile/LaunchSchema.ts"
import { AT, CONTEXT, compile, REF, versionOf } from "../fixtures/CompiledScenario.ts"
import { load, type ScenarioParts, scenarioYaml, smallPack } from "../fixtures/Packs.ts"

describe("the smallest scenario", () => {
  it.effect("compiles to exactly the keys that have a value", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* compile({}), {
        sessionId: CONTEXT.sessionId,
        mode: "sandbox",
        runDescriptor: {
          mode: "sandbox",
          runtime: { kind: "rust", version: "v1" },
          session: {
            sessionId: CONTEXT.sessionId,
            modeName: "macp.mode.decision.v1",
            modeVersion: "1.0.0",
            configurationVersion: "config.default",
            ttlMs: 60000,
            participants: [{ id: "first" }, { id: "second" }],
            metadata: {
              source: "svc",
              sourceRef: REF,
              scenarioRef: REF,
              templateId: "default",
              environment: "test"
            }
          },
          execution: {
            tags: ["example", "demo", "one"],
            requester: { actorId: "svc", actorType: "service" }
          }
        },
        initiator: {
          participantId: "first",
          sessionStart: {
            intent: "demo/one",
            participants: ["first", "second"],
            ttlMs: 60000,
            modeVersion: "1.0.0",
            configurationVersion: "config.default"
          }
        },
        scenarioMeta: { initiatorParticipantId: "first" },
        display: { title: "One", scenarioRef: REF },
        participantBindings: [
          { participantId: "first", role: "leader", agentRef: "agent-a" },
          { participantId: "second", role: "member", agentRef: "agent-b" }
        ]
      })
    })
  )
})

describe("inputs", () => {
  const schema =
    "{ type: object, properties: { a: { default: schema }, b: { default: { x: 1, y: 2 } }, c: { type: object, properties: { d: { default: 1 } } } } }"
  const launch = 'contextTemplate: { all: "{{ inputs }}" }'
  const inputsOf = (request: Partial<CompileRequest>) =>
    Effect.map(
      compile({ schema, launch }, request, { t: "spec: { defaults: { a: template, b: { x: 9 } } }", bare: "" }),
      ({ scenarioMeta: { sessionContext } }) => (isJsonObject(sessionContext) ? sessionContext["all"] : undefined)
    )

  it.effect.each([
    ["top-level schema defaults, and no nested ones", {}, { a: "schema", b: { x: 1, y: 2 } }],
    ["the template's values, replacing nested objects whole", { templateId: "t" }, { a: "template", b: { x: 9 } }],
    ["the request's values last", { templateId: "t", inputs: { a: "mine", z: 1 } }, { a: "mine", b: { x: 9 }, z: 1 }],
    ["a template without spec like none", { templateId: "bare" }, { a: "schema", b: { x: 1, y: 2 } }]
  ] as const)("take %s", ([, request, expected]) =>
    Effect.map(inputsOf(request), (all) => assert.deepStrictEqual(all, expected))
  )

  it.effect("that fail the schema are VALIDATION_ERROR with the validator's list", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(compile({}, { inputs: { amount: "7" } }))
      assert.deepStrictEqual(error.metadata?.["errors"], [
        {
          instancePath: "/amount",
          schemaPath: "#/properties/amount/type",
          keyword: "type",
          params: { type: "number" },
          message: "must be number"
        }
      ])
    })
  )
})

describe("templates", () => {
  const overrides = (text: string) => ({ t: `spec: { overrides: ${text} }` })
  const parts: ScenarioParts = {
    metadata: "tags: [late, base]",
    runtime: "runtime: { kind: go, version: v3 }",
    launch:
      "policyVersion: p.base\npolicyHints: { type: none, designatedRoles: [x], veto: { on: true, n: 1 } }\nmetadataTemplate: { intent: base, k: 1 }",
    rest: "execution: { tags: [base], requester: { actorId: me } }"
  }

  it.effect("merge the runtime per key and the launch deeply, replacing arrays", () =>
    Effect.gen(function* () {
      const compiled = yield* compile(
        parts,
        { templateId: "t" },
        overrides(
          "{ runtime: { version: v4 }, launch: { policyHints: { type: majority, designatedRoles: [], veto: { n: 2 } }, metadataTemplate: { extra: true } }, execution: { tags: [own] } }"
        )
      )
      assert.deepStrictEqual(compiled.runDescriptor.runtime, { kind: "go", version: "v4" })
      assert.deepStrictEqual(compiled.scenarioMeta.policyHints, {
        type: "majority",
        designatedRoles: [],
        veto: { on: true, n: 2 }
      })
      assert.deepStrictEqual(compiled.runDescriptor.execution, {
        tags: ["example", "demo", "one", "own", "late", "base"],
        requester: { actorId: "me", actorType: "service" }
      })
      assert.strictEqual(compiled.initiator?.sessionStart.intent, "base")
      assert.strictEqual(compiled.runDescriptor.session.metadata?.["extra"], true)
      assert.strictEqual(compiled.runDescriptor.session.metadata?.["templateId"], "t")
      assert.strictEqual(compiled.display.templateId, "t")
    })
  )

  it.effect("may take a value away with null", () =>
    Effect.gen(function* () {
      const compiled = yield* compile(parts, { templateId: "t" }, overrides("{ launch: { policyVersion: null } }"))
      assert.notProperty(compiled.runDescriptor.session, "policyVersion")
    })
  )

  it.effect("are never applied unasked, not even one called default", () =>
    Effect.gen(function* () {
      const templates = { default: "spec: { overrides: { runtime: { kind: other } } }" }
      for (const request of [{}, { templateId: "" }]) {
        const compiled = yield* compile({}, request, templates)
        assert.strictEqual(compiled.runDescriptor.runtime.kind, "rust")
        assert.notProperty(compiled.display, "templateId")
      }
    })
  )

  it.effect("that do not exist are TEMPLATE_NOT_FOUND", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(compile({}, { templateId: "gone" }))
      assert.strictEqual(error.message, "template not found: gone for demo/one@1.0.0")
    })
  )
})

describe("session metadata", () => {
  it.effect("takes the template's keys, typed, but never over the five reserved ones", () =>
    Effect.gen(function* () {
      const compiled = yield* compile({
        launch:
          "metadataTemplate: { source: x, sourceRef: x, scenarioRef: x, templateId: x, environment: x, cancellationDelegated: true }"
      })
      assert.deepStrictEqual(compiled.runDescriptor.session.metadata, {
        source: "svc",
        sourceRef: REF,
        scenarioRef: REF,
        templateId: "default",
        environment: "test",
        cancellationDelegated: true
      })
    })
  )
})

describe("the initiator", () => {
  it.effect.each([
    ["is the declared one", "initiatorParticipantId: second\nkickoffTemplate: [{ from: first }]", "second"],
    ["else the sender of the first kickoff", "kickoffTemplate: [{ from: second }, { from: first }]", "second"],
    ["else the first participant", "kickoffTemplate: [{}]", "first"]
  ] as const)("%s", ([, launch, expected]) =>
    Effect.map(compile({ launch }), (compiled) => assert.strictEqual(compiled.initiator?.participantId, expected))
  )

  it.effect("is absent without participants", () =>
    Effect.gen(function* () {
      const text = scenarioYaml().replace(/participants:\n.*\n.*\n/, "participants: []\n")
      const { catalog } = yield* load({
        ...smallPack(),
        "/packs/demo/scenarios/one/1.0.0/scenario.yaml": text
      })
      const version = yield* Effect.fromResult(findVersion(catalog, AT))
      const compiled = yield* Effect.fromResult(compileLaunch(version, { scenarioRef: REF, inputs: {} }, CONTEXT))
      assert.notProperty(compiled, "initiator")
      assert.deepStrictEqual(compiled.scenarioMeta, {})
      assert.deepStrictEqual(compiled.participantBindings, [])
    })
  )

  it.effect("starts the session with the optional parts that the pack sets", () =>
    Effect.gen(function* () {
      const compiled = yield* compile({
        launch: 'maxSuspendMs: 5\ncontextId: "ctx {{ inputs.amount }}"\nextensions: { a.b: eA== }\npolicyVersion: p'
      })
      assert.deepInclude(compiled.initiator?.sessionStart, {
        maxSuspendMs: 5,
        contextId: "ctx {{ inputs.amount }}",
        extensions: { "a.b": "eA==" },
        policyVersion: "p"
      })
    })
  )
})

describe("the kickoff", () => {
  const DECISION = "macp.modes.decision.v1"
  it.effect.each([
    [
      "falls back to a Signal with an empty payload",
      "{}",
      { messageType: "Signal", payloadType: "macp.v1.SignalPayload", payload: {} }
    ],
    [
      "is a Proposal when its kind says so",
      "{ kind: proposal }",
      { messageType: "Proposal", payloadType: `${DECISION}.ProposalPayload`, payload: {} }
    ],
    [
      "prefers the message type over the kind",
      "{ kind: proposal, messageType: Vote }",
      { messageType: "Vote", payloadType: `${DECISION}.VotePayload`, payload: {} }
    ],
    ["has no payload type for an unknown message", "{ messageType: Custom }", { messageType: "Custom", payload: {} }],
    [
      "prefers payload over the envelope",
      "{ messageType: Custom, payload: { p: 1 }, payloadEnvelope: { json: { j: 1 } } }",
      { messageType: "Custom", payload: { p: 1 } }
    ],
    [
      "prefers the envelope's json over proto, and keeps the proto type name",
      "{ payloadEnvelope: { json: { j: 1 }, proto: { typeName: t.T, value: { v: 1 } } } }",
      { messageType: "Signal", payloadType: "t.T", payload: { j: 1 } }
    ],
    [
      "takes the proto value last",
      "{ payloadEnvelope: { proto: { typeName: t.T, value: { v: '{{ inputs.amount }}' } } } }",
      { messageType: "Signal", payloadType: "t.T", payload: { v: 7 } }
    ]
  ] as const)("%s", ([, entry, expected]) =>
    Effect.map(compile({ launch: `kickoffTemplate: [${entry}]` }), (compiled) =>
      assert.deepStrictEqual(compiled.initiator?.kickoff, expected)
    )
  )

  it.effect("is absent for an empty list", () =>
    Effect.map(compile({ launch: "kickoffTemplate: []" }), (compiled) =>
      assert.notProperty(compiled.initiator, "kickoff")
    )
  )

  it.effect("fails for a bad placeholder even in an unused entry", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(compile({ launch: 'kickoffTemplate: [{}, { to: ["{{ inputs.gone }}"] }]' }))
      assert.strictEqual(error.errorCode, "COMPILATION_ERROR")
    })
  )
})

describe("the launch schema", () => {
  it.effect("has the declared initiator only, and shows the template's changes except in the form", () =>
    Effect.gen(function* () {
      const version = yield* versionOf(
        {},
        {
          t: "spec: { defaults: { extra: 1 }, overrides: { launch: { initiatorParticipantId: second, policyVersion: p } } }"
        }
      )
      const plain = yield* Effect.fromResult(launchSchemaOf(version, ""))
      assert.deepStrictEqual(plain, {
        scenarioRef: REF,
        formSchema: version.formSchema,
        defaults: { amount: 7 },
        participants: [
          { id: "first", role: "leader", agentRef: "agent-a" },
          { id: "second", role: "member", agentRef: "agent-b" }
        ],
        runtime: { kind: "rust", version: "v1" },
        launchSummary: {
          modeName: "macp.mode.decision.v1",
          modeVersion: "1.0.0",
          configurationVersion: "config.default",
          ttlMs: 60000
        }
      })
      const templated = yield* Effect.fromResult(launchSchemaOf(version, "t"))
      assert.strictEqual(templated.templateId, "t")
      assert.deepStrictEqual(templated.defaults, { amount: 7, extra: 1 })
      assert.deepInclude(templated.launchSummary, { initiatorParticipantId: "second", policyVersion: "p" })
    })
  )
})
