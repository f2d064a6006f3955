import { assert, describe, it } from "@effect/vitest"
import { decideTransition, isTerminal, nonTerminalStatuses, pathTo, RunStatus } from "@runplane/domain"

const allowed: Readonly<Record<RunStatus, ReadonlyArray<RunStatus>>> = {
  queued: ["starting", "failed", "cancelled"],
  starting: ["binding_session", "failed", "cancelled"],
  binding_session: ["running", "failed", "cancelled"],
  running: ["suspended", "completed", "failed", "cancelled"],
  suspended: ["running", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: []
}
const terminal: ReadonlyArray<RunStatus> = ["completed", "failed", "cancelled"]
const pairs = RunStatus.literals.flatMap((from) => RunStatus.literals.map((to) => ({ from, to })))

describe("RunStatus", () => {
  it.each(pairs)("decides $from -> $to as the transition table says", ({ from, to }) => {
    const isNoOp = from === to || (terminal.includes(from) && terminal.includes(to))
    assert.strictEqual(decideTransition(from, to), isNoOp ? "no-op" : allowed[from].includes(to) ? "apply" : "reject")
  })

  it("calls exactly completed, failed and cancelled terminal", () => {
    assert.deepStrictEqual(RunStatus.literals.filter(isTerminal), terminal)
    assert.deepStrictEqual(
      nonTerminalStatuses,
      RunStatus.literals.filter((status) => !terminal.includes(status))
    )
  })

  it.each(pairs)("walks from $from to $to over allowed steps only, or not at all", ({ from, to }) => {
    const path = pathTo(from, to)
    if (path === undefined) return
    let current = from
    for (const step of path) {
      assert.strictEqual(decideTransition(current, step), "apply")
      current = step
    }
    assert.strictEqual(current, to)
  })

  it("walks a queued run forward to completed through every status in between", () => {
    assert.deepStrictEqual(pathTo("queued", "completed"), ["starting", "binding_session", "running", "completed"])
  })

  it("takes the direct step to failed from anywhere that is not terminal", () => {
    for (const status of nonTerminalStatuses) assert.deepStrictEqual(pathTo(status, "failed"), ["failed"])
  })

  it("finds no way out of a terminal status and none back to queued", () => {
    assert.isUndefined(pathTo("completed", "running"))
    assert.isUndefined(pathTo("running", "queued"))
  })
})
