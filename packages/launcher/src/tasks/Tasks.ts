import { describeSqlError } from "@runplane/database"
import { isFinal } from "@runplane/domain"
import { forever, Shutdown } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { PackRegistry } from "../catalog/PackRegistry.ts"
import { ExampleRuns } from "../examples/ExampleRuns.ts"
import { type ControlPlaneSettings, controlPlaneForPeople, LauncherSettings } from "../LauncherSettings.ts"
import { People, type PeopleShape } from "../people/People.ts"
import { type Skill, skillsIn } from "./Skills.ts"
import { invalid, type TaskError, taskError } from "./TaskErrors.ts"
import { makeTaskLaunches, type TaskLaunches } from "./TaskLaunches.ts"
import { makeTaskMessages } from "./TaskMessages.ts"
import { makeTaskReads, type TaskCaller, type TaskReadOptions } from "./TaskReads.ts"
import type { ListRequest, SendRequest, TaskRequest } from "./TaskRequests.ts"
import { makeTaskRows, type TaskRow } from "./TaskRows.ts"
import { makeTaskRuns } from "./TaskRuns.ts"
import { streamOf, type TaskUpdate } from "./TaskStream.ts"
import { makeTaskSweep, SWEEP_MS } from "./TaskSweep.ts"
import type { Task } from "./TaskWire.ts"

/** How long a request waits at most for the end of its task. Milliseconds. */
export const LONGEST_WAIT_MS = 600_000
/** One read of a run that waits for its end. Milliseconds. */
const WAIT_STEP_MS = 10_000
/** How long a cancelled task is awaited. Milliseconds. */
const CANCEL_WAIT_MS = 5_000
/** Tasks of a caller that one list reads from the control plane before it filters by state. */
const MOST_REFRESHED = 200
/** Reads of the control plane at the same time. */
const READS = 4

export interface TaskPage {
  readonly tasks: ReadonlyArray<Task>
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}

export interface TasksShape {
  readonly skills: Effect.Effect<ReadonlyArray<Skill>, TaskError>
  readonly send: (caller: TaskCaller, request: SendRequest) => Effect.Effect<Task, TaskError>
  readonly sendStreaming: (
    caller: TaskCaller,
    request: SendRequest
  ) => Effect.Effect<Stream.Stream<TaskUpdate, TaskError>, TaskError>
  readonly get: (caller: TaskCaller, request: TaskRequest) => Effect.Effect<Task, TaskError>
  readonly list: (caller: TaskCaller, request: ListRequest) => Effect.Effect<TaskPage, TaskError>
  readonly cancel: (caller: TaskCaller, request: TaskRequest) => Effect.Effect<Task, TaskError>
  readonly subscribe: (
    caller: TaskCaller,
    request: TaskRequest
  ) => Effect.Effect<Stream.Stream<TaskUpdate, TaskError>, TaskError>
  readonly launches: () => { readonly done: number; readonly failed: number }
}

/**
 * The scenarios of the service as tasks of agents that speak A2A (docs/reference/a2a.md); undefined where
 * `A2A_ENABLED` is not set.
 */
export class Tasks extends Context.Service<Tasks, TasksShape | undefined>()("runplane/launcher/Tasks") {
  static readonly layerNone = Layer.succeed(Tasks, undefined)

  static readonly layer = Layer.effect(
    Tasks,
    Effect.gen(function* () {
      const { a2a, controlPlane } = yield* LauncherSettings
      const people = yield* People
      if (a2a === undefined) return undefined
      // The settings require both.
      if (people === undefined || controlPlane === undefined) {
        return yield* Effect.die(new Error("A2A_ENABLED needs LAUNCHER_DATABASE_URL and PROTO_CONTROL_PLANE_URL"))
      }
      return yield* makeTasks(people, controlPlane)
    })
  )
}

const sqlAway = (error: SqlError): TaskError =>
  taskError("Unavailable", `the database of the tasks does not answer: ${describeSqlError(error)}`)

