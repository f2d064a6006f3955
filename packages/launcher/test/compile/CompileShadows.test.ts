import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { LaunchBlock } from "../../src/catalog/PackDocuments.ts"
import { type KnownAgents, shadowFaults } from "../../src/catalog/ShadowFaults.ts"
import { compile } from "../fixtures/CompiledScenario.ts"

const UNKNOWN: KnownAgents = { knows: undefined, isPerson: undefined }

/** A launch that `lead` opens, with the person `ana`. */
const launchWith = (shadows: LaunchBlock["shadows"], changes: Partial<LaunchBlock> = {}): LaunchBlock => ({
  modeName: "macp.mode.decision.v1",
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  ttlMs: 60_000,
  participants: [
    { id: "lead", role: "r", agentRef: "x" },
    { id: "risk", role: "r", agentRef: "x" },
    { id: "ana", role: "r", agentRef: "p" }
  ],
  ...(shadows !== undefined && { shadows }),
  ...changes
})
const faultsOf = (launch: LaunchBlock, known = UNKNOWN) =>
  shadowFaults(launch, known, ["spec", "launch"]).map(({ at, level, message }) => [level, at.join("."), message])

describe("shadows of a launch", () => {
  it.effect("are in the compiled launch under their names, and change nothing else", () =>
    Effect.gen(function* () {
      const { shadows, ...compiled } = yield* compile({ launch: "shadows: [{ as: second, agent: y }]" })
      const { shadows: none, ...without } = yield* compile({})
      assert.deepStrictEqual(shadows, [{ shadow: "second~y", as: "second", agent: "y" }])
      assert.isUndefined(none)
      assert.deepStrictEqual(compiled, without)
    })
  )

  it.effect("refuse a launch with the field named", () =>
    Effect.map(Effect.flip(compile({ launch: "shadows: [{ as: first, agent: y }]" })), (error) => {
      assert.strictEqual(error.errorCode, "COMPILATION_ERROR")
      assert.strictEqual(
        error.message,
        'launch.shadows.0.as "first" opens the session: its messages cannot be left out for a shadow'
      )
    })
  )

  it.effect.each([
    ["without a participant", "shadows: [{ agent: y }]", /invalid spec\.launch\.shadows\.0\.as in .*scenario\.yaml/],
    ["of another form", "shadows: { as: second, agent: y }", /invalid spec\.launch\.shadows in .*scenario\.yaml/]
  ] as const)("are no entry %s when the pack is read", ([, launch, message]) =>
    Effect.map(Effect.exit(compile({ launch })), (exit) => assert.match(String(exit), message))
  )

  it("are fine beside an agent, several of them too", () => {
    const shadows = [
      { as: "risk", agent: "x" },
      { as: "risk", agent: "y" }
    ]
    assert.deepStrictEqual(faultsOf(launchWith(shadows)), [])
    assert.deepStrictEqual(faultsOf(launchWith(undefined)), [])
  })

  it.each([
    [
      "an unknown participant",
      [{ as: "none", agent: "y" }],
      "shadows.0.as",
      'shadows.0.as "none" is not a participant; name one of: lead, risk, ana'
    ],
    [
      "the initiator",
      [{ as: "lead", agent: "y" }],
      "shadows.0.as",
      'shadows.0.as "lead" opens the session: its messages cannot be left out for a shadow'
    ],
    [
      "one that is declared twice",
      [
        { as: "risk", agent: "y" },
        { as: "risk", agent: "y" }
      ],
      "shadows.1.agent",
      'shadows.1.agent "y" is already a shadow of "risk": name another agent, or remove it'
    ],
    [
      "an agent with control characters in its name",
      [{ as: "risk", agent: "a\nb" }],
      "shadows.0.agent",
      "shadows.0.agent must be one line without control, direction and zero-width characters"
    ],
    [
      "more than a launch may have",
      Array.from({ length: 9 }, (_, nth) => ({ as: "risk", agent: `y${nth}` })),
      "shadows",
      "shadows has 9 entries: a launch has at most 8"
    ]
  ])("are not %s", (_, shadows, at, message) => {
    assert.deepStrictEqual(faultsOf(launchWith(shadows)), [["error", `spec.launch.${at}`, message]])
  })

  it.each([
    ["an unknown agent", "risk", "z", 'shadows.0.agent "z" is not an agent of the catalog'],
    ["beside a person", "ana", "y", 'shadows.0.as "ana" is a person: an agent is tried beside an agent'],
    ["a person", "risk", "p", 'shadows.0.agent "p" is a person: name an agent with a process']
  ])("are not %s, where the catalog of agents is known", (_, as, agent, message) => {
    const known = { knows: (ref: string) => ["x", "y", "p"].includes(ref), isPerson: (ref: string) => ref === "p" }
    const found = faultsOf(launchWith([{ as, agent }]), known)
    assert.deepStrictEqual(
      found.map(([, , said]) => said),
      [message]
    )
  })

  it("have no name of a participant", () => {
    const participants = [...launchWith([]).participants, { id: "risk~y", role: "r", agentRef: "x" }]
    assert.deepStrictEqual(
      faultsOf(launchWith([{ as: "risk", agent: "y" }], { participants })).map(([, , said]) => said),
      ['shadows.0.as "risk" makes the name risk~y, which a participant has: rename that participant']
    )
  })
})
