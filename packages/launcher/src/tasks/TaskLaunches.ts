import type { ExampleRunRequest, LauncherError } from "@runplane/api"
import { forever } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { SqlError } from "effect/sql/SqlError"
import type { ExampleRuns } from "../examples/ExampleRuns.ts"
import type { TaskRow, TaskRows } from "./TaskRows.ts"
import type { TaskRuns } from "./TaskRuns.ts"

/** The tag of the runs of tasks. */
const TAG = "a2a"
/** How often launches are repeated that a database or a control plane that was away has kept back. Milliseconds. */
const EVERY_MS = 5_000

export interface TaskLaunches {
  /** Begins the launches that are due. */
  readonly wake: Effect.Effect<void>
  /** Waits until the launch of a task has ended, where one is under way in this process. */
  readonly settled: (id: string) => Effect.Effect<void>
  /** Launches that have ended, since the start of the service. */
  readonly counts: () => { readonly done: number; readonly failed: number }
}

export interface TaskLaunchOptions {
  readonly rows: TaskRows
  readonly runs: Pick<TaskRuns, "find">
  readonly launch: ExampleRuns["Service"]["launch"]
}

/** What a task launches. The caller is the requester of the run. */
const requestOf = ({ caller, inputs = {}, scenarioRef = "", template }: TaskRow): ExampleRunRequest => ({
  scenarioRef,
  inputs,
  ...(template !== undefined && { templateId: template }),
  bootstrapAgents: true,
  tags: [TAG],
  requester: { actorId: caller, actorType: caller.startsWith("user:") ? "user" : "service" }
})

/**
 * Launches tasks, each in a fiber of the service: a caller that disconnects ends none. The session of a task follows
 * from its caller and its message. A restarted service reads whether the control plane has the run, and launches only
 * the tasks without one.
 */
export const makeTaskLaunches = Effect.fnUntraced(function* ({ launch, rows, runs }: TaskLaunchOptions) {
  const fibers = yield* FiberMap.make<string, void, never>()
  const wakes = yield* Queue.sliding<void>(1)
  let done = 0
  let failed = 0

  const settle = (row: TaskRow, exit: Exit.Exit<unknown, LauncherError>): Effect.Effect<void, SqlError> => {
    if (Exit.isSuccess(exit)) {
      done++
      return Effect.asVoid(rows.launched(row.id, undefined))
    }
    // A service that stops has ended the agents: the next one reads what became of the run.
    if (Exit.hasInterrupts(exit)) return Effect.void
    failed++
    const error = Exit.findErrorOption(exit)
    const why = error._tag === "Some" ? `${error.value.errorCode}: ${error.value.message}` : "the launch failed"
    return Effect.asVoid(rows.launched(row.id, why))
  }

  const one = Effect.fn("TaskLaunches.launch")(function* (due: TaskRow) {
    // Another fiber may have ended the launch since the rows were read.
    const row = yield* rows.find(due.id, due.caller)
    if (row === undefined || row.launchedAtUnixMs !== undefined) return
    if ((yield* runs.find(row.id)) !== undefined) {
      yield* rows.launched(row.id, undefined)
      return
    }
    const { contentSha256, id, messageId, requester } = row
    const exit = yield* Effect.exit(
      launch(requestOf(row), { key: messageId, request: contentSha256, sessionId: id }, requester)
    )
    yield* settle(row, exit)
  })

  /** A failure keeps the row due. */
  const attempt = (row: TaskRow): Effect.Effect<void> =>
    one(row).pipe(Effect.catchCause((cause) => Effect.logWarning(`the launch of task ${row.id} is repeated`, cause)))

  const begin = Effect.flatMap(rows.due, (due) =>
    Effect.forEach(due, (row) => FiberMap.run(fibers, row.id, attempt(row), { onlyIfMissing: true }), { discard: true })
  )

  yield* Effect.forkScoped(forever("a2a-launches", begin, { wake: Queue.take(wakes), every: EVERY_MS }))

  const launches: TaskLaunches = {
    wake: Effect.catch(begin, () => Effect.asVoid(Queue.offer(wakes, undefined))),
    settled: (id) =>
      Effect.flatMap(
        FiberMap.get(fibers, id),
        Option.match({ onNone: () => Effect.void, onSome: (fiber) => Effect.asVoid(Fiber.await(fiber)) })
      ),
    counts: () => ({ done, failed })
  }
  return launches
})
