import { RuntimeClient } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import type * as Tracer from "effect/Tracer"
import type { RunNotFound, StreamCursorMoved } from "../event-log/append/AppendRequest.ts"
import type { AppendFailed } from "../platform/postgres/AppendFailed.ts"
import type { Action, Quiet } from "./decide/Action.ts"
import type { Happening } from "./decide/Input.ts"
import type { ObservedRun } from "./decide/ObservedRun.ts"
import type { Inbox } from "./Inbox.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { RunWriter } from "./RunWriter.ts"
import { EarlySubscriptions } from "./sessions/EarlySubscriptions.ts"
import { IdleChecks } from "./sessions/IdleChecks.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/**
 * Performs the actions of one observation, in order. Appends and reads of the log are awaited and answered with a
 * reply; questions, the subscription and the timer run beside, until the scope ends, and answer through the inbox.
 */
export const makePerform = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const runs = yield* ObservedRuns
  const writer = yield* RunWriter
  const early = yield* EarlySubscriptions
  const directory = yield* SessionDirectory
  const idleChecks = yield* IdleChecks
  const { policyReadTimeoutMs } = yield* ObserverSettings

  return Effect.fnUntraced(function* (run: ObservedRun, inbox: Inbox) {
    const scope = yield* Effect.scope
    const subscription = placeIn(scope)
    const timer = placeIn(scope)
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
    /** When the alarm rings, and whether it was set for one who could have rested. */
    let alarm: { readonly at: number; readonly isOfRest: boolean } | undefined
    const ring = Effect.suspend(() => {
      alarm = undefined
      return inbox.put({ _tag: "Tick" })
    })
    const setAlarm = Effect.fnUntraced(function* (at: number, isOfRest: boolean) {
      alarm = { at, isOfRest }
      const now = yield* Clock.currentTimeMillis
      yield* timer.run(Effect.delay(ring, Math.max(0, at - now)))
    })
    const setAlarmOfRest = (at: number) => setAlarm(at, true)
    const rest = Effect.fnUntraced(function* (at: number, quiet: Quiet) {
      // It comes again with all that happens, and an alarm that rings too early is harmless.
      if (alarm?.isOfRest === true && alarm.at <= at) return
      alarm = undefined
      yield* timer.clear
      yield* idleChecks.add({ runId: run.id, sessionId: run.sessionId, at, quiet, setAlarm: setAlarmOfRest })
    })

    /** Answers an append or a read; in two ways the log says that the observation is over. */
    const replied = (
      asked: Effect.Effect<Happening | undefined, RunNotFound | StreamCursorMoved | AppendFailed | SqlError>
    ) =>
      Effect.gen(function* () {
        const happening = yield* asked
        if (happening !== undefined) inbox.reply(happening)
      }).pipe(
        Effect.catchTags({
          StreamCursorMoved: ({ message }) => Effect.sync(() => inbox.reply({ _tag: "CursorLost", reason: message })),
          RunNotFound: () => Effect.sync(() => inbox.reply({ _tag: "RunDeleted" }))
        })
      )

    const ask = (question: Effect.Effect<Happening>) => {
      // A question without an answer would be waited for for ever.
      const answered = Effect.onExit(Effect.flatMap(question, inbox.put), (exit) =>
        Exit.isFailure(exit) ? inbox.die(Cause.squash(exit.cause)) : Effect.void
      )
      return Effect.asVoid(Effect.forkIn(step === undefined ? answered : Effect.withParentSpan(answered, step), scope))
    }

    const subscribe = ({ after, subscription: number }: ActionOf<"Subscribe">) =>
      early.follow(run.sessionId, after).pipe(
        Stream.runForEach((frames) => inbox.putFrames(number, frames)),
        Effect.matchEffect({
          onSuccess: () => inbox.put({ _tag: "StreamEnded", subscription: number, error: undefined }),
          onFailure: (error) => inbox.put({ _tag: "StreamEnded", subscription: number, error })
        }),
        Effect.catchDefect(inbox.die),
        subscription.run
      )

    /** Appends of a run that wait at the same time share a transaction, in their order. */
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
              (appended): Happening | undefined =>
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
        case "ReadStanding":
          return replied(Effect.map(runs.standing(run.id), (standing) => ({ _tag: "Standing", standing })))
        case "AskIdentity":
          return ask(Effect.map(Effect.result(runtime.initialize), (answer) => ({ _tag: "Identity", answer })))
        case "AskSession": {
          const { patient, question } = action
          const session = patient === true ? directory.query(run.sessionId) : runtime.getSession(run.sessionId)
          return ask(
            Effect.map(Effect.result(session), (answer) => ({
              _tag: "Session",
              question,
              answer
            }))
          )
        }
        case "AskPolicy":
          return ask(
            runtime.getPolicy(action.policyId).pipe(
              Effect.timeoutOption(policyReadTimeoutMs),
              Effect.map(Option.getOrUndefined),
              Effect.catch((error) =>
                Effect.as(Effect.logDebug(`the runtime does not tell ${action.policyId}: ${error.message}`), undefined)
              ),
              Effect.map((policy): Happening => ({ _tag: "Policy", policy }))
            )
          )
        case "CancelSession":
          return ask(
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
          if (action.unless !== undefined) return rest(action.at, action.unless)
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

/** Holds one fiber at a time, beside the observation until the scope ends: another takes its place. */
const placeIn = (scope: Scope.Scope) => {
  let held: Fiber.Fiber<unknown> | undefined
  const run = Effect.fnUntraced(function* (effect: Effect.Effect<unknown>) {
    held?.interruptUnsafe()
    held = yield* Effect.forkIn(effect, scope, { startImmediately: true })
  })
  const clear = Effect.suspend(() => {
    const fiber = held
    held = undefined
    return fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
  })
  return { run, clear }
}

type ActionOf<Tag extends Action["_tag"]> = Extract<Action, { readonly _tag: Tag }>
