import { assert, describe, it } from "@effect/vitest"
import { type Assigned, rightOf } from "@runplane/domain"

const assigned: Assigned = {
  assign: ["group:risk", "person:bo"],
  distinctFrom: undefined,
  requester: "rita",
  answeredBy: new Map([["second-officer", ["otto"]]])
}
const right = (id: string, groups: ReadonlyArray<string> = ["risk"], members: Partial<Assigned> = {}) =>
  rightOf({ id, groups }, { ...assigned, ...members })

describe("the right to answer", () => {
  it.each([
    ["a member of the group", right("ana"), "answer"],
    ["a named person", right("bo", []), "answer"],
    ["a stranger", right("ana", ["legal"]), "not assigned"],
    ["a person who is named like a group", right("risk", []), "not assigned"],
    ["a group that is named like a person", right("ana", ["bo"]), "not assigned"],
    ["the requester", right("rita"), "is the requester"],
    ["a requester whom the rules do not exclude", right("rita", ["risk"], { distinctFrom: [] }), "answer"],
    ["the person of another seat", right("otto"), "holds another seat"],
    ["the person of a seat that is not excluded", right("otto", ["risk"], { distinctFrom: ["requester"] }), "answer"],
    ["the person of a named seat", right("otto", ["risk"], { distinctFrom: ["second-officer"] }), "holds another seat"]
  ])("of %s is known", (_, found, expected) => {
    assert.strictEqual(found, expected)
  })
})
