import type { RunStreamEvent } from "@runplane/api"
import {
  type CanonicalEvent,
  isFinal,
  noSubjects,
  sentenceOf,
  sentenceText,
  subjectName,
  withSubject
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { oneLine } from "../common/LaunchErrors.ts"
import { type TaskError, taskError } from "./TaskErrors.ts"
import type { TaskRow } from "./TaskRows.ts"
import type { TaskRuns } from "./TaskRuns.ts"
import { type SeenRun, statusOf } from "./TaskView.ts"
import type { Artifact, StreamResponse, Task, TaskStatus } from "./TaskWire.ts"

/** An object of a stream with the index of the event that it reaches. */
export interface TaskUpdate {
  readonly index: number
  readonly response: StreamResponse
}

/** A task as it was read. */
export interface ReadTask {
  readonly row: TaskRow
  readonly task: Task
  readonly looked: {
    readonly status: TaskStatus
    readonly run: SeenRun["run"] | undefined
    readonly artifacts: ReadonlyArray<Artifact>
  }
}

export interface StreamOptions {
  readonly since: number | undefined
  readonly runs: Pick<TaskRuns, "follow">
  /** Waits for the end of the launch. */
  readonly settled: Effect.Effect<void>
  readonly read: (withArtifacts: "no" | "whole") => Effect.Effect<ReadTask, TaskError>
}

/** Between two reads of a task that has to change soon. Milliseconds. */
const PAUSE_MS = 250

/** The words of an agent behind its act. */
const because = (words: string | undefined): string => (words === undefined ? "" : `: ${words}`)

/** The sentence about an event that readers of a task get; undefined for the others. */
const textOf = (event: CanonicalEvent, subject: string | undefined): string | undefined => {
  const sentence = sentenceOf(event, subject)
  if (sentence === undefined || sentence.weight === "low" || sentence.weight === "repeated") return undefined
  return sentence.kind === "end" ? undefined : `${sentence.who} ${sentenceText(sentence, because)}`
}

/**
 * The task, then an update for each event that a reader of a narrative gets, then the artifacts and the last state.
 * The text of an index is the same for each reader, because each reads the run from its first event on. With `since`
 * the events behind that index come, also those before this request.
 */
export const streamOf = ({ read, runs, settled, since }: StreamOptions): Stream.Stream<TaskUpdate, TaskError> =>
  Stream.unwrap(
    Effect.map(read("no"), (first) => {
      const index = first.looked.run?.lastEventIndex ?? 0
      // A stream that breaks after the task alone continues from where it began.
      const head = Stream.succeed<TaskUpdate>({ index: since ?? index, response: { task: first.task } })
      const { state } = first.looked.status
      if (state === "TASK_STATE_INPUT_REQUIRED") return head
      const rest = Stream.unwrap(
        Effect.map(begun(first, read, settled), (task) =>
          task.looked.run === undefined
            ? Stream.succeed(lastUpdate(task))
            : Stream.concat(eventUpdates(task, task.looked.run, since ?? index, runs), endOf(read))
        )
      )
      return Stream.concat(head, rest)
    })
  )

/** The task once it has a run, or has ended without one. */
const begun = Effect.fnUntraced(function* (
  first: ReadTask,
  read: StreamOptions["read"],
  settled: StreamOptions["settled"]
) {
  let task = first
  if (task.looked.run === undefined) yield* settled
  while (task.looked.run === undefined && !isFinal(task.looked.status.state)) {
    task = yield* read("no")
    if (task.looked.run === undefined) yield* Effect.sleep(PAUSE_MS)
  }
  return task
})

const eventUpdates = (
  { row }: ReadTask,
  run: SeenRun["run"],
  after: number,
  runs: StreamOptions["runs"]
): Stream.Stream<TaskUpdate, TaskError> => {
  let subjects = noSubjects
  const updateOf = (frame: RunStreamEvent): ReadonlyArray<TaskUpdate> => {
    if (frame.event !== "canonical_event") return []
    const { data: event } = frame
    subjects = withSubject(subjects, event)
    if (event.index <= after) return []
    const text = textOf(event, subjectName(subjects, event))
    if (text === undefined) return []
    const status = statusOf(row, "TASK_STATE_WORKING", Date.parse(event.ts), text, String(event.index))
    return [
      {
        index: event.index,
        response: {
          statusUpdate: {
            taskId: row.id,
            contextId: row.contextId,
            status,
            metadata: { index: event.index, type: event.type }
          }
        }
      }
    ]
  }
  return runs.follow(run, 0).pipe(
    Stream.mapError((failure) => taskError("Unavailable", `the run cannot be followed: ${oneLine(failure)}`)),
    Stream.flatMap((frame) => Stream.fromIterable(updateOf(frame)))
  )
}

/** The artifacts, and the last state. */
const endOf = (read: StreamOptions["read"]): Stream.Stream<TaskUpdate, TaskError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      let task = yield* read("whole")
      while (!isFinal(task.looked.status.state)) {
        yield* Effect.sleep(PAUSE_MS)
        task = yield* read("whole")
      }
      const { looked, row } = task
      const index = looked.run?.lastEventIndex ?? 0
      const artifacts = looked.artifacts.map(
        (artifact): TaskUpdate => ({
          index,
          response: {
            artifactUpdate: {
              taskId: row.id,
              contextId: row.contextId,
              artifact,
              append: false,
              lastChunk: true,
              metadata: { index }
            }
          }
        })
      )
      return Stream.fromIterable([...artifacts, lastUpdate(task)])
    })
  )

const lastUpdate = ({ looked, row }: ReadTask): TaskUpdate => {
  const index = looked.run?.lastEventIndex ?? 0
  return {
    index,
    response: {
      statusUpdate: { taskId: row.id, contextId: row.contextId, status: looked.status, metadata: { index } }
    }
  }
}
