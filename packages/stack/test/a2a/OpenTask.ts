import { assert } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { type CallerName, type Court, rpc, taskIn } from "./TaskStage.ts"

/** Waits until the agents of a task run and the control plane has its run: then the test may open the session. */
export const openTask = (court: Court, caller: CallerName, id: string) =>
  until(
    Effect.map(rpc(court, caller, "GetTask", { id }), (answer) => {
      const task = taskIn(answer)
      assert.notStrictEqual(task.status.state, "TASK_STATE_FAILED", answer.text)
      return task
    }),
    ({ metadata }) => metadata.runId === id,
    "100 millis"
  )
