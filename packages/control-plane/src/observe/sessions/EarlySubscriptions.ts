import { isoTime, type SessionSnapshot, type SessionStreamFrame } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Pull from "effect/Pull"
import * as Queue from "effect/Queue"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import { observed, partsOfBytes, totalBytes } from "../../event-log/append/FrameBytes.ts"
import { Permits } from "../../event-log/append/Permits.ts"
import type { SessionView } from "../decide/Input.ts"
import { ObserverSettings } from "../ObserverSettings.ts"
import { isObservableSessionId } from "../SessionIds.ts"

type Deliver = (frames: ReadonlyArray<ObservedFrame>) => Effect.Effect<unknown>

/** Delivers frames until they end. */
type Delivery = (deliver: Deliver) => Effect.Effect<void, RuntimeError>

/**
 * Delivers the frames of a subscription as the log stores them, with the time of their arrival. While there is a
 * `replacement`, the frames end with it. Thousands of observers wait here: the operators of a stream take several times
 * the memory of this loop, and a generator would keep the last frames while it waits for the next.
 */
const deliverFrames = (
  runtime: RuntimeClient["Service"],
  subscription: { readonly sessionId: string; readonly afterSequence: number },
  deliver: Deliver,
  replacement: () => Effect.Effect<void> | undefined = () => undefined
): Effect.Effect<void, RuntimeError> =>
  Effect.scopedWith((scope) => {
    const { channel } = runtime.streamSession(subscription)
    // `Stream.toPull` would copy the services of the process for each waiting observer.
    let next = Effect.flatMap(Channel.toPullScoped(channel, scope), (pull) => {
      next = pull
      return pull
    })
    const arrived = Effect.suspend(() => {
      const replaced = replacement()
      return replaced === undefined ? next : Effect.raceFirst(next, Effect.andThen(replaced, Cause.done()))
    })
    return arrived.pipe(
      Effect.flatMap((items) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => deliver(items.map((item) => observedItem(item, isoTime(now)))))
      ),
      Effect.forever({ disableYield: true })
    )
  }).pipe(Pull.catchDone(() => Effect.void))

const observedItem = (item: SessionStreamFrame, receivedAt: string) =>
  observed(
    item._tag === "Envelope"
      ? { kind: "stream-envelope", envelope: item.envelope, ambient: false }
      : { kind: "stream-inline-error", error: item.error },
    receivedAt
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
  readonly delivery: Delivery
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
    /**
     * Delivers the session's frames after that ordinal until the stream ends; the first reader from the beginning gets
     * the early subscription.
     */
    readonly follow: (sessionId: string, after: number, deliver: Deliver) => Effect.Effect<void, RuntimeError>
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
          delivery: (deliver) =>
            Queue.take(queue).pipe(
              Effect.flatMap(({ frames, release }) => {
                release()
                return deliver(frames)
              }),
              Effect.forever,
              Pull.catchDone(() => Effect.void),
              Effect.ensuring(FiberMap.remove(fibers, number))
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
        const feed = deliverFrames(runtime, { sessionId, afterSequence: 0 }, (frames) =>
          Effect.forEach(partsOfBytes(frames, BATCH_BYTES), offer, { discard: true })
        ).pipe(
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
        return early.delivery
      }

      /**
       * A subscription that may be older than its session: until it delivers an envelope, the watch counts. An early
       * subscription that opens meanwhile replaces it, because the attempt may be late, or never return.
       */
      const attempt = (sessionId: string, deliver: Deliver) =>
        Effect.suspend(() => {
          const replaced = Deferred.makeUnsafe<void>()
          attempts.set(sessionId, replaced)
          const isAttempt = () => attempts.get(sessionId) === replaced
          const forget = () => isAttempt() && attempts.delete(sessionId)
          const replacement = () => (isAttempt() ? Deferred.await(replaced) : undefined)
          return deliverFrames(
            runtime,
            { sessionId, afterSequence: 0 },
            Effect.fnUntraced(function* (arrived) {
              if (isAttempt() && arrived.some(({ frame }) => frame.kind === "stream-envelope")) {
                forget()
                followed.add(sessionId)
                const other = waiting.get(sessionId)
                waiting.delete(sessionId)
                if (other !== undefined) yield* FiberMap.remove(fibers, other.number)
              }
              yield* deliver(arrived)
            }),
            replacement
          ).pipe(
            Effect.andThen(
              Effect.suspend(() => {
                const early = forget() ? waiting.get(sessionId) : undefined
                return early === undefined ? Effect.void : claim(sessionId, early)(deliver)
              })
            ),
            Effect.ensuring(Effect.sync(forget))
          )
        })

      return EarlySubscriptions.of({
        open,
        update: (sessionId, view) => {
          const early = waiting.get(sessionId)
          if (early !== undefined) early.view = view
        },
        viewOf: (sessionId) => waiting.get(sessionId)?.view,
        follow: (sessionId, after, deliver) => {
          const early = after === 0 ? waiting.get(sessionId) : undefined
          if (early !== undefined) return claim(sessionId, early)(deliver)
          if (after === 0) return attempt(sessionId, deliver)
          followed.add(sessionId)
          return deliverFrames(runtime, { sessionId, afterSequence: after }, deliver)
        },
        leave: (sessionId) => {
          followed.delete(sessionId)
        }
      })
    })
  )
}
