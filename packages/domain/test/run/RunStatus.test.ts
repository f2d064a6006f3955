import { assert, describe, it } from "@effect/vitest"
import { decideTransition, isTerminal, RunStatus } from "@runplane/domain"

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
  })
})