const orAway = <A, R>(effect: Effect.Effect<A, TaskError | SqlError, R>): Effect.Effect<A, TaskError, R> =>
  Effect.catchTag(effect, "SqlError", (error) => Effect.fail(sqlAway(error)))

const makeTasks = Effect.fnUntraced(function* (people: PeopleShape, controlPlane: ControlPlaneSettings) {
  const settings = yield* LauncherSettings
  const { catalog } = yield* PackRegistry
  const { launch } = yield* ExampleRuns
  const shutdown = yield* Shutdown
  const rows = makeTaskRows(people.sql)
  const runs = yield* makeTaskRuns(controlPlane)
  const launches = yield* makeTaskLaunches({ rows, runs, launch })
  const base = controlPlaneForPeople(settings)
  const skills = catalog.pipe(
    Effect.map(skillsIn),
    Effect.mapError(({ message }) => taskError("Internal", message))
  )
  const pageOf = (runId: string) => (base === undefined ? undefined : `${base}/console/runs/${runId}`)
  yield* Effect.forkScoped(forever("a2a-tasks", makeTaskSweep({ rows, runs }), { first: SWEEP_MS }))
  return methodsOf({ rows, runs, skills, pageOf, launches, shutdown })
})

interface MethodOptions extends TaskReadOptions {
  readonly launches: TaskLaunches
  readonly shutdown: Shutdown["Service"]
}

