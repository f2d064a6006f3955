import type { RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import type { CommittedEvent } from "../CommittedEvent.ts"
import { endsRun, type LiveBatch, together } from "./LiveBatch.ts"
import { Subscription } from "./Subscription.ts"

/** Another process has written events: of this run, or of any run, when the run is unknown. */
export type Elsewhere = { readonly runId: string; readonly ended: boolean } | "anything"

/** What a transaction has committed. */
export interface Commit {
  /** All numbers of the log that it allocated, ascending; a few may have no event. */
  readonly places: ReadonlyArray<number>
  /** Ascending. */
  readonly events: ReadonlyArray<CommittedEvent>
}

/**
 * The pause between two notifications of a run's subscribers, for each of them, so that a popular run does not use up a
 * process. Meanwhile commits are joined into one notification; the end of the run, or many characters, send it at once.
 */
const PAUSE_PER_SUBSCRIBER_MS = 0.06
const LONGEST_PAUSE_MS = 100
/** A shorter pause is not worth a timer. */
const SHORTEST_PAUSE_MS = 5
const PENDING_CHARACTERS = 256 * 1024

/** The subscribers of a run. */
interface Audience {
  readonly subscribers: Set<Subscription>
  /** Committed, and not notified yet. */
  pending: Array<LiveBatch>
  pendingCharacters: number
  pausedUntil: number
}

/** The pause between two notifications. Milliseconds. */
const pauseOf = ({ subscribers }: Audience): number => {
  const pause = subscribers.size * PAUSE_PER_SUBSCRIBER_MS
  return pause < SHORTEST_PAUSE_MS ? 0 : Math.min(pause, LONGEST_PAUSE_MS)
}

const noAudience = (): Audience => ({ subscribers: new Set(), pending: [], pendingCharacters: 0, pausedUntil: 0 })

/**
 * Notifies the subscribers of a run in this process of commits (docs/reference/events.md#commit-first). Publishing
 * never waits: a slow subscriber gets a gap and reads the database instead, so it loses nothing and holds little. Many
 * subscribers of one run are notified less often.
 */
export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    /** The batches of one transaction, and the numbers of the log that it allocated. */
    readonly publish: (batches: ReadonlyArray<LiveBatch>, places?: ReadonlyArray<number>) => void
    /** Committed elsewhere: subscribers of the run read the database. */
    readonly poke: (runId: string, ended?: boolean) => void
    readonly pokeAll: () => void
    /** Called with every such notice of another process. The listener must neither wait nor fail. */
    readonly listenElsewhere: (listener: (word: Elsewhere) => void) => Effect.Effect<void, never, Scope.Scope>
    readonly subscribe: (runId: RunId) => Effect.Effect<Subscription, never, Scope.Scope>
    /** Called with every published batch; for counters, never for work that may wait or fail. */
    readonly listen: (listener: (batch: LiveBatch) => void) => Effect.Effect<void, never, Scope.Scope>
    /** The same by transactions, also those without an event. */
    readonly listenToCommits: (listener: (commit: Commit) => void) => Effect.Effect<void, never, Scope.Scope>
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
      const commitListeners = new Set<(commit: Commit) => void>()
      const elsewhere = new Set<(word: Elsewhere) => void>()

      const notifyAll = <A>(all: ReadonlySet<(word: A) => void>, word: A) => {
        for (const listener of all) {
          // The append is committed: a failing listener must not fail writers and subscribers.
          try {
            listener(word)
          } catch (fault) {
            sideEffectFailed("publish")
            run(Effect.logError("a listener of committed events failed", fault))
          }
        }
      }

      const publish = (batches: ReadonlyArray<LiveBatch>, places: ReadonlyArray<number> = []) => {
        if (commitListeners.size > 0 && places.length > 0) {
          const events = batches.flatMap((batch) => batch.events).sort((left, right) => left.seq - right.seq)
          notifyAll(commitListeners, { places, events })
        }
        for (const batch of batches) {
          notifyAll(listeners, batch)
          const audience = byRun.get(batch.runId)
          if (audience !== undefined) notify(audience, batch)
        }
      }

      const notify = (audience: Audience, batch: LiveBatch) => {
        const isFirst = audience.pending.length === 0
        audience.pending.push(batch)
        audience.pendingCharacters += batch.characters
        if (pauseOf(audience) === 0) return deliverPending(audience)
        const isUrgent = endsRun(batch) || audience.pendingCharacters >= PENDING_CHARACTERS
        const pause = isUrgent ? 0 : Math.min(audience.pausedUntil - clock.currentTimeMillisUnsafe(), LONGEST_PAUSE_MS)
        // In a fiber of its own: the writer has other callers.
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
        audience.pausedUntil = clock.currentTimeMillisUnsafe() + pauseOf(audience)
        for (const mailbox of audience.subscribers) mailbox.put(batch)
      }

      const wake = (runId: string) => {
        for (const mailbox of byRun.get(runId)?.subscribers ?? []) mailbox.put({ _tag: "Gap" })
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
            const mailbox = new Subscription(audience.subscribers)
            audience.subscribers.add(mailbox)
            byRun.set(runId, audience)
            return mailbox
          }),
          (mailbox) =>
            Effect.sync(() => {
              const audience = byRun.get(runId)
              audience?.subscribers.delete(mailbox)
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
        listenToCommits: (listener) => during(commitListeners, listener),
        listenElsewhere: (listener) => during(elsewhere, listener)
      })
    })
  )
}

const during = <A>(all: Set<A>, one: A) =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => all.add(one)),
      () => Effect.sync(() => all.delete(one))
    )
  )
