import { assert, describe, it } from "@effect/vitest"
import {
  type Action,
  deadAgents,
  decide,
  type Input,
  type LaunchState,
  watching
} from "../../src/examples/decideLaunch.ts"

const bindingOf = (participantId: string) => ({ participantId, role: "member", agentRef: `ref-${participantId}` })

const attached = (participantId: string): Input => ({ _tag: "Attached", binding: bindingOf(participantId) })
const ended = (participantId: string, code: number): Input => ({
  _tag: "Ended",
  participantId,
  end: { code, signal: null, lastLines: [] }
})
const reported = (outcome: "abandoned" | "opened" | "unknown"): Input => ({ _tag: "Reported", outcome })
const settle: Input = { _tag: "Settle" }
const fail: Input = { _tag: "Fail", reason: "why" }
const notOpened: Input = {
  _tag: "NotOpened",
  withinMs: 5,
  output: [
    { binding: bindingOf("a"), lines: ["one", "two"] },
    { binding: bindingOf("b"), lines: [] }
  ]
}

const endText = (participantId: string, code: number) =>
  `agent ${participantId} (ref-${participantId}): process exited before its session was open (code=${code}, signal=null)`

const shown = (action: Action) => ("reason" in action ? `${action._tag}: ${action.reason}` : action._tag)

/** Decides the inputs that are given, then those that are tested, and returns the actions of the latter. */
const when = (given: ReadonlyArray<Input>, ...inputs: ReadonlyArray<Input>) => {
  let state: LaunchState = given.reduce<LaunchState>((before, input) => decide(before, input)[0], watching)
  const actions = inputs.flatMap((input) => {
    const [next, of] = decide(state, input)
    state = next
    return of.map(shown)
  })
  return { actions, state, dead: deadAgents(state).map(({ participantId }) => participantId) }
}

const attaching = [attached("a"), attached("b")]
const answered = [...attaching, settle]

describe("a launch whose agents are attached", () => {
  it("is settled at once while every agent runs", () => {
    assert.deepStrictEqual(when(attaching, settle).actions, ["Settled"])
  })

  it("breaks at the crash of an agent, before the control plane answers", () => {
    const { actions, dead } = when(attaching, ended("a", 1))
    assert.deepStrictEqual(actions, ["Break", `Report: ${endText("a", 1)}`])
    assert.deepStrictEqual(dead, ["a"])
  })

  it("breaks at the end of an agent without error once the control plane has abandoned the run", () => {
    const { actions } = when(attaching, ended("a", 0), reported("abandoned"))
    assert.deepStrictEqual(actions, [`Report: ${endText("a", 0)}`, "Break"])
  })

  it("is settled only after the report in flight is answered", () => {
    const { actions } = when([...attaching, ended("a", 0)], settle, reported("unknown"))
    assert.deepStrictEqual(actions, ["Settled"])
  })

  it("is not settled once it is broken", () => {
    assert.deepStrictEqual(when([...attaching, ended("a", 1)], settle, reported("unknown")).actions, [])
  })

  it("reports one end at a time", () => {
    const { actions } = when([...attaching, ended("a", 0)], ended("b", 0), reported("unknown"))
    assert.deepStrictEqual(actions, [`Report: ${endText("b", 0)}`])
  })

  it("counts an agent that ended without error as well once its session is open", () => {
    const { actions, dead } = when([...attaching, ended("a", 0)], reported("opened"), settle)
    assert.deepStrictEqual([actions, dead], [["Settled"], []])
  })

  it("breaks at a crash after its session is open, without a report", () => {
    const { actions, dead } = when([...attaching, ended("a", 0), reported("opened")], ended("b", 2))
    assert.deepStrictEqual([actions, dead], [["Break"], ["b"]])
  })

  it("breaks at a crash that was waiting for the answer that the session is open", () => {
    assert.deepStrictEqual(when([...attaching, ended("a", 0), ended("b", 2)], reported("opened")).actions, ["Break"])
  })
})

describe("a launch that is answered", () => {
  it("ends its agents when one ends and the run is abandoned", () => {
    const { actions } = when(answered, ended("a", 0), reported("abandoned"), ended("b", 0))
    const reason = endText("a", 0)
    assert.deepStrictEqual(actions, [`Report: ${reason}`, `Warn: ${reason}`, "StopAgents", "Close"])
  })

  it("continues when the session is open, until every agent has ended", () => {
    const { actions } = when([...answered, ended("a", 0)], reported("opened"), ended("b", 1))
    assert.deepStrictEqual(actions, ["Close"])
  })

  it("closes only after the last report is answered", () => {
    const { actions } = when([...answered, ended("a", 0), ended("b", 0)], reported("unknown"), reported("unknown"))
    assert.deepStrictEqual(actions, [`Report: ${endText("b", 0)}`, "Close"])
  })
})

describe("the time in which a session opens", () => {
  const reason = "no agent opened it within 5 ms; agent a (ref-a) said: one | two"

  it("is checked while the session is awaited, and not when it is open", () => {
    assert.deepStrictEqual(when(answered, { _tag: "TimeOver" }).actions, ["CheckRun"])
    assert.deepStrictEqual(when([...answered, ended("a", 0), reported("opened")], { _tag: "TimeOver" }).actions, [])
  })

  it.each([
    ["answered", answered, []],
    ["attaching", attaching, ["Break"]]
  ] as const)("ends the agents of a launch that is %s, with their last lines", (_name, given, broken) => {
    const { actions } = when(given, notOpened, reported("abandoned"))
    assert.deepStrictEqual(actions, [`Report: ${reason}`, ...broken, `Warn: ${reason}`, "StopAgents"])
  })

  it("changes nothing when the session opens in the meantime", () => {
    assert.deepStrictEqual(when([...answered, notOpened], reported("opened"), notOpened).actions, [])
  })
})

describe("a launch that fails", () => {
  it("ends its agents, reports the reason and closes", () => {
    const { actions } = when(attaching, fail, ended("a", 0), reported("unknown"), reported("unknown"))
    assert.deepStrictEqual(actions, ["StopAgents", "Report: why", "Close"])
  })

  it.each([
    ["unknown", ["Report: why"]],
    ["abandoned", ["Close"]],
    ["opened", ["Close"]]
  ] as const)("waits for the report in flight, and decides by its answer: %s", (outcome, then) => {
    const { actions } = when([...attaching, ended("a", 1)], fail, reported(outcome))
    assert.deepStrictEqual(actions, ["StopAgents", ...then])
  })

  it.each(["abandoned", "opened"] as const)("reports nothing when its run is already %s", (outcome) => {
    const { actions } = when([...attaching, ended("a", 0), reported(outcome)], fail)
    assert.deepStrictEqual(actions, ["StopAgents", "Close"])
  })

  it("decides nothing after it is closed", () => {
    const { actions } = when([...attaching, fail, reported("abandoned")], settle, fail, reported("opened"), notOpened)
    assert.deepStrictEqual(actions, [])
  })
})
