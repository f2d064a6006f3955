import { assert, describe, it } from "@effect/vitest"
import { Run } from "@runplane/api"
import * as Schema from "effect/Schema"
import { runColumns } from "../../../src/commands/runs/RunColumns.ts"
import { tableLines } from "../../../src/Table.ts"
import { widthOf } from "../../../src/TextWidth.ts"

const ID = "6f1c3b66-5208-4b57-a55a-d51d1a5ccb83"
const NOW = Date.parse("2026-07-01T12:00:00Z")

const run = (status: Run["status"], decision?: Partial<NonNullable<Run["decision"]>>): Run =>
  Schema.decodeUnknownSync(Run)({
    id: ID,
    runId: ID,
    status,
    mode: "live",
    runtimeKind: "rust",
    runtimeSessionId: "s-1",
    traceId: "",
    lastEventSeq: 1,
    lastEventIndex: 1,
    tags: [],
    metadata: { scenarioRef: "incident/region-failover@1.0.0" },
    createdAt: "2026-07-01T11:59:00Z",
    updatedAt: "2026-07-01T12:00:00Z",
    archivedAt: null,
    ...(decision !== undefined && {
      decision: { verdict: "for", word: "Approved", counts: "3 for", asOfSeq: 1, ...decision }
    })
  })

const linesOf = (runs: ReadonlyArray<Run>, width: number) => tableLines(runColumns(NOW), runs, width)

describe("the list of runs", () => {
  const question = "decide whether checkout-api fails over to north-2, and when its traffic returns"
  const runs = [run("completed", { question })]

  it("shows question and outcome on every width, and the rest where the question is readable beside it", () => {
    assert.deepStrictEqual(linesOf(runs, 80), [
      "RUN                                   AGE  OUTCOME   QUESTION",
      `${ID}  60s  Approved  decide whether checkout-ap…`
    ])
    assert.match(linesOf(runs, 120)[0] ?? "", /^RUN +STATUS +AGE +TOOK +OUTCOME +QUESTION$/)
    assert.match(linesOf(runs, 200)[0] ?? "", /^RUN +STATUS +AGE +TOOK +OUTCOME +SCENARIO +QUESTION$/)
    for (const width of [80, 100, 120, 160, 200]) {
      for (const line of linesOf(runs, width)) assert.isAtMost(widthOf(line), width)
    }
  })

  it("does not let a right-to-left question turn the line around it", () => {
    const hebrew = "\u05d4\u05d0\u05dd \u05dc\u05d0\u05e9\u05e8?"
    const [, line = ""] = linesOf([run("completed", { question: `${hebrew}\u202e` })], 80)
    assert.isTrue(line.endsWith(`Approved  \u2068${hebrew}\u2069`), line)
  })

  for (const [status, decision, outcome] of [
    ["completed", { verdict: "against", word: "Declined" }, "Declined"],
    ["completed", { verdict: "none", word: "No decision" }, "No decision"],
    ["failed", { verdict: "none", word: "No decision" }, "failed"],
    ["running", { verdict: "open", word: "Open" }, "running"],
    ["suspended", { verdict: "suspended", word: "Suspended" }, "suspended"],
    ["queued", undefined, "queued"]
  ] as const) {
    it(`has ${outcome} as the outcome of a ${status} run that is ${decision?.word ?? "not judged"}`, () => {
      const [, line = ""] = linesOf([run(status, decision)], 80)
      assert.include(line, `60s  ${outcome.padEnd("OUTCOME".length)}  incident/`)
    })
  }
})
