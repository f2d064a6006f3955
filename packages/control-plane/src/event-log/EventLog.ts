import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { FrameNormaliser } from "../platform/deployment/FrameNormaliser.ts"
import { forever } from "../platform/loop/Forever.ts"
import type { AppendFailed } from "../platform/postgres/AppendFailed.ts"
import { AppendQueue, WRITERS } from "./append/AppendQueue.ts"
import {
  type Appended,
  AppendRequest,
  type Changed,
  type ChangeRequest,
  type CreateRequest,
  type ObserveRequest,
  type RebuildRequest,
  type RecordRequest,
  type RunAlreadyExists,
  type RunNotFound,
  type StreamCursorMoved
} from "./append/AppendRequest.ts"
import { partsOfBytes } from "./append/FrameBytes.ts"
import { inTurn, makeGroupCommit } from "./append/GroupCommit.ts"
import { prepareFrame } from "./append/PreparedFrame.ts"
import { EventLogSettings } from "./EventLogSettings.ts"
import { ProjectionCache } from "./projection/ProjectionCache.ts"

/**
 * The one way into the log. An append is atomic: raw and canonical events, projection, metrics, messages, status and
 * stream cursor commit together or not at all, and subscribers receive it after the commit.
 *
 * Appends that wait at the same time share a transaction (group commit, `AppendQueue.ts`), of any runs: many quiet runs
 * cost about as much as one busy one. A refused append (unknown run, lost cursor, forbidden transition) leaves the
 * others untouched. `GroupCommit.ts` handles failed transactions.
 */
export class EventLog extends Context.Service<
  EventLog,
  {
    /** Stores the new ones of these frames of a run's session, in their order. */
    readonly observe: (
      request: ObserveRequest
    ) => Effect.Effect<Appended, RunNotFound | StreamCursorMoved | AppendFailed>
    /** Adds events, and further rows, to a run. */
    readonly record: (request: RecordRequest) => Effect.Effect<Appended, RunNotFound | AppendFailed>
    /** Changes the status of a run, when the transition table allows it; the answer says whether it did. */
    readonly change: (request: ChangeRequest) => Effect.Effect<Changed, RunNotFound | AppendFailed>
    /** Creates a run together with its first events. */
    readonly create: (request: CreateRequest) => Effect.Effect<Appended, RunAlreadyExists | AppendFailed>
    /** Replaces the projection and the metrics of a run. */
    readonly rebuild: (request: RebuildRequest) => Effect.Effect<Appended, RunNotFound | AppendFailed>
  }
>()("runplane/control-plane/EventLog") {
  static readonly layer = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const cache = yield* ProjectionCache
      const normaliser = yield* FrameNormaliser
      const queue = yield* AppendQueue
      const { appendBytes } = yield* EventLogSettings
      const commit = yield* makeGroupCommit
      const write = Effect.flatMap(queue.takeGroup, (group) => {
        if (group === undefined) return Effect.void
        const { appends, release } = group
        // The callers of a group wait, so a defect is theirs, too.
        const fail = (cause: Cause.Cause<never>) =>
          Cause.hasDies(cause)
            ? Effect.forEach(appends, ({ complete }) => complete(Exit.die(Cause.squash(cause))), { discard: true })
            : Effect.void
        return Effect.ensuring(Effect.onError(commit(appends), fail), release)
      })
      for (let number = 0; number < WRITERS; number++) {
        yield* Effect.forkScoped(forever("append-writers", write, { wake: queue.ready }))
      }

      const prepared = ({ frames, runId }: ObserveRequest) => {
        const participants = cache.participants(runId)
        return frames.map((frame) => prepareFrame(normaliser, participants, frame))
      }
      /** Prepares frames before they enter the queue, so that a retried transaction does not prepare them again. */
      const append = (request: AppendRequest) =>
        Effect.suspend(() => queue.append(request, request._tag === "Observe" ? prepared(request) : []))
      // The kind of an append decides its possible refusals; any other one is a fault of the log.
      const { Change, Create, Observe, Rebuild, Record } = AppendRequest
      /** Frames beyond the size of one append are stored in several, one after the other. */
      const observeAll = (request: ObserveRequest) => {
        const [first, ...others] = partsOfBytes(request.frames, appendBytes)
        if (first === undefined || others.length === 0) return append(Observe(request))
        return inTurn(request.cursor, [first, ...others], (frames, cursor) =>
          append(Observe({ ...request, frames, ...(cursor !== undefined && { cursor }) }))
        )
      }
      const impossible = { RunAlreadyExists: Effect.die, StreamCursorMoved: Effect.die } as const
      return EventLog.of({
        // In the caller's fiber, whose log names the run with its session and trace.
        observe: (request) =>
          observeAll(request).pipe(
            Effect.catchTag("RunAlreadyExists", Effect.die),
            Effect.tap(({ refusals = [] }) =>
              Effect.forEach(refusals, (reason) => Effect.logError(`the database refused a frame: ${reason}`))
            )
          ),
        record: (request) => Effect.catchTags(append(Record(request)), impossible),
        change: (request) => Effect.catchTags(append(Change(request)), impossible),
        create: (request) =>
          Effect.catchTags(append(Create(request)), { RunNotFound: Effect.die, StreamCursorMoved: Effect.die }),
        rebuild: (request) => Effect.catchTags(append(Rebuild(request)), impossible)
      })
    })
  )
}
