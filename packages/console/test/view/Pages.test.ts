import { assert, describe, it } from "@effect/vitest"
import { emptyRunState, type RunState } from "@runplane/domain"
import { agentRecord } from "../../src/view/AgentRecord.ts"
import { align } from "../../src/view/Align.ts"
import { csv } from "../../src/view/Csv.ts"
import { queryValue, suggestionsAt } from "../../src/view/QueryCompletion.ts"
import { valuesIn, withValues } from "../../src/view/QueryEdit.ts"
import { rateOf } from "../../src/view/Rate.ts"
import { verdictOf } from "../../src/view/Verdict.ts"

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

describe("a facet of a search", () => {
  it("reads its own condition and no other", () => {
    assert.deepStrictEqual(valuesIn("status:failed cost:>1", "status"), ["failed"])
    assert.deepStrictEqual(valuesIn("status:(failed, cancelled)", "status"), ["failed", "cancelled"])
    assert.deepStrictEqual(valuesIn("-status:failed", "status"), [])
    assert.deepStrictEqual(valuesIn("(status:failed OR has:cost)", "status"), [])
    assert.deepStrictEqual(valuesIn('environment:"eu west"', "environment"), ["eu west"])
  })

  it("changes its condition and leaves the rest", () => {
    assert.strictEqual(withValues("cost:>1", "status", ["failed"]), "cost:>1 status:failed")
    assert.strictEqual(
      withValues("status:failed cost:>1", "status", ["failed", "cancelled"]),
      "status:(failed,cancelled) cost:>1"
    )
    assert.strictEqual(withValues("status:failed cost:>1", "status", []), "cost:>1")
    assert.strictEqual(
      withValues("(status:failed OR x)", "status", ["completed"]),
      "(status:failed OR x) status:completed"
    )
  })
})

describe("two lists side by side", () => {
  const rows = (left: string, right: string) =>
    align([...left], [...right]).map(
      (row) => `${row.left === undefined ? "-" : left[row.left]}${row.right === undefined ? "-" : right[row.right]}`
    )

  it("puts what is equal in one row, in order, and loses nothing", () => {
    assert.deepStrictEqual(rows("abc", "abc"), ["aa", "bb", "cc"])
    assert.deepStrictEqual(rows("abd", "acd"), ["aa", "b-", "-c", "dd"])
    assert.deepStrictEqual(rows("", "ab"), ["-a", "-b"])
  })

  it("has every entry of both exactly once, in order", () => {
    const left = [..."proposalvoteobjectvote"]
    const right = [..."propvotevoteobjectionend"]
    const aligned = align(left, right)
    const offsets = (side: "left" | "right") => aligned.flatMap((row) => row[side] ?? [])
    assert.deepStrictEqual(
      offsets("left"),
      left.map((_, at) => at)
    )
    assert.deepStrictEqual(
      offsets("right"),
      right.map((_, at) => at)
    )
  })
})

describe("the verdict on two runs", () => {
  const side = (action: string | undefined, costUsd: number) => ({ action, positive: true, costUsd, isGuessed: false })
  const comparison = { left: { durationMs: 1_000 }, durationDeltaMs: 500, divergence: null }

  it("says outcome, cost and time", () => {
    assert.strictEqual(
      verdictOf(side("go", 1), side("go", 1.41), comparison),
      "Same outcome, the right run 41 % more expensive, 500 ms slower; the messages do not differ."
    )
    assert.match(verdictOf(side("go", 0), side(undefined, 1), comparison), /^Only the left run has a decision, 500 ms/)
  })

  it("says the first difference", () => {
    const divergence = { left: { index: 57 }, what: "bob voted REJECT" }
    assert.match(
      verdictOf(side("go", 1), side("no", 1), { ...comparison, divergence }),
      /^Different outcome.*first difference at event 57: bob voted REJECT\.$/
    )
  })
})
