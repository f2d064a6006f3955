import { assert, describe, it } from "@effect/vitest"
import { causesOf, type Given } from "../../../src/view/compare/Causes.ts"
import { eventsOf, said } from "../../support.ts"

const contextOf = (value: object) =>
  said("signal.emitted", "Signal", "lead", {
    signalType: "session.context",
    data: Buffer.from(JSON.stringify(value)).toString("base64")
  })
const callOf = (sender: string, model: string) => said("llm.call.completed", "Signal", sender, { model })

const given = (
  policyVersion: string,
  context: object | undefined,
  ...models: ReadonlyArray<readonly [string, string]>
) =>
  ({
    policyVersion,
    events: eventsOf([
      ...(context === undefined ? [] : [contextOf(context)]),
      ...models.map(([sender, model]) => callOf(sender, model))
    ]),
    isWhole: true
  }) satisfies Given

describe("what two runs were given", () => {
  it("is named where policy, inputs or models differ", () => {
    const left = given("p.one", { lag: 4, standby: { region: "north", warm: true } }, ["ana", "m-1"], ["bob", "m-2"])
    const right = given("p.two", { lag: 95, standby: { region: "north", warm: false }, note: "x" }, ["ana", "m-3"])
    assert.deepStrictEqual(causesOf(left, right), [
      {
        ...{ title: "Policy", text: "differs", differs: true },
        differences: [{ name: "policy", left: "p.one", right: "p.two" }]
      },
      {
        ...{ title: "Inputs", text: "differ", differs: true },
        differences: [
          { name: "lag", left: "4", right: "95" },
          { name: "standby.warm", left: "true", right: "false" },
          { name: "note", left: undefined, right: "x" }
        ]
      },
      {
        ...{ title: "Models", text: "differ", differs: true },
        differences: [
          { name: "ana", left: "m-1", right: "m-3" },
          { name: "bob", left: "m-2", right: undefined }
        ]
      }
    ])
  })

  it("is said to be the same, and never where it is not on record", () => {
    const one = given("p", { lag: 4 }, ["ana", "m-1"])
    assert.deepStrictEqual(
      causesOf(one, one).map(({ differs, text }) => [differs, text]),
      [
        [false, "the same: p"],
        [false, "the same in the context of both sessions"],
        [false, "the same for each participant"]
      ]
    )
    const nothing = given("", undefined)
    assert.deepStrictEqual(
      causesOf(nothing, nothing).map(({ text }) => text),
      ["neither run names one", "not on record in either run", "no call of a model on record"]
    )
    const [, inputs] = causesOf(one, given("p", undefined))
    assert.deepInclude(inputs, { text: "not on record in the right run", differs: true })
    const [, cut] = causesOf(one, { ...nothing, isWhole: false })
    assert.deepInclude(cut, { text: "unknown: a part of a long log is not loaded", differs: false })
  })

  it("lists a bounded number of differences, with values that are cut", () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, "v".repeat(1_000)]))
    const [, inputs] = causesOf(given("p", many), given("p", { k0: "w" }))
    assert.lengthOf(inputs?.differences ?? [], 30)
    assert.strictEqual(inputs?.text, "the first 30 of 200 differences")
    assert.isBelow((inputs?.differences[1]?.left ?? "").length, 130)
  })
})
