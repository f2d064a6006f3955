import type { RawEnvelope } from "@runplane/domain"
import { decodePayload, RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { ObservedFrame } from "../log/AppendRequest.ts"
import { observed } from "../log/FrameBytes.ts"
import { keepOpen } from "./KeepOpen.ts"
import { makeLanes } from "./Lanes.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { isObservableSessionId, shownSessionId } from "./SessionIds.ts"
import { SignalMeter } from "./SignalMeter.ts"
import { SignalStore } from "./SignalStore.ts"

/** Most signals of one append. */
const SIGNALS_PER_APPEND = 200
/** Sessions whose signals are stored at the same time; those appends share transactions. */
const SESSIONS_AT_ONCE = 64
/** One session may fill so much of the buffer: its run may be locked while the others go on. */
const SHARES = 4
/** What a waiting signal costs beside its payload, bytes. */
const OVERHEAD_BYTES = 1_024
/** Sessions that are remembered for having sent signals on a subscription. */
const REMEMBERED_SESSIONS = 10_000

/** The session an ambient envelope is about. */
const sessionOf = (envelope: RawEnvelope): string | undefined => {
  if (envelope.sessionId !== "") return envelope.sessionId
  const payload = decodePayload("macp.v1.SignalPayload", envelope.payload)
  const correlated = payload?.["correlationSessionId"] ?? payload?.["correlation_session_id"]
  return typeof correlated === "string" && correlated !== "" ? correlated : undefined
}

/**
 * The one subscription to ambient signals and progress (docs/runtime.md#signals). Each goes to the run of the session
 * it names, running or over; those that name no session, or one without a run, are dropped. They have no ordinal. What
 * is read waits in a buffer of its own, so that the runtime, which has little room for a slow reader, is read fast;
 * when the runtime has lost patience all the same, the runs are marked whose sessions have sent signals.
 */
export const SignalWatch = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const settings = yield* ObserverSettings
      const runtime = yield* RuntimeClient
      const signals = yield* SignalStore
      const meter = yield* SignalMeter
      const lanes = yield* makeLanes<ObservedFrame>({
        capacityBytes: settings.signalBufferBytes,
        laneBytes: settings.signalBufferBytes / SHARES,
        concurrency: SESSIONS_AT_ONCE,
        batch: SIGNALS_PER_APPEND,
        work: signals.store
      })
      const scope = yield* Effect.scope

      const heard = new Set<string>()
      const receive = Effect.fnUntraced(function* (envelopes: ReadonlyArray<RawEnvelope>) {
        const receivedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
        for (const envelope of envelopes) {
          const sessionId = sessionOf(envelope)
          if (sessionId === undefined || !isObservableSessionId(sessionId)) continue
          if (heard.size < REMEMBERED_SESSIONS) heard.add(sessionId)
          const frame = { kind: "stream-envelope", envelope, ambient: true } as const
          const bytes = envelope.payload.length + OVERHEAD_BYTES
          if (!(yield* lanes.put(sessionId, observed(frame, receivedAt), bytes))) yield* overflow(sessionId)
        }
      })

      const overflowing = new Set<string>()
      /** The session's share of the buffer is full. Said once for all that its run then lacks. */
      const overflow = Effect.fnUntraced(function* (sessionId: string) {
        meter.lost()
        if (overflowing.has(sessionId)) return
        overflowing.add(sessionId)
        yield* Effect.logError(`lost signals of session ${shownSessionId(sessionId)}: too many wait to be stored`)
        yield* signals
          .mark([sessionId], "signals are lost: too many waited to be stored")
          .pipe(Effect.ensuring(Effect.sync(() => overflowing.delete(sessionId))), Effect.forkIn(scope))
      })

      /** The runtime has dropped signals because they were not taken fast enough; it does not say whose. */
      const fellBehind = Effect.fnUntraced(function* ({ message }: RuntimeError) {
        const sessions = [...heard]
        meter.gap()
        yield* Effect.logError(
          `the runtime has dropped signals: ${message}; marking the runs of ${sessions.length} sessions that sent some`
        )
        yield* Effect.forkIn(signals.mark(sessions, `signals may be lost: ${message}`), scope)
      })

      const watch = runtime.watchSignals.pipe(
        Stream.runForEachArray(receive),
        Effect.matchEffect({
          onSuccess: () => Effect.logInfo("the signal watch ended"),
          onFailure: (error) =>
            error.reason === "RESOURCE_EXHAUSTED"
              ? fellBehind(error)
              : Effect.logWarning(`the signal watch broke: ${error.message}`)
        }),
        Effect.catchDefect((defect) => Effect.logError("the signal watch broke", defect)),
        Effect.ensuring(Effect.sync(() => heard.clear()))
      )
      yield* Effect.forkScoped(keepOpen(watch, settings.watchReconnectMs))
    })
  )
}
