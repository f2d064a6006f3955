import { describeSqlError } from "@runplane/database"
import {
  artifactCreated,
  type EventDraft,
  isoTime,
  participantSeen,
  policyResolved,
  type RunId,
  type RunStatus,
  runCancelled,
  runCompleted,
  runFailed,
  runResumed,
  runStarted,
  runSuspended,
  sessionBound,
  sessionStateChanged,
  streamOpened
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import {
  type Appended,
  type ChangeRequest,
  type LockedRun,
  type ObservedFrame,
  RunNotFound,
  type StreamCursorMoved
} from "../event-log/append/AppendRequest.ts"
import { EventLog } from "../event-log/EventLog.ts"
import { contentDigest } from "../event-log/seal/HashChain.ts"
import { Ids } from "../platform/Ids.ts"
import type { AppendFailed } from "../platform/postgres/AppendFailed.ts"
import { CancelReasons } from "./CancelReasons.ts"
import type { TerminalSessionState, Write } from "./decide/Action.ts"
import type { ObservedRun } from "./decide/ObservedRun.ts"
import { ObservedRuns, traceContent } from "./ObservedRuns.ts"
import { PendingCancels } from "./PendingCancels.ts"

/** Pause before the retry of a failed transaction. Milliseconds. */
const RETRY_MS = 250

/** The result for frames: stored, or not because the cursor of the log has moved. */
export interface StoredFrames {
  readonly _tag: "Stored" | "Behind"
  readonly cursor: number
}

/**
 * The observer's appends. Each change of status is one append with its events, in the order that clients rely on; a
 * change that the transition table no longer allows (another observer, a caller's cancel) does nothing.
 */
export class RunWriter extends Context.Service<
  RunWriter,
  {
    /** Only a note on a reconnection is dropped when it cannot be stored; all other writes fail. */
    readonly write: (run: ObservedRun, write: Write) => Effect.Effect<Appended | undefined, RunNotFound | AppendFailed>
    /**
     * Appends frames after the cursor. A failed transaction is retried while the cursor stays the same; the log
     * recognises stored frames, so they are not stored twice.
     */
    readonly store: (
      runId: RunId,
      frames: ReadonlyArray<ObservedFrame>,
      cursor: number
    ) => Effect.Effect<StoredFrames, RunNotFound | StreamCursorMoved>
    /** The cursor of the log; waits while the database is away, and fails when the run has been deleted. */
    readonly cursor: (runId: RunId) => Effect.Effect<number, RunNotFound>
  }
>()("runplane/control-plane/RunWriter") {
  static readonly layer = Layer.effect(
    RunWriter,
    Effect.gen(function* () {
      const log = yield* EventLog
      const runs = yield* ObservedRuns
      const ids = yield* Ids
      const reasons = yield* CancelReasons
      const pendingCancels = yield* PendingCancels

      const change = (
        runId: RunId,
        to: RunStatus,
        events: ChangeRequest["events"],
        more: Pick<ChangeRequest, "failure" | "revision" | "also" | "maxEvents"> = {}
      ) =>
        log
          .change({ runId, to, events, ...more })
          .pipe(
            Effect.tap((changed) =>
              changed.change === "rejected" || changed.change === "superseded"
                ? Effect.logInfo(`left the run ${changed.status}: it cannot become ${to} any more`)
                : Effect.void
            )
          )

      const note = (run: ObservedRun, stream: Parameters<typeof streamOpened>[2]) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          log.record({ runId: run.id, events: [streamOpened(isoTime(now), run.sessionId, stream)] })
        )

      const begin = Effect.fnUntraced(function* (run: ObservedRun, { session }: WriteOf<"Run">) {
        const artifactId = yield* ids.uuid
        const open = session === undefined || session.state === "OPEN" || session.state === "SUSPENDED"
        return yield* change(
          run.id,
          "running",
          (locked, at) => [
            streamOpened(at, run.sessionId, { status: "opened" }),
            ...(open ? [sessionStateChanged(at, { sessionId: run.sessionId, state: "OPEN" })] : []),
            artifactCreated(
              at,
              {
                artifactId,
                kind: "trace",
                label: "Root run trace",
                traceId: locked.traceId,
                contentSha256: contentDigest(traceContent(run))
              },
              "run-executor"
            )
          ],
          { also: (at) => runs.addTraceArtifact(run, artifactId, at) }
        )
      })

      const end = (run: ObservedRun, { snapshot, state }: WriteOf<"End">) => {
        const { failure, to } = ENDS[state]
        return change(
          run.id,
          to,
          (locked, at) => [
            // The snapshot of a watch may be older than its event, so the state of the event counts.
            sessionStateChanged(at, { ...snapshot, sessionId: run.sessionId, state }),
            streamOpened(at, run.sessionId, { status: "closed" }),
            ended(locked, at, state)
          ],
          failure === undefined ? {} : { failure }
        )
      }

      const ended = (locked: LockedRun, at: string, state: TerminalSessionState): EventDraft => {
        const common = { ...describe(locked), endedAt: at, ts: at }
        switch (state) {
          case "RESOLVED":
            return runCompleted(common)
          case "CANCELLED":
            return runCancelled({ ...common, reason: reasons.of(locked.id, "cancelled") })
          case "EXPIRED":
            return failed(locked, at, SESSION_EXPIRED)
        }
      }

      const write = (
        run: ObservedRun,
        request: Write
      ): Effect.Effect<Appended | undefined, RunNotFound | AppendFailed> => {
        switch (request._tag) {
          case "Start":
            return change(run.id, "starting", (locked, at) => [
              runStarted({ ...describe(locked), startedAt: at, ts: at })
            ])
          case "Bind":
            return change(
              run.id,
              "binding_session",
              (_, at) => [
                sessionBound(at, request.session),
                ...(request.policy === undefined ? [] : [policyResolved(at, request.session, request.policy)]),
                ...request.session.participants.map((participantId) => participantSeen(at, participantId))
              ],
              {
                also: (at) => runs.bind(run, request.session, request.capabilities, at),
                maxEvents: request.session.participants.length + 2
              }
            )
          case "Run":
            return begin(run, request)
          case "Suspend":
            return change(
              run.id,
              "suspended",
              (locked, at) => [
                sessionStateChanged(at, { sessionId: run.sessionId, state: "SUSPENDED" }),
                runSuspended({ ...describe(locked), ts: at, reason: reasons.of(run.id, "suspended") })
              ],
              { revision: request.revision }
            )
          case "Resume":
            return change(
              run.id,
              "running",
              (locked, at) => [
                sessionStateChanged(at, { sessionId: run.sessionId, state: "OPEN" }),
                runResumed({ ...describe(locked), ts: at, reason: reasons.of(run.id, "running") })
              ],
              request.revision === undefined ? {} : { revision: request.revision }
            )
          case "Fail": {
            const failure = { errorCode: request.errorCode, errorMessage: request.errorMessage }
            return change(run.id, "failed", (locked, at) => [failed(locked, at, failure)], { failure })
          }
          case "End":
            return end(run, request)
          case "Recovered":
            return note(run, { status: "recovered", detail: "stream resumed after restart" })
          case "CancelSettled":
            return Effect.flatMap(Clock.currentTimeMillis, (now) => {
              const stopped = { sessionId: run.sessionId, state: "CANCELLED" } as const
              const events = request.stopped ? [sessionStateChanged(isoTime(now), stopped)] : []
              return log.record({ runId: run.id, events, also: () => pendingCancels.forget(run.id) })
            })
          case "Reconnecting":
            return note(run, { status: "reconnecting", detail: request.detail }).pipe(
              Effect.catchTag("AppendFailed", (error) => Effect.as(Effect.logWarning(error.message), undefined))
            )
          case "Gap":
            return note(run, { status: "gap", detail: request.detail, requestedAfter: request.requestedAfter })
        }
      }

      const cursor = Effect.fnUntraced(function* (runId: RunId) {
        const stored = yield* runs.cursor(runId).pipe(
          Effect.tapError((error) =>
            Effect.logWarning(`cannot read the stream cursor, trying again: ${describeSqlError(error)}`)
          ),
          Effect.retry(Schedule.spaced(RETRY_MS)),
          Effect.orDie
        )
        return stored === undefined ? yield* new RunNotFound({ runId }) : stored
      })

      const store = (
        runId: RunId,
        frames: ReadonlyArray<ObservedFrame>,
        after: number
      ): Effect.Effect<StoredFrames, RunNotFound | StreamCursorMoved> =>
        log.observe({ runId, frames, cursor: after }).pipe(
          Effect.map((appended): StoredFrames => ({ _tag: "Stored", cursor: appended.cursor })),
          Effect.catchTag("AppendFailed", (error) =>
            Effect.gen(function* () {
              yield* Effect.logWarning(error.message)
              yield* Effect.sleep(RETRY_MS)
              const current = yield* cursor(runId)
              return current === after
                ? yield* store(runId, frames, after)
                : ({ _tag: "Behind", cursor: current } as const)
            })
          )
        )

      return RunWriter.of({ write, store, cursor })
    })
  )
}

type WriteOf<Tag extends Write["_tag"]> = Extract<Write, { readonly _tag: Tag }>
type Failure = NonNullable<ChangeRequest["failure"]>

/** The failure of an expired session, wherever it shows. */
const SESSION_EXPIRED: Failure = { errorCode: "SESSION_EXPIRED", errorMessage: "runtime session expired" }

/** How a session's end is its run's. */
const ENDS: Readonly<Record<TerminalSessionState, { readonly to: RunStatus; readonly failure?: Failure }>> = {
  RESOLVED: { to: "completed" },
  CANCELLED: { to: "cancelled" },
  EXPIRED: { to: "failed", failure: SESSION_EXPIRED }
}

const failed = (run: LockedRun, at: string, { errorCode, errorMessage }: Failure): EventDraft =>
  runFailed({ ...describe(run), endedAt: at, error: errorMessage, errorCode, ts: at })

const describe = (run: LockedRun) => ({
  runId: run.id,
  modeName: run.modeName,
  runtimeKind: run.runtimeKind,
  runtimeSessionId: run.runtimeSessionId,
  traceId: run.traceId
})
