import { isFinal, isTerminal } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { askParts, type Skill } from "./Skills.ts"
import { type TaskError, taskNotFound } from "./TaskErrors.ts"
import type { TaskRow, TaskRows } from "./TaskRows.ts"
import type { TaskRuns } from "./TaskRuns.ts"
import {
  artifactsOf,
  type SeenRun,
  stateOfRun,
  stateTimeOf,
  statusOf,
  statusText,
  statusWithoutRun,
  taskOf
} from "./TaskView.ts"
import type { Artifact, Task, TaskStatus } from "./TaskWire.ts"

/** A launched session without a run: how long the control plane may take to record it. Milliseconds. */
const RECORD_WAIT_MS = 86_400_000

export interface TaskReadOptions {
  readonly rows: TaskRows
  readonly runs: TaskRuns
  readonly skills: Effect.Effect<ReadonlyArray<Skill>, TaskError>
  /** Address of the page of a run. */
  readonly pageOf: (runId: string) => string | undefined
}

/** Who sends a request. */
export interface TaskCaller {
  /** The actor. Its tasks are its own. */
  readonly id: string
  /** The person that it is; undefined where it is not known as one. */
  readonly person: string | undefined
}

export interface LookOptions {
  /** `whole`: with the seal, for which the read waits for some seconds. */
  readonly withArtifacts: "no" | "now" | "whole"
  /** How long the read waits for the end of the run. Milliseconds. */
  readonly waitMs?: number
}

/** What a task is now. */
export interface LookedTask {
  readonly status: TaskStatus
  /** Undefined: there is none, or none yet. */
  readonly run: SeenRun["run"] | undefined
  readonly artifacts: ReadonlyArray<Artifact>
}

const withoutRun = (status: TaskStatus): LookedTask => ({ status, run: undefined, artifacts: [] })

/** Reads tasks: their rows, and their runs at the control plane. */
export const makeTaskReads = ({ pageOf, rows, runs, skills }: TaskReadOptions) => {
  const owned = (caller: TaskCaller, id: string) =>
    Effect.flatMap(rows.find(id, caller.id), (row) =>
      row === undefined ? Effect.fail(taskNotFound(id)) : Effect.succeed(row)
    )

  /** The run of a task as it is now. Undefined: there is none, or none yet. */
  const seen = Effect.fnUntraced(function* (row: TaskRow, waitMs?: number) {
    const run = yield* runs.find(row.id, waitMs)
    if (run === undefined) return undefined
    const card = yield* runs.card(run)
    const questions = isTerminal(run.status) ? [] : yield* rows.questions(run.runtimeSessionId)
    return { run, card, questions } satisfies SeenRun
  })

  const statusOfRun = (row: TaskRow, found: SeenRun): TaskStatus =>
    statusOf(row, stateOfRun(found.run.status, found.card?.verdict), stateTimeOf(found.run), statusText(found))

  /** A task whose run is not there: not yet, not any more, or never. */
  const missing = Effect.fnUntraced(function* (row: TaskRow) {
    if (isFinal(row.state)) {
      yield* rows.remove(row.id)
      return yield* taskNotFound(row.id)
    }
    const now = yield* Clock.currentTimeMillis
    if (row.launchedAtUnixMs === undefined || now - row.launchedAtUnixMs <= RECORD_WAIT_MS) {
      return withoutRun(statusWithoutRun(row))
    }
    const why = "the control plane has not recorded the run"
    yield* rows.note(row, "TASK_STATE_FAILED", now, why)
    return withoutRun(statusOf(row, "TASK_STATE_FAILED", now, why))
  })

  /** What a task is now. Its state is noted in its row; a task whose run was deleted is removed. */
  const look = Effect.fnUntraced(function* (row: TaskRow, { waitMs, withArtifacts }: LookOptions) {
    if (row.state === "TASK_STATE_INPUT_REQUIRED") {
      return withoutRun(statusWithoutRun(row, askParts(row.reason ?? "inputs are required", row.skill, yield* skills)))
    }
    const hasNoRun = row.scenarioRef === undefined || (row.reason !== undefined && isFinal(row.state))
    if (hasNoRun) return withoutRun(statusWithoutRun(row))
    const found = yield* seen(row, waitMs)
    if (found === undefined) return yield* missing(row)
    const status = statusOfRun(row, found)
    yield* rows.note(row, status.state, Date.parse(status.timestamp))
    const isDecided = status.state === "TASK_STATE_COMPLETED" && withArtifacts !== "no"
    const artifacts = isDecided ? artifactsOf(yield* runs.decided(found.run, withArtifacts === "whole")) : []
    const looked: LookedTask = { status, run: found.run, artifacts }
    return looked
  })

  const taskFrom = (row: TaskRow, looked: LookedTask, historyLength: number | undefined): Task =>
    taskOf(row, { ...looked, historyLength, pageOf })

  return { owned, look, taskFrom }
}
export type TaskReads = ReturnType<typeof makeTaskReads>
