import { assert, describe, it } from "@effect/vitest"
import { RunStatus, VERDICTS } from "@runplane/domain"
import { taskIdOf } from "../../src/tasks/TaskIds.ts"
import { stateOfRun } from "../../src/tasks/TaskView.ts"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("the state of a task", () => {
  it("follows from the run, and at its end from the verdict", () => {
    for (const status of RunStatus.literals) {
      for (const verdict of [undefined, ...VERDICTS]) {
        const expected = {
          queued: "TASK_STATE_SUBMITTED",
          starting: "TASK_STATE_SUBMITTED",
          binding_session: "TASK_STATE_SUBMITTED",
          running: "TASK_STATE_WORKING",
          suspended: "TASK_STATE_WORKING",
          completed:
            verdict === "for" || verdict === "against" || verdict === "decided"
              ? "TASK_STATE_COMPLETED"
              : "TASK_STATE_FAILED",
          failed:
            verdict === "for" || verdict === "against" || verdict === "decided"
              ? "TASK_STATE_COMPLETED"
              : "TASK_STATE_FAILED",
          cancelled: "TASK_STATE_CANCELED"
        }[status]
        assert.strictEqual(stateOfRun(status, verdict), expected, `${status} ${verdict}`)
      }
    }
  })
})

describe("the id of a task", () => {
  it("follows from caller and message, and from nothing else", () => {
    assert.match(taskIdOf("ana", "m"), UUID)
    assert.strictEqual(taskIdOf("ana", "m"), taskIdOf("ana", "m"))
    assert.strictEqual(
      new Set([taskIdOf("ana", "m"), taskIdOf("bo", "m"), taskIdOf("ana", "n"), taskIdOf("anam", "")]).size,
      4
    )
  })
})
