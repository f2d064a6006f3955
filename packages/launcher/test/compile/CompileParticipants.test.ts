import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { compileLaunch } from "../../src/compile/CompileLaunch.ts"
import { CONTEXT, compile, REF, versionOf } from "../fixtures/CompiledScenario.ts"

describe("participants", () => {
  it.effect.each(["a\\0b", "a\\nb", "a\\x7fb"])("refuse an id with a control character (%s)", (id) =>
    Effect.gen(function* () {
      const participants = `[{ id: "${id}", role: r, agentRef: agent-a }]`
      const t = `spec: { overrides: { launch: { participants: ${participants} } } }`
      const { errorCode, message } = yield* Effect.flip(compile({}, { templateId: "t" }, { t }))
      assert.strictEqual(errorCode, "COMPILATION_ERROR")
      assert.strictEqual(
        message,
        "launch.participants.0.id must be one line without control, direction and zero-width characters"
      )
    })
  )
})

describe("extensions", () => {
  it.effect.each([
    ["an array", "extensions: [a]", "launch.extensions must be a mapping of string values, got array"],
    ["a bare key", "extensions:", 'launch.extensions must be a mapping of string values, got ""'],
    ["a number", "extensions: 7", "launch.extensions must be a mapping of string values, got 7"],
    [
      "a number inside",
      "extensions: { ops.bridge: 7 }",
      "launch.extensions.ops.bridge must be a base64-encoded string, got number"
    ],
    ["null inside", "extensions: { a: null }", "launch.extensions.a must be a base64-encoded string, got null"]
  ] as const)("refuse %s", ([, launch, message]) =>
    Effect.map(Effect.flip(compile({ launch })), (error) => {
      assert.strictEqual(error.errorCode, "COMPILATION_ERROR")
      assert.strictEqual(error.message, message)
    })
  )

  it.effect("may be any map of texts", () =>
    Effect.map(compile({ launch: "extensions: { a: eA==, ops.bridge: bridge-7! }" }), (compiled) =>
      assert.deepStrictEqual(compiled.initiator?.sessionStart.extensions, { a: "eA==", "ops.bridge": "bridge-7!" })
    )
  )

  it.effect("may be null", () =>
    Effect.map(compile({ launch: "extensions: null" }), (compiled) =>
      assert.notProperty(compiled.initiator?.sessionStart, "extensions")
    )
  )
})

describe("the participants", () => {
  const TWICE =
    "participants: [{ id: a, role: r, agentRef: x }, { id: b, role: r, agentRef: x }, { id: a, role: s, agentRef: x }]"
  it.effect.each([
    [
      "an initiator who is not a participant",
      { launch: "initiatorParticipantId: third" },
      'launch.initiatorParticipantId "third" is not a participant: no agent would open the session'
    ],
    [
      "a kickoff from a stranger when no initiator is named",
      { launch: 'kickoffTemplate: [{ from: "number {{ inputs.amount }}" }]' },
      'launch.kickoffTemplate.0.from "number 7" is not a participant: no agent would open the session'
    ]
  ] as const)("is refused: %s", ([, parts, message]) =>
    Effect.map(Effect.flip(compile(parts)), (error) => {
      assert.strictEqual(error.errorCode, "COMPILATION_ERROR")
      assert.strictEqual(error.message, message)
    })
  )

  it.effect("is refused with a participant that is declared twice", () =>
    Effect.gen(function* () {
      const version = yield* versionOf({}, { t: `spec: { overrides: { launch: { ${TWICE} } } }` })
      const request = { scenarioRef: REF, templateId: "t", inputs: {} }
      const refused = compileLaunch(version, request, { ...CONTEXT, sessionId: "s" })
      assert.strictEqual(
        Result.isFailure(refused) && refused.failure.message,
        'launch.participants declares "a" twice: give each participant its own id'
      )
    })
  )
})
