import { assert, describe, it } from "@effect/vitest"
import { emptyRunState, type RunState } from "@runplane/domain"
import { agentRecord } from "../../src/view/AgentRecord.ts"
import { csv } from "../../src/view/Csv.ts"
import { queryValue, suggestionsAt } from "../../src/view/QueryCompletion.ts"
import { rateOf } from "../../src/view/Rate.ts"

const FIELDS = [
  { name: "status", description: "Status of the run", values: ["failed", "completed"] },
  { name: "startedAt", description: "When it started" },
  { name: "metadata", description: "A member", dotted: true }
]
const inserts = (text: string) => suggestionsAt(text, text.length, FIELDS).options.map(({ insert }) => insert)

describe("completion of a search", () => {
  it("offers names, the ones that begin so first", () => {
    assert.deepStrictEqual(inserts("st"), ["status:", "startedAt:"])
    assert.deepStrictEqual(inserts("status:failed -meta"), ["metadata."])
  })

  it("offers the values of a field, in lists too", () => {
    assert.deepStrictEqual(inserts("status:"), ["failed", "completed"])
    assert.deepStrictEqual(inserts("status:(failed,com"), ["completed"])
    assert.deepStrictEqual(inserts("has:meta"), ["metadata"])
    assert.deepStrictEqual(inserts("startedAt:"), [])
  })

  it("replaces the word at the cursor only", () => {
    const { from, to } = suggestionsAt("sta failover", 3, FIELDS)
    assert.deepStrictEqual([from, to], [0, 3])
  })

  it("quotes what is more than a word", () => {
    assert.strictEqual(queryValue("incident/failover@1.0.0"), "incident/failover@1.0.0")
    assert.strictEqual(queryValue('a "b"'), '"a \\"b\\""')
    assert.strictEqual(queryValue("1..2"), '"1..2"')
  })
})

describe("CSV", () => {
  it("quotes what needs it, and lets no cell be a formula", () => {
    assert.strictEqual(csv(["a", "b"], [['x,"y"', "=1+1"]]), 'a,b\r\n"x,""y""",\'=1+1\r\n')
    assert.strictEqual(csv(["a"], [[null], [-1], [true]]), "a\r\n\r\n-1\r\ntrue\r\n")
  })
})

describe("the rate of events", () => {
  it("counts each event once", () => {
    const { at, bucketMs, counts } = rateOf([0, 500, 1_000, 59_999], { from: 0, to: 60_000 })
    assert.strictEqual(bucketMs, 1_000)
    assert.lengthOf(at, 60)
    assert.deepStrictEqual([counts[0], counts[1], counts[59]], [2, 1, 1])
  })
})

describe("the record of an agent", () => {
  const decided = (letters: string, outcomePositive: boolean): RunState => {
    const state = emptyRunState("run-1")
    const participant = (participantId: string) => ({ participantId, status: "idle" as const })
    return {
      ...state,
      participants: [participant("ana"), participant("bob")],
      decision: { current: { finalized: true, outcomePositive, proposalId: "p1", reasons: [], proposals: [] } },
      policy: {
        ...state.policy,
        voteTally: [{ commitmentId: "p1", allow: 1, deny: 1, threshold: 1, quorum: { required: 2, cast: 2 } }],
        lastWords: [letters]
      }
    }
  }

  it("counts the votes that say what was decided", () => {
    const states = [decided("ad", true), decided("aa", false), decided("-d", true)]
    assert.deepInclude(agentRecord("ana", states), { decided: 2, agreed: 1, calls: 0 })
    assert.deepInclude(agentRecord("bob", states), { decided: 3, agreed: 0 })
    assert.deepInclude(agentRecord("eve", states), { decided: 0, agreed: 0 })
  })
})
