import type { RawEnvelope, RunId } from "@runplane/domain"
import { decodePayload, RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { ObservedFrame } from "../log/AppendRequest.ts"
import { EventLog } from "../log/EventLog.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"

/** Ambient envelopes that may wait for the log; a full buffer slows the watch down. */
export const SIGNAL_BUFFER = 2048
const SIGNALS_PER_BATCH = 500
/** Sessions whose run is remembered between signals. */
const REMEMBERED_SESSIONS = 10_000
/** How often a batch that cannot be stored is tried again before it is given up, and the pause between. */
const STORE_RETRIES = 5
const STORE_RETRY_MS = 250

interface Ambient {
  readonly sessionId: string
  readonly observed: ObservedFrame
}

/** The session an ambient envelope is about. */
const sessionOf = (envelope: RawEnvelope): string | undefined => {
  if (envelope.sessionId !== "") return envelope.sessionId
  const payload = decodePayload("macp.v1.SignalPayload", envelope.payload)
  const correlated = payload?.["correlationSessionId"] ?? payload?.["correlation_session_id"]
  return typeof correlated === "string" && correlated !== "" ? correlated : undefined
}

/**
 * The one subscription to ambient signals and progress (docs/runtime.md#signals). Each goes to the run of the session
 * it names, running or over; those that name no session, or one without a run, are dropped. They have no ordinal.
 */
export const SignalWatch = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const settings = yield* ObserverSettings
      if (!settings.discoveryEnabled) return
      const runtime = yield* RuntimeClient
      const runs = yield* ObservedRuns
      const log = yield* EventLog
      const remembered = new Map<string, RunId>()

      const runOf = Effect.fnUntraced(function* (sessionId: string) {
        const known = remembered.get(sessionId)
        if (known !== undefined) return known
        const found = yield* runs.findBySession(sessionId)
        if (found === undefined) return undefined
        if (remembered.size >= REMEMBERED_SESSIONS) remembered.clear()
        remembered.set(sessionId, found)
        return found
      })

      const store = Effect.fnUntraced(function* (sessionId: string, signals: ReadonlyArray<Ambient>) {
        const runId = yield* runOf(sessionId)
        if (runId === undefined) return
        yield* log.observe({ runId, frames: signals.map((signal) => signal.observed) })
      })

      const storeAll = (batch: ReadonlyArray<Ambient>) =>
        Effect.forEach(
          Map.groupBy(batch, (signal) => signal.sessionId),
          ([sessionId, signals]) =>
            store(sessionId, signals).pipe(
              Effect.retry({
                schedule: Schedule.spaced(STORE_RETRY_MS),
                times: STORE_RETRIES,
                while: (error) => error._tag === "AppendFailed" || error._tag === "SqlError"
              }),
              Effect.catchCause((cause) =>
                Effect.logError(`lost ${signals.length} signals of session ${sessionId}`, cause)
              )
            ),
          { concurrency: "unbounded", discard: true }
        )

      const watch = Effect.gen(function* () {
        const buffer = yield* Queue.bounded<Ambient, RuntimeError | Cause.Done>(SIGNAL_BUFFER)
        yield* runtime.watchSignals.pipe(
          Stream.runForEachArray((envelopes) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              const receivedAt = new Date(now).toISOString()
              const ambient = envelopes.flatMap((envelope): ReadonlyArray<Ambient> => {
                const sessionId = sessionOf(envelope)
                if (sessionId === undefined) return []
                return [
                  { sessionId, observed: { receivedAt, frame: { kind: "stream-envelope", envelope, ambient: true } } }
                ]
              })
              return Queue.offerAll(buffer, ambient)
            })
          ),
          Effect.matchCauseEffect({
            onSuccess: () => Queue.end(buffer),
            onFailure: (cause) => Queue.failCause(buffer, cause)
          }),
          Effect.forkScoped
        )
        while (true) yield* storeAll(yield* Queue.takeBetween(buffer, 1, SIGNALS_PER_BATCH))
      })

      yield* Effect.scoped(watch).pipe(
        Effect.catchCause(tellEnd),
        Effect.repeat(Schedule.spaced(settings.watchReconnectMs)),
        Effect.forkScoped
      )
    })
  )
}

const tellEnd = (cause: Cause.Cause<RuntimeError | Cause.Done>) => {
  const failure = Cause.findErrorOption(cause)
  if (failure._tag === "None") return Effect.logError("the signal watch broke", cause)
  return failure.value._tag === "RuntimeError"
    ? Effect.logWarning(`the signal watch broke: ${failure.value.message}`)
    : Effect.logInfo("the signal watch ended")
}
