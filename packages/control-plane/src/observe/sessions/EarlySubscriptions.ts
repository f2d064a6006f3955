import type { SessionSnapshot } from "@runplane/domain"
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
import { withoutServices } from "../../platform/http/LeanContext.ts"
import type { SessionView } from "../decide/Input.ts"
import { ObserverSettings } from "../ObserverSettings.ts"
import { isObservableSessionId } from "./SessionIds.ts"

/** A subscription as the log takes it: what came together, with the time at which it came. */
const observedFrames = (
  runtime: RuntimeClient["Service"],
  subscription: { readonly sessionId: string; readonly afterSequence: number }
): Stream.Stream<ReadonlyArray<ObservedFrame>, RuntimeError> =>
  runtime.streamSession(subscription).pipe(
    Stream.mapArrayEffect((items) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const receivedAt = new Date(now).toISOString()
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

/** Sessions that may wait for their observers at the same time, with a stream each; others go without. */
const MOST_TAPS = 128
/** Bytes of frames that one of them may hold. */
const TAP_BYTES = 128 * 1024
/** Bytes that are handed on at a time, unless a single frame has more. */
const PART_BYTES = 32 * 1024
/** How long a session waits beyond the grace of the discovery. Milliseconds. */
const PATIENCE_MS = 5_000

interface Tap {
  /** What was last heard of the session. */
  view: SessionView
  taken: boolean
  readonly number: number
  readonly frames: Stream.Stream<ReadonlyArray<ObservedFrame>, RuntimeError>
}

/**
 * Streams of new sessions that nobody follows yet: their `POST /runs` is on its way, their run is still to be
 * discovered, or its observer waits for the database. A session may be over by then, and its history dropped, so it is
 * subscribed to on the first word of it, and its frames wait for the observer
 * (docs/internals/runtime.md#early-subscription).
 */
export class EarlySubscriptions extends Context.Service<
  EarlySubscriptions,
  {
    /** Returns at once. Does nothing for a session that is followed, or when too many wait already. */
    readonly open: (session: SessionSnapshot) => Effect.Effect<void>
    /** The session has been heard of again. */
    readonly note: (sessionId: string, view: SessionView) => void
    /** What was last heard of a session that waits. */
    readonly heard: (sessionId: string) => SessionView | undefined
    /** The session's frames after that ordinal; what has waited goes to the first who asks from the beginning. */
    readonly follow: (sessionId: string, after: number) => Tap["frames"]
    /** The session is not followed any more. */
    readonly leave: (sessionId: string) => void
  }
>()("runplane/control-plane/EarlySubscriptions") {
  static readonly layer = Layer.effect(
    EarlySubscriptions,
    Effect.gen(function* () {
      const runtime = yield* RuntimeClient
      const { discoveryGraceMs } = yield* ObserverSettings
      const fibers = yield* FiberMap.make<number>()
      const waiting = new Map<string, Tap>()
      const followed = new Set<string>()
      /** Attempts of observers that have brought nothing so far; each is notified of a tap of its session. */
      const attempts = new Map<string, Deferred.Deferred<void>>()
      let opened = 0

      const open = Effect.fnUntraced(function* (session: SessionSnapshot) {
        const { sessionId } = session
        if (waiting.size >= MOST_TAPS || waiting.has(sessionId) || followed.has(sessionId)) return
        if (!isObservableSessionId(sessionId)) return
        const queue = yield* Queue.unbounded<Handed, RuntimeError | Cause.Done>()
        opened += 1
        const number = opened
        const tap: Tap = {
          view: { state: session.state, snapshot: session },
          taken: false,
          number,
          frames: Stream.fromQueue(queue).pipe(
            Stream.map(({ frames, give }) => {
              give()
              return frames
            }),
            Stream.ensuring(FiberMap.remove(fibers, number))
          )
        }
        waiting.set(sessionId, tap)
        const attempt = attempts.get(sessionId)
        if (attempt !== undefined) Deferred.doneUnsafe(attempt, Effect.void)

        const room = new Permits(TAP_BYTES)
        const hand = (frames: ReadonlyArray<ObservedFrame>) => {
          // Once it is taken, the observer's own inbox is what holds frames: one part at a time goes there.
          const bytes = tap.taken ? TAP_BYTES : totalBytes(frames)
          const handed: Handed = { frames, give: () => room.give(bytes) }
          return Effect.map(room.take(bytes), () => void Queue.offerUnsafe(queue, handed))
        }
        const feed = observedFrames(runtime, { sessionId, afterSequence: 0 }).pipe(
          Stream.runForEach((frames) => Effect.forEach(partsOfBytes(frames, PART_BYTES), hand, { discard: true })),
          Effect.matchCauseEffect({
            onSuccess: () => Queue.end(queue),
            onFailure: (cause) => Queue.failCause(queue, cause)
          }),
          // Whoever takes it may come later, and goes first.
          Effect.andThen(Effect.never)
        )
        const patience = Effect.sleep(discoveryGraceMs + PATIENCE_MS).pipe(
          Effect.andThen(Effect.suspend(() => (tap.taken ? Effect.never : Effect.void)))
        )
        const forget = Effect.sync(() => waiting.get(sessionId) === tap && waiting.delete(sessionId))
        const held = Effect.raceFirst(feed, patience).pipe(Effect.ensuring(forget))
        yield* FiberMap.run(fibers, number, withoutServices(held))
      })

      const take = (sessionId: string, tap: Tap) => {
        followed.add(sessionId)
        tap.taken = true
        waiting.delete(sessionId)
        return tap.frames
      }

      /**
       * A subscription that may be from before the session was opened: until it has brought an envelope, the watch
       * counts. A tap that is opened meanwhile takes its place, because the attempt may be late, or never return.
       */
      const attemptOf = (sessionId: string, frames: Tap["frames"]): Tap["frames"] =>
        Stream.suspend(() => {
          const tapped = Deferred.makeUnsafe<void>()
          attempts.set(sessionId, tapped)
          const forget = () => attempts.get(sessionId) === tapped && attempts.delete(sessionId)
          return frames.pipe(
            Stream.tap((brought) => {
              if (!brought.some(({ frame }) => frame.kind === "stream-envelope")) return Effect.void
              forget()
              followed.add(sessionId)
              const other = waiting.get(sessionId)
              if (other === undefined) return Effect.void
              waiting.delete(sessionId)
              return FiberMap.remove(fibers, other.number)
            }),
            Stream.interruptWhen(Deferred.await(tapped)),
            Stream.concat(
              Stream.suspend(() => {
                const tap = forget() ? waiting.get(sessionId) : undefined
                return tap === undefined ? Stream.empty : take(sessionId, tap)
              })
            ),
            Stream.ensuring(Effect.sync(forget))
          )
        })

      return EarlySubscriptions.of({
        open,
        note: (sessionId, view) => {
          const tap = waiting.get(sessionId)
          if (tap !== undefined) tap.view = view
        },
        heard: (sessionId) => waiting.get(sessionId)?.view,
        follow: (sessionId, after) => {
          const tap = after === 0 ? waiting.get(sessionId) : undefined
          if (tap !== undefined) return take(sessionId, tap)
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

interface Handed {
  readonly frames: ReadonlyArray<ObservedFrame>
  /** Makes room for others. */
  readonly give: () => void
}
