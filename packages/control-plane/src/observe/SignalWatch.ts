import { boundName, type RawEnvelope } from "@runplane/domain"
import { decodePayload, RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { ObservedFrame } from "../event-log/append/AppendRequest.ts"
import { observed } from "../event-log/append/FrameBytes.ts"
import { isoNow } from "../platform/IsoNow.ts"
import { reopened } from "../platform/loop/Reopened.ts"
import { Metrics } from "../platform/metrics/Metrics.ts"
import { makeKeyedQueue } from "./KeyedQueue.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { isObservableSessionId, shownSessionId } from "./SessionIds.ts"
import { SignalStore } from "./SignalStore.ts"

/** Most signals of one append. */
const SIGNALS_PER_APPEND = 200
/** Sessions whose signals are stored concurrently; those appends share transactions. */
const SESSIONS_AT_ONCE = 64
/** One session may fill this fraction of the buffer: its run may be locked while the others go on. */
const SHARES = 4
/** The part of that for one sender: the other senders of the session keep the rest. */
const SENDER_PART = 0.75
/** The losses of this period are one note in the run. Milliseconds. */
const LOSS_WINDOW_MS = 1_000
/** How long a closing scope waits for the last notes. Milliseconds. */
const LAST_NOTES_MS = 2_000
/** Senders that a note names; further ones are counted together. */
const NAMED_SENDERS = 5
const OTHER_SENDERS = "other senders"
/** Bytes of a waiting signal beside its payload. */
const OVERHEAD_BYTES = 1_024
/** Sessions with signals on a subscription that are remembered. */
const REMEMBERED_SESSIONS = 10_000

/** The session an ambient envelope is about. */
const sessionOf = (envelope: RawEnvelope): string | undefined => {
  if (envelope.sessionId !== "") return envelope.sessionId
  const payload = decodePayload("macp.v1.SignalPayload", envelope.payload)
  const correlated = payload?.["correlationSessionId"] ?? payload?.["correlation_session_id"]
  return typeof correlated === "string" && correlated !== "" ? correlated : undefined
}

/**
 * The one subscription to ambient signals and progress (docs/internals/runtime.md#signals). Each goes to the run of its
 * session, running or over; signals without a session, or without a run, are dropped. They have no ordinal. A buffer
 * holds them, because the runtime has a small one; when the runtime still drops signals, the runs of all
 * sessions with signals are marked.
 */
export const layerSignalWatch = Layer.effectDiscard(
  Effect.gen(function* () {
    const settings = yield* ObserverSettings
    const runtime = yield* RuntimeClient
    const signals = yield* SignalStore
    const metrics = yield* Metrics
    const buffer = yield* makeKeyedQueue<ObservedFrame>({
      capacityBytes: settings.signalBufferBytes,
      keyBytes: settings.signalBufferBytes / SHARES,
      ownerBytes: (settings.signalBufferBytes / SHARES) * SENDER_PART,
      concurrency: SESSIONS_AT_ONCE,
      batch: SIGNALS_PER_APPEND,
      work: signals.store
    })
    const scope = yield* Effect.scope

    const senders = new Set<string>()
    const receive = Effect.fnUntraced(function* (envelopes: ReadonlyArray<RawEnvelope>) {
      const receivedAt = yield* isoNow
      for (const envelope of envelopes) {
        const sessionId = sessionOf(envelope)
        if (sessionId === undefined || !isObservableSessionId(sessionId)) continue
        if (senders.size < REMEMBERED_SESSIONS) senders.add(sessionId)
        const frame = { kind: "stream-envelope", envelope, ambient: true } as const
        const bytes = envelope.payload.length + OVERHEAD_BYTES
        const isStored = yield* buffer.put(sessionId, envelope.sender, observed(frame, receivedAt), bytes)
        if (!isStored) yield* overflow(sessionId, envelope.sender)
      }
    })

    const losses = new Map<string, Map<string, number>>()
    /** Notes the losses of a session since its last note. */
    const noteLosses = Effect.fnUntraced(function* (sessionId: string) {
      const lost = losses.get(sessionId)
      losses.delete(sessionId)
      if (lost === undefined) return
      const counts = Array.from(lost, ([sender, count]) => `${count} of ${boundName(sender)}`)
      const detail = `signals are lost, because too many waited to be stored: ${counts.join(", ")}`
      yield* Effect.logError(`session ${shownSessionId(sessionId)}: ${detail}`)
      yield* signals.note(sessionId, detail)
    })
    yield* Effect.addFinalizer(() =>
      Effect.forEach([...losses.keys()], noteLosses, { concurrency: "unbounded", discard: true }).pipe(
        Effect.interruptible,
        Effect.timeoutOption(LAST_NOTES_MS)
      )
    )
    /** The sender's share of the buffer is full, or its session's. The log of the run gets the count. */
    const overflow = Effect.fnUntraced(function* (sessionId: string, sender: string) {
      metrics.signalLost()
      const lost = losses.get(sessionId)
      if (lost !== undefined) {
        const isNamed = lost.has(sender) || lost.size < NAMED_SENDERS
        const name = isNamed ? sender : OTHER_SENDERS
        return void lost.set(name, (lost.get(name) ?? 0) + 1)
      }
      losses.set(sessionId, new Map([[sender, 1]]))
      yield* Effect.forkIn(Effect.andThen(Effect.sleep(LOSS_WINDOW_MS), noteLosses(sessionId)), scope)
    })

    /** The runtime has dropped signals because the watch was too slow; it does not say of which sessions. */
    const fellBehind = Effect.fnUntraced(function* ({ message }: RuntimeError) {
      const sessions = [...senders]
      metrics.signalGap()
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
      Effect.ensuring(Effect.sync(() => senders.clear()))
    )
    yield* Effect.forkScoped(reopened("signal-watch", watch, settings.watchReconnectMs))
  })
)
