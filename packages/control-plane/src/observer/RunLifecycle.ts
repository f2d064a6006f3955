import {
  artifactCreated,
  type EventDraft,
  participantSeen,
  type RunId,
  type RuntimeSessionState,
  runCancelled,
  runCompleted,
  runFailed,
  runResumed,
  runStarted,
  runSuspended,
  type SessionSnapshot,
  sessionBound,
  sessionStateChanged,
  streamOpened
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AppendRequest, LockedRun, StatusChange } from "../events/AppendRequest.ts"
import { EventLog } from "../events/EventLog.ts"
import { Ids } from "../events/Ids.ts"
import { CallerReasons } from "./CallerReasons.ts"
import { type ObservedRun, ObservedRuns } from "./ObservedRuns.ts"

export type TerminalSessionState = Extract<RuntimeSessionState, "RESOLVED" | "EXPIRED" | "CANCELLED">

export const isTerminalSession = (state: RuntimeSessionState): state is TerminalSessionState =>
  state === "RESOLVED" || state === "EXPIRED" || state === "CANCELLED"

/** The failure text of an expired session, everywhere (http-details section 15). */
export const SESSION_EXPIRED = { errorCode: "SESSION_EXPIRED", errorMessage: "runtime session expired" } as const

type Failure = { readonly errorCode: string; readonly errorMessage: string }
type Events = (run: LockedRun, at: string) => ReadonlyArray<EventDraft>

/**
 * The changes of status that an observer makes, each one append with its events in the order of http-details section 5.1. What the
 * transition table does not allow any more (another observer, a caller's cancel) changes nothing.
 */
export const makeRunLifecycle = Effect.gen(function* () {
  const log = yield* EventLog
  const runs = yield* ObservedRuns
  const ids = yield* Ids
  const reasons = yield* CallerReasons

  const change = (
    runId: RunId,
    to: StatusChange["to"],
    events: Events,
    more: {
      readonly failure?: Failure
      readonly also?: NonNullable<AppendRequest["also"]>
      readonly revision?: number
    } = {}
  ) =>
    log
      .append({
        runId,
        change: {
          to,
          events,
          whenRejected: "ignore",
          ...(more.failure === undefined ? {} : { failure: more.failure }),
          ...(more.revision === undefined ? {} : { revision: more.revision })
        },
        ...(more.also === undefined ? {} : { also: more.also })
      })
      .pipe(
        Effect.tap((appended) =>
          appended.change === "rejected"
            ? Effect.logInfo(`left the run ${appended.status}: it cannot become ${to} any more`)
            : Effect.void
        )
      )

  const start = (run: ObservedRun) =>
    change(run.id, "starting", (locked, at) => [runStarted({ ...describe(locked), startedAt: at, ts: at })])

  const bind = (run: ObservedRun, session: SessionSnapshot, capabilities: string) =>
    change(
      run.id,
      "binding_session",
      (_, at) => [
        sessionBound(at, session),
        ...session.participants.map((participantId) => participantSeen(at, participantId))
      ],
      { also: (at) => runs.bind(run, session, capabilities, at) }
    )

  /** `session` is absent when a bound run is promoted after a restart. A session that is over gets no OPEN event. */
  const running = Effect.fnUntraced(function* (run: ObservedRun, session: SessionSnapshot | undefined) {
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
          { artifactId, kind: "trace", label: "Root run trace", traceId: locked.traceId },
          "run-executor"
        )
      ],
      { also: (at) => runs.addTraceArtifact(run, artifactId, at) }
    )
  })

  /** Unless the status has changed since it was read with this revision; as with `resumed`. */
  const suspended = (run: ObservedRun, revision: number) =>
    change(
      run.id,
      "suspended",
      (locked, at) => [
        sessionStateChanged(at, { sessionId: run.sessionId, state: "SUSPENDED" }),
        runSuspended({ ...describe(locked), ts: at, reason: reasons.of(run.id, "suspended") })
      ],
      { revision }
    )

  const resumed = (run: ObservedRun, revision: number) =>
    change(
      run.id,
      "running",
      (locked, at) => [
        sessionStateChanged(at, { sessionId: run.sessionId, state: "OPEN" }),
        runResumed({ ...describe(locked), ts: at, reason: reasons.of(run.id, "running") })
      ],
      { revision }
    )

  const fail = (run: ObservedRun, failure: Failure, before: Events = () => []) =>
    change(
      run.id,
      "failed",
      (locked, at) => [
        ...before(locked, at),
        runFailed({
          ...describe(locked),
          endedAt: at,
          error: failure.errorMessage,
          errorCode: failure.errorCode,
          ts: at
        })
      ],
      { failure }
    )

  /** The end of a run, by the runtime's word: RESOLVED, EXPIRED or CANCELLED (http-details section 5.1). */
  const finish = (
    run: ObservedRun,
    state: TerminalSessionState,
    session: SessionSnapshot | undefined,
    streamed: boolean
  ) => {
    const before: Events = (_, at) => [
      // The snapshot of a watch may be older than its event: the event's word on the state counts.
      sessionStateChanged(at, { ...session, sessionId: run.sessionId, state }),
      ...(streamed ? [streamOpened(at, run.sessionId, { status: "closed" })] : [])
    ]
    switch (state) {
      case "RESOLVED":
        return change(run.id, "completed", (locked, at) => [
          ...before(locked, at),
          runCompleted({ ...describe(locked), endedAt: at, ts: at })
        ])
      case "CANCELLED":
        return change(run.id, "cancelled", (locked, at) => [
          ...before(locked, at),
          runCancelled({ ...describe(locked), endedAt: at, ts: at, reason: reasons.of(run.id, "cancelled") })
        ])
      case "EXPIRED":
        return fail(run, SESSION_EXPIRED, before)
    }
  }

  const announceRecovery = (run: ObservedRun, at: string) =>
    log.append({
      runId: run.id,
      events: [streamOpened(at, run.sessionId, { status: "recovered", detail: "stream resumed after restart" })]
    })

  /** Marks that the log lacks envelopes which the runtime has accepted and does not deliver (http-details section 5.2). */
  const announceGap = (run: ObservedRun, detail: string, requestedAfter: number) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      log.append({
        runId: run.id,
        events: [streamOpened(new Date(now).toISOString(), run.sessionId, { status: "gap", detail, requestedAfter })]
      })
    )

  return { start, bind, running, suspended, resumed, fail, finish, announceRecovery, announceGap } as const
})

const describe = (run: LockedRun) => ({
  runId: run.id,
  modeName: run.modeName,
  runtimeKind: run.runtimeKind,
  runtimeSessionId: run.runtimeSessionId,
  traceId: run.traceId
})
