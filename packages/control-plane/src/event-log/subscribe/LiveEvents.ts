import type { RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { endsRun, type LiveBatch, together } from "./LiveBatch.ts"
import { Subscription } from "./Subscription.ts"

/** Another process has committed events: of this run, or of unknown runs. */
export type Elsewhere = { readonly runId: string; readonly ended: boolean } | "anything"

/**
 * The pause between two deliveries to the subscribers of a run, milliseconds for each of them, so that a popular run
 * leaves time to others. Batches of a pause are delivered as one: earlier when the run ends, or when they are large.
 */
const PAUSE_PER_SUBSCRIBER_MS = 0.06
const LONGEST_PAUSE_MS = 100
/** A shorter pause costs more than it saves. */
const SHORTEST_PAUSE_MS = 5
const PENDING_CHARACTERS = 256 * 1024

/** The subscribers of a run. */
interface Audience {
  readonly subscribers: Set<Subscription>
  /** Committed and not delivered yet. */
  pending: Array<LiveBatch>
  pendingCharacters: number
  pauseUntil: number
}

const pauseOf = ({ subscribers }: Audience): number => {
  const pause = subscribers.size * PAUSE_PER_SUBSCRIBER_MS
  return pause < SHORTEST_PAUSE_MS ? 0 : Math.min(pause, LONGEST_PAUSE_MS)
}

const noAudience = (): Audience => ({ subscribers: new Set(), pending: [], pendingCharacters: 0, pauseUntil: 0 })

/**
 * Delivers committed events to the subscribers in this process (docs/reference/events.md#commit-first). A publisher
 * never waits: a slow subscriber receives a gap and reads the database, so it loses no event and holds little memory.
 * The many subscribers of a popular run receive fewer and larger batches.
 */
export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    /** Publishes the batches of one committed transaction. */
    readonly publish: (batches: ReadonlyArray<LiveBatch>) => void
    /** Another process has committed: subscribers of the run read the database. */
    readonly poke: (runId: string, ended?: boolean) => void
    readonly pokeAll: () => void
    /** Calls a listener, which must not wait or fail, for each commit of another process. */
    readonly listenElsewhere: (listener: (commit: Elsewhere) => void) => Effect.Effect<void, never, Scope.Scope>
    readonly subscribe: (runId: RunId) => Effect.Effect<Subscription, never, Scope.Scope>
    /** Calls a listener, which must not wait or fail, with each published batch. */
    readonly listen: (listener: (batch: LiveBatch) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("runplane/control-plane/LiveEvents") {
  static readonly layer = Layer.effect(
    LiveEvents,
    Effect.gen(function* () {
      const { sideEffectFailed } = yield* Metrics
      const run = Effect.runForkWith(yield* Effect.context())
      const clock = yield* Clock.Clock
      const scope = yield* Effect.scope
      const byRun = new Map<string, Audience>()
      const listeners = new Set<(batch: LiveBatch) => void>()
      const elsewhere = new Set<(commit: Elsewhere) => void>()

      const callListeners = (batch: LiveBatch) => {
        for (const listener of listeners) {
          // The batch is committed, so a failing listener must not fail the writer.
          try {
            listener(batch)
          } catch (fault) {
            sideEffectFailed("publish")
            run(Effect.logError("a listener of committed events failed", fault))
          }
        }
      }

      const publish = (batches: ReadonlyArray<LiveBatch>) => {
        for (const batch of batches) {
          callListeners(batch)
          const audience = byRun.get(batch.runId)
          if (audience !== undefined) deliver(audience, batch)
        }
      }

      const deliver = (audience: Audience, batch: LiveBatch) => {
        const isFirst = audience.pending.length === 0
        audience.pending.push(batch)
        audience.pendingCharacters += batch.characters
        if (pauseOf(audience) === 0) return deliverPending(audience)
        const isUrgent = endsRun(batch) || audience.pendingCharacters >= PENDING_CHARACTERS
        const pause = isUrgent ? 0 : Math.min(audience.pauseUntil - clock.currentTimeMillisUnsafe(), LONGEST_PAUSE_MS)
        // In its own fiber, so that the writer continues.
        if (isFirst || isUrgent) run(Effect.forkIn(deliverLater(audience, Math.max(0, pause)), scope))
      }
      const deliverLater = (audience: Audience, millis: number) =>
        Effect.delay(
          Effect.sync(() => deliverPending(audience)),
          millis
        )
      const deliverPending = (audience: Audience) => {
        const [first, ...others] = audience.pending
        if (first === undefined) return
        const batch = together([first, ...others])
        audience.pending = []
        audience.pendingCharacters = 0
        audience.pauseUntil = clock.currentTimeMillisUnsafe() + pauseOf(audience)
        for (const subscription of audience.subscribers) subscription.put(batch)
      }

      const wake = (runId: string) => {
        for (const subscription of byRun.get(runId)?.subscribers ?? []) subscription.put({ _tag: "Gap" })
      }

      const poke = (runId: string, ended = false) => {
        wake(runId)
        for (const listener of elsewhere) listener({ runId, ended })
      }

      const pokeAll = () => {
        for (const runId of byRun.keys()) wake(runId)
        for (const listener of elsewhere) listener("anything")
      }

      const subscribe = Effect.fnUntraced(function* (runId: RunId) {
        return yield* Effect.acquireRelease(
          Effect.sync(() => {
            const audience = byRun.get(runId) ?? noAudience()
            const subscription = new Subscription(audience.subscribers)
            audience.subscribers.add(subscription)
            byRun.set(runId, audience)
            return subscription
          }),
          (subscription) =>
            Effect.sync(() => {
              const audience = byRun.get(runId)
              audience?.subscribers.delete(subscription)
              if (audience?.subscribers.size === 0) byRun.delete(runId)
            })
        )
      })

      return LiveEvents.of({
        publish,
        poke,
        pokeAll,
        subscribe,
        listen: (listener) => during(listeners, listener),
        listenElsewhere: (listener) => during(elsewhere, listener)
      })
    })
  )
}

const during = <A>(listeners: Set<A>, listener: A) =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => listeners.add(listener)),
      () => Effect.sync(() => listeners.delete(listener))
    )
  )
