import { isoTime, type SessionSnapshot } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import { observed, partsOfBytes, totalBytes } from "../../event-log/append/FrameBytes.ts"
import { Permits } from "../../event-log/append/Permits.ts"
import type { SessionView } from "../decide/Input.ts"
import { ObserverSettings } from "../ObserverSettings.ts"
import { isObservableSessionId } from "../SessionIds.ts"

type Frames = Stream.Stream<ReadonlyArray<ObservedFrame>, RuntimeError>

/** The frames of a subscription as the log stores them, with the time of their arrival. */
const observedFrames = (
  runtime: RuntimeClient["Service"],
  subscription: { readonly sessionId: string; readonly afterSequence: number }
): Frames =>
  runtime.streamSession(subscription).pipe(
    Stream.mapArrayEffect((items) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const receivedAt = isoTime(now)
        return Arr.of(
          items.map((item) =>
            observed(
              item._tag === "Envelope"
                ? { kind: "stream-envelope", envelope: item.envelope, ambient: false }
                : { kind: "stream-inline-error", error: item.error },
              receivedAt
            )
          )
        )
      })
    )
  )

/** Most early subscriptions at the same time, with a stream each. */
const CAPACITY = 128
/** Bytes of frames in each. */
const CAPACITY_BYTES = 128 * 1024
/** Bytes of a batch, unless a single frame has more. */
const BATCH_BYTES = 32 * 1024
/** How long a subscription waits for its observer beyond the grace of the discovery. Milliseconds. */
const ADOPTION_LIMIT_MS = 5_000

interface EarlySubscription {
  /** The last known state of the session. */
  view: SessionView
  isClaimed: boolean
  readonly number: number
  readonly frames: Frames
}

/** Frames in the queue of a subscription, and the return of their bytes. */
interface Batch {
  readonly frames: ReadonlyArray<ObservedFrame>
  readonly release: () => void
}

/**
 * Streams of new sessions without an observer: their `POST /runs` is on its way, the discovery has not made their run
 * yet, or the observer waits for the database. The runtime may drop the history of such a session before its observer
 * starts, so the stream opens with the first notice of the session and keeps the frames for the observer
 * (docs/internals/runtime.md#early-subscription).
 */
export class EarlySubscriptions extends Context.Service<
  EarlySubscriptions,
  {
    /** Returns at once. Does nothing for a session that is followed, or when all slots are in use. */
    readonly open: (session: SessionSnapshot) => Effect.Effect<void>
    /** The session has changed. */
    readonly update: (sessionId: string, view: SessionView) => void
    /** The last known state of a session with an early subscription. */
    readonly viewOf: (sessionId: string) => SessionView | undefined
    /** The session's frames after that ordinal; the first reader from the beginning gets the early subscription. */
    readonly follow: (sessionId: string, after: number) => Frames
    /** The observer has stopped. */
    readonly leave: (sessionId: string) => void
  }