/** The methods of A2A. */
const methodsOf = ({ launches, shutdown, ...options }: MethodOptions): TasksShape => {
  const { rows, runs, skills } = options
  const reads = makeTaskReads(options)
  const { look, owned, taskFrom } = reads
  const { accept } = makeTaskMessages({ rows, skills, launches, reads })

  /** The task when it has ended or needs inputs; after `LONGEST_WAIT_MS`, and when the service stops, as it is. */
  const settled = Effect.fnUntraced(function* (caller: TaskCaller, id: string) {
    yield* Effect.raceFirst(launches.settled(id), shutdown.begun)
    const until = (yield* Clock.currentTimeMillis) + LONGEST_WAIT_MS
    while (true) {
      const row = yield* owned(caller, id)
      const looked = yield* look(row, { withArtifacts: "whole", waitMs: WAIT_STEP_MS })
      const { state } = looked.status
      const isOpen = state === "TASK_STATE_SUBMITTED" || state === "TASK_STATE_WORKING"
      if (!isOpen || (yield* Clock.currentTimeMillis) >= until || (yield* shutdown.stopping)) return { row, looked }
      // Without a run nothing has waited.
      if (looked.run === undefined) yield* Effect.sleep(RUNLESS_PAUSE_MS)
    }
  })

  const send = Effect.fn("Tasks.send")(function* (caller: TaskCaller, request: SendRequest) {
    const id = yield* accept(caller, request.message)
    if (request.returnImmediately) {
      const row = yield* owned(caller, id)
      return taskFrom(row, yield* look(row, { withArtifacts: "now" }), request.historyLength)
    }
    const { looked, row } = yield* settled(caller, id)
    return taskFrom(row, looked, request.historyLength)
  })

  const updates = (caller: TaskCaller, id: string, historyLength: number | undefined, since: number | undefined) =>
    streamOf({
      since,
      runs,
      settled: launches.settled(id),
      read: (withArtifacts) =>
        orAway(
          Effect.gen(function* () {
            const row = yield* owned(caller, id)
            const looked = yield* look(row, { withArtifacts })
            return { row, looked, task: taskFrom(row, looked, historyLength) }
          })
        )
    })

  const sendStreaming = Effect.fn("Tasks.sendStreaming")(function* (caller: TaskCaller, request: SendRequest) {
    const id = yield* accept(caller, request.message)
    return updates(caller, id, request.historyLength, request.since)
  })

  const get = Effect.fn("Tasks.get")(function* (caller: TaskCaller, { historyLength, id }: TaskRequest) {
    const row = yield* owned(caller, id)
    return taskFrom(row, yield* look(row, { withArtifacts: "now" }), historyLength)
  })

  const list = Effect.fn("Tasks.list")(function* (caller: TaskCaller, request: ListRequest) {
    const { changedAfter, contextId, historyLength, includeArtifacts, pageSize, pageToken, state } = request
    const withArtifacts = includeArtifacts ? "now" : "no"
    if (pageToken !== undefined && (yield* rows.find(pageToken, caller.id)) === undefined) {
      return yield* invalid("pageToken", "is not one of an earlier page, or its task is gone")
    }
    const lookAll = (found: ReadonlyArray<TaskRow>, artifacts: "no" | "now") =>
      Effect.forEach(
        found,
        (row) =>
          look(row, { withArtifacts: artifacts }).pipe(
            Effect.map((looked) => [taskFrom(row, looked, historyLength)]),
            // Its run was deleted meanwhile.
            Effect.catchIf(
              (error) => !isSqlError(error) && error.kind === "TaskNotFound",
              () => Effect.succeed([])
            )
          ),
        { concurrency: READS }
      )
    // The states of open tasks are those of their runs.
    if (state !== undefined || changedAfter !== undefined) {
      yield* lookAll(yield* rows.open(caller.id, MOST_REFRESHED), "no")
    }
    if (state === "none") return { tasks: [], nextPageToken: "", pageSize, totalSize: 0 }
    const filter = { caller: caller.id, contextId, state, changedAfter }
    const found = yield* rows.page(filter, pageToken, pageSize + 1)
    const page = found.slice(0, pageSize)
    return {
      tasks: (yield* lookAll(page, withArtifacts)).flat(),
      nextPageToken: found.length > pageSize ? (page.at(-1)?.id ?? "") : "",
      pageSize,
      totalSize: yield* rows.count(filter)
    }
  })

  const cancel = Effect.fn("Tasks.cancel")(function* (caller: TaskCaller, { historyLength, id }: TaskRequest) {
    const row = yield* owned(caller, id)
    const notCancelable = (why: string) => taskError("TaskNotCancelable", `task ${id} cannot be canceled: ${why}`)
    if (row.state === "TASK_STATE_INPUT_REQUIRED") {
      yield* rows.note(row, "TASK_STATE_CANCELED", yield* Clock.currentTimeMillis, "canceled before it had its inputs")
      const after = yield* owned(caller, id)
      if (after.state !== "TASK_STATE_CANCELED") return yield* notCancelable("another message has continued it")
      return taskFrom(after, yield* look(after, { withArtifacts: "no" }), historyLength)
    }
    const { run, status } = yield* look(row, { withArtifacts: "no" })
    if (isFinal(status.state)) return yield* notCancelable("it has ended")
    if (run === undefined) return yield* notCancelable("its launch is under way: repeat the request")
    yield* Effect.mapError(runs.cancel(run, `canceled by ${caller.id} over A2A`), (error) =>
      error.kind === "TaskNotCancelable" ? notCancelable(error.message) : error
    )
    const after = yield* look(row, { withArtifacts: "no", waitMs: CANCEL_WAIT_MS })
    return taskFrom(row, after, historyLength)
  })

  const subscribe = Effect.fn("Tasks.subscribe")(function* (
    caller: TaskCaller,
    { historyLength, id, since }: TaskRequest
  ) {
    const row = yield* owned(caller, id)
    const { status } = yield* look(row, { withArtifacts: "no" })
    if (isFinal(status.state) && since === undefined) {
      return yield* taskError("UnsupportedOperation", `task ${id} has ended: GetTask reads it`)
    }
    return updates(caller, id, historyLength, since)
  })

  return {
    skills,
    send: (caller, request) => orAway(send(caller, request)),
    sendStreaming: (caller, request) => orAway(sendStreaming(caller, request)),
    get: (caller, request) => orAway(get(caller, request)),
    list: (caller, request) => orAway(list(caller, request)),
    cancel: (caller, request) => orAway(cancel(caller, request)),
    subscribe: (caller, request) => orAway(subscribe(caller, request)),
    launches: launches.counts
  }
}

/** Between two looks for a run that is not there yet. Milliseconds. */
const RUNLESS_PAUSE_MS = 500
