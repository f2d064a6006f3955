import { RuntimeClient } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type * as Tracer from "effect/Tracer"
import type { RunNotFound, StreamCursorMoved } from "../event-log/append/AppendRequest.ts"
import type { AppendFailed } from "../platform/postgres/AppendFailed.ts"
import type { Action, Idleness } from "./decide/Action.ts"
import type { Message } from "./decide/Input.ts"
import type { ObservedRun } from "./decide/ObservedRun.ts"
import type { Mailbox } from "./Mailbox.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { RunWriter } from "./RunWriter.ts"
import { EarlySubscriptions } from "./sessions/EarlySubscriptions.ts"
import { IdleChecks } from "./sessions/IdleChecks.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/**
 * Performs the actions of one observation, in order. It awaits appends and reads of the log and replies to the mailbox;
 * queries, the subscription and the timer run concurrently until the scope ends, and answer through the mailbox.
 */
export const makePerform = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const runs = yield* ObservedRuns
  const writer = yield* RunWriter
  const early = yield* EarlySubscriptions
  const directory = yield* SessionDirectory
  const idleChecks = yield* IdleChecks
  const { policyReadTimeoutMs } = yield* ObserverSettings

  return Effect.fnUntraced(function* (run: ObservedRun, mailbox: Mailbox) {
    const scope = yield* Effect.scope
    const subscription = slotIn(scope)
    const timer = slotIn(scope)
    let step: Tracer.Span | undefined

    const leaveStep = (exit: Exit.Exit<unknown, unknown>) =>
      Effect.map(Clock.currentTimeNanos, (now) => {
        step?.end(now, exit)
        step = undefined
      })
    yield* Effect.addFinalizer(leaveStep)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        early.leave(run.sessionId)
        idleChecks.remove(run.sessionId, run.id)
      })
    )
    /** The time of the alarm, and whether it belongs to an idle session. */
    let alarm: { readonly at: number; readonly isIdle: boolean } | undefined
    const ring = Effect.suspend(() => {
      alarm = undefined
      return mailbox.put({ _tag: "Tick" })
    })
    const setAlarm = Effect.fnUntraced(function* (at: number, isIdle: boolean) {
      alarm = { at, isIdle }
      const now = yield* Clock.currentTimeMillis
      yield* timer.run(Effect.delay(ring, Math.max(0, at - now)))
    })
    const setIdleAlarm = (at: number) => setAlarm(at, true)
    const awaitIdle = Effect.fnUntraced(function* (at: number, idleness: Idleness) {
      // Every decision repeats this action, and an early alarm is harmless.
      if (alarm?.isIdle === true && alarm.at <= at) return
      alarm = undefined
      yield* timer.clear
      yield* idleChecks.add({ runId: run.id, sessionId: run.sessionId, at, idleness, setAlarm: setIdleAlarm })
    })

    /** Replies with the result of an append or a read; two errors of the log end the observation. */
    const replied = (
      operation: Effect.Effect<Message | undefined, RunNotFound | StreamCursorMoved | AppendFailed | SqlError>
    ) =>
      Effect.gen(function* () {
        const message = yield* operation
        if (message !== undefined) mailbox.reply(message)
      }).pipe(
        Effect.catchTags({
          StreamCursorMoved: ({ message }) => Effect.sync(() => mailbox.reply({ _tag: "CursorLost", reason: message })),
          RunNotFound: () => Effect.sync(() => mailbox.reply({ _tag: "RunDeleted" }))
        })
      )

    const send = (query: Effect.Effect<Message>) => {
      // Without an answer the observation would wait for ever.
      const answered = Effect.onExit(Effect.flatMap(query, mailbox.put), (exit) =>
        Exit.isFailure(exit) ? mailbox.die(Cause.squash(exit.cause)) : Effect.void
      )
      return Effect.asVoid(Effect.forkIn(step === undefined ? answered : Effect.withParentSpan(answered, step), scope))
    }

    const subscribe = ({ after, subscription: number }: ActionOf<"Subscribe">) =>
      early
        .follow(run.sessionId, after, (frames) => mailbox.putFrames(number, frames))
        .pipe(
          Effect.matchEffect({
            onSuccess: () => mailbox.put({ _tag: "StreamEnded", subscription: number, error: undefined }),
            onFailure: (error) => mailbox.put({ _tag: "StreamEnded", subscription: number, error })
          }),
          Effect.catchDefect(mailbox.die),
          subscription.run
        )

    /** Concurrent appends of a run share a transaction, in their order. */
    const writeBoth = ({ before, write }: ActionOf<"Write">) =>
      before === undefined
        ? writer.write(run, write)
        : Effect.map(
            Effect.all([writer.write(run, before), writer.write(run, write)], { concurrency: "unbounded" }),
            ([, appended]) => appended
          )

    return (action: Action) => {
      switch (action._tag) {
        case "Write":
          return replied(
            Effect.map(
              writeBoth(action),
              (appended): Message | undefined =>
                appended && {
                  _tag: "Written",
                  write: action.write._tag,
                  status: appended.status,
                  cursor: appended.cursor
                }
            )
          )
        case "Store": {
          const { cursor, frames } = action
          return replied(Effect.map(writer.store(run.id, frames, cursor), (outcome) => ({ ...outcome, frames })))
        }
        case "ReadCursor":
          return replied(Effect.map(writer.cursor(run.id), (cursor) => ({ _tag: "Cursor", cursor })))
        case "ReadAnnotations":
          return replied(Effect.map(runs.annotations(run.id), (found) => ({ _tag: "Annotations", ...found })))
        case "ReadSummary":
          return replied(Effect.map(runs.summary(run.id), (summary) => ({ _tag: "Summary", summary })))
        case "Initialize":
          return send(Effect.map(Effect.result(runtime.initialize), (answer) => ({ _tag: "Identity", answer })))
        case "GetSession": {
          const { isBatched, query } = action
          const session = isBatched === true ? directory.query(run.sessionId) : runtime.getSession(run.sessionId)
          return send(
            Effect.map(Effect.result(session), (answer) => ({
              _tag: "Session",
              query,
              answer
            }))
          )
        }
        case "GetPolicy":
          return send(
            runtime.getPolicy(action.policyId).pipe(
              Effect.timeoutOption(policyReadTimeoutMs),
              Effect.map(Option.getOrUndefined),
              Effect.catch((error) =>
                Effect.as(
                  Effect.logDebug(`the runtime does not return ${action.policyId}: ${error.message}`),
                  undefined
                )
              ),
              Effect.map((policy): Message => ({ _tag: "Policy", policy }))
            )
          )
        case "CancelSession":
          return send(
            Effect.map(
              Effect.result(runtime.cancelSession({ sessionId: run.sessionId, reason: action.reason })),
              (answer) => ({ _tag: "Cancelled", answer })
            )
          )
        case "Subscribe":
          return subscribe(action)
        case "Unsubscribe":
          return subscription.clear
        case "WakeAt":
          if (action.unless !== undefined) return awaitIdle(action.at, action.unless)
          idleChecks.remove(run.sessionId, run.id)
          return setAlarm(action.at, false)
        case "EnterStep": {
          const about = { run_id: run.id, runtime_kind: run.runtimeKind }
          const detail =
            action.step === "runtime.initialize" ? { mode_name: run.modeName } : { session_id: run.sessionId }
          return Effect.map(Effect.makeSpan(action.step, { attributes: { ...about, ...detail } }), (span) => {
            step = span
          })
        }
        case "LeaveStep":
          return leaveStep(action.error === undefined ? Exit.void : Exit.fail(action.error))
        case "Log":
          return Effect.logWithLevel(action.level)(action.message)
        case "Finish":
          return Effect.void
      }
    }
  })
})

/** Runs one fiber at a time, concurrently until the scope ends: the next one replaces it. */
const slotIn = (scope: Scope.Scope) => {
  let current: Fiber.Fiber<unknown> | undefined
  const run = Effect.fnUntraced(function* (effect: Effect.Effect<unknown>) {
    current?.interruptUnsafe()
    current = yield* Effect.forkIn(effect, scope, { startImmediately: true })
  })
  const clear = Effect.suspend(() => {
    const fiber = current
    current = undefined
    return fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
  })
  return { run, clear }
}

type ActionOf<Tag extends Action["_tag"]> = Extract<Action, { readonly _tag: Tag }>
