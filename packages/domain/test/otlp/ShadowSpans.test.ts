import { assert, describe, it } from "@effect/vitest"
import { at, dataOf, ofType } from "./support/Read.ts"
import { chat, span } from "./support/Spans.ts"
import { OPTIONS, runFold } from "./support/TraceFolds.ts"

type SpanOfTest = ReturnType<typeof span>

const ofShadow = (one: SpanOfTest): SpanOfTest => ({
  ...one,
  resource: { ...one.resource, "runplane.shadow": "risk~new" }
})
/** The fold of a session whose telemetry counts, or whose signals have the usage. */
const foldOf = (usage: boolean, ...spans: ReadonlyArray<SpanOfTest>) =>
  runFold([at(1_000, ...spans)], { ...OPTIONS, joined: { usage } })
const callsIn = ({ events }: ReturnType<typeof foldOf>) => ofType(events, "llm.call.completed").map(dataOf)

describe("telemetry of a shadow", () => {
  it("has its model calls in the log under its name, and no call, token or cost in the run", () => {
    const fold = foldOf(true, ofShadow(span("call", [0, 9], chat(100, 10))), span("own", [0, 9], chat(7, 3)))
    const shadow = callsIn(fold).find((data) => data["shadow"] !== undefined)
    assert.deepInclude(shadow, {
      sender: "risk~new",
      countedReason: "an agent made it that is tried beside a participant"
    })
    assert.deepInclude(Object(shadow?.["shadow"]), { calls: 1, totalTokens: 110 })
    const { totals } = fold.state.llm
    assert.deepStrictEqual([totals.callCount, totals.promptTokens], [1, 7])
  })

  it("is priced beside the run", () => {
    const fold = foldOf(true, ofShadow(span("call", [0, 9], chat(1_000_000, 0))))
    const used = Object(callsIn(fold)[0]?.["shadow"])
    assert.isAbove(used["estimatedCostUsd"], 0)
    assert.strictEqual(fold.state.llm.totals.estimatedCostUsd, 0)
  })

  it("counts a call of the shadow once, where two spans report it", () => {
    const outer = ofShadow(span("outer", [0, 9], chat(10, 1)))
    const inner = ofShadow(span("inner", [2, 7], chat(10, 1), { parent: "outer" }))
    const calls = callsIn(foldOf(true, outer, inner)).map((data) => Object(data["shadow"])["calls"])
    assert.deepStrictEqual(calls.toSorted(), [0, 1])
  })

  it("counts its calls also where the signals of the session have the usage of its agents", () => {
    const [call] = callsIn(foldOf(false, ofShadow(span("call", [0, 9], chat(100, 10)))))
    assert.deepInclude(Object(call?.["shadow"]), { calls: 1, totalTokens: 110 })
  })

  it("says nothing else in the run: no tool, no statement", () => {
    const vote = { name: "runplane.vote", at: "5000000", attributes: { proposal_id: "p1", vote: "approve" } }
    const search = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search" }
    const tool = span("tool", [0, 5], search)
    const voting = { ...span("vote", [0, 5], {}), events: [vote] }
    assert.isNotEmpty(foldOf(true, tool).events)
    assert.isEmpty(foldOf(true, ofShadow(tool), ofShadow(voting)).events)
  })
})