>()("runplane/control-plane/EarlySubscriptions") {
  static readonly layer = Layer.effect(
    EarlySubscriptions,
    Effect.gen(function* () {
      const runtime = yield* RuntimeClient
      const { discoveryGraceMs } = yield* ObserverSettings
      const fibers = yield* FiberMap.make<number>()
      const waiting = new Map<string, EarlySubscription>()
      const followed = new Set<string>()
      /** Attempts of observers without a frame so far; each is notified of an early subscription of its session. */
      const attempts = new Map<string, Deferred.Deferred<void>>()
      let opened = 0

      const open = Effect.fnUntraced(function* (session: SessionSnapshot) {
        const { sessionId } = session
        if (waiting.size >= CAPACITY || waiting.has(sessionId) || followed.has(sessionId)) return
        if (!isObservableSessionId(sessionId)) return
        const queue = yield* Queue.unbounded<Batch, RuntimeError | Cause.Done>()
        opened += 1
        const number = opened
        const early: EarlySubscription = {
          view: { state: session.state, snapshot: session },
          isClaimed: false,
          number,
          frames: Stream.fromQueue(queue).pipe(
            Stream.map(({ frames, release }) => {
              release()
              return frames
            }),
            Stream.ensuring(FiberMap.remove(fibers, number))
          )
        }
        waiting.set(sessionId, early)
        const attempt = attempts.get(sessionId)
        if (attempt !== undefined) Deferred.doneUnsafe(attempt, Effect.void)

        const capacity = new Permits(CAPACITY_BYTES)
        const offer = (frames: ReadonlyArray<ObservedFrame>) => {
          // A claimed subscription passes one batch at a time: the mailbox of the observer is the buffer then.
          const bytes = early.isClaimed ? CAPACITY_BYTES : totalBytes(frames)
          const batch: Batch = { frames, release: () => capacity.release(bytes) }
          return Effect.map(capacity.take(bytes), () => void Queue.offerUnsafe(queue, batch))
        }
        const feed = observedFrames(runtime, { sessionId, afterSequence: 0 }).pipe(
          Stream.runForEach((frames) => Effect.forEach(partsOfBytes(frames, BATCH_BYTES), offer, { discard: true })),
          Effect.matchCauseEffect({
            onSuccess: () => Queue.end(queue),
            onFailure: (cause) => Queue.failCause(queue, cause)
          }),
          // The observer may come later, and ends the fiber.
          Effect.andThen(Effect.never)
        )
        const timeout = Effect.sleep(discoveryGraceMs + ADOPTION_LIMIT_MS).pipe(
          Effect.andThen(Effect.suspend(() => (early.isClaimed ? Effect.never : Effect.void)))
        )
        const forget = Effect.sync(() => waiting.get(sessionId) === early && waiting.delete(sessionId))
        yield* FiberMap.run(fibers, number, Effect.raceFirst(feed, timeout).pipe(Effect.ensuring(forget)))
      })

      const claim = (sessionId: string, early: EarlySubscription) => {
        followed.add(sessionId)
        early.isClaimed = true
        waiting.delete(sessionId)
        return early.frames
      }

      /**
       * A subscription that may be older than its session: until it delivers an envelope, the watch counts. An early
       * subscription that opens meanwhile replaces it, because the attempt may be late, or never return.
       */
      const attemptOf = (sessionId: string, frames: Frames): Frames =>
        Stream.suspend(() => {
          const replaced = Deferred.makeUnsafe<void>()
          attempts.set(sessionId, replaced)
          const forget = () => attempts.get(sessionId) === replaced && attempts.delete(sessionId)
          return frames.pipe(
            Stream.tap((arrived) => {
              if (!arrived.some(({ frame }) => frame.kind === "stream-envelope")) return Effect.void
              forget()
              followed.add(sessionId)
              const other = waiting.get(sessionId)
              if (other === undefined) return Effect.void
              waiting.delete(sessionId)
              return FiberMap.remove(fibers, other.number)
            }),
            Stream.interruptWhen(Deferred.await(replaced)),
            Stream.concat(
              Stream.suspend(() => {
                const early = forget() ? waiting.get(sessionId) : undefined
                return early === undefined ? Stream.empty : claim(sessionId, early)
              })
            ),
            Stream.ensuring(Effect.sync(forget))
          )
        })

      return EarlySubscriptions.of({
        open,
        update: (sessionId, view) => {
          const early = waiting.get(sessionId)
          if (early !== undefined) early.view = view
        },
        viewOf: (sessionId) => waiting.get(sessionId)?.view,
        follow: (sessionId, after) => {
          const early = after === 0 ? waiting.get(sessionId) : undefined
          if (early !== undefined) return claim(sessionId, early)
          const frames = observedFrames(runtime, { sessionId, afterSequence: after })
          if (after === 0) return attemptOf(sessionId, frames)
          followed.add(sessionId)
          return frames
        },
        leave: (sessionId) => {
          followed.delete(sessionId)
        }
      })
    })
  )
}
