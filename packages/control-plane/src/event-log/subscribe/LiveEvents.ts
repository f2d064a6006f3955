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

/** Another process has written events: of this run, or of any, when nobody can say of which. */
export type Elsewhere = { readonly runId: string; readonly ended: boolean } | "anything"

/** What a transaction has committed. */
export interface Commit {
  /** All the places of the log that it took, ascending; a few may have stayed without an event. */
  readonly places: ReadonlyArray<number>
  /** Ascending. */
  readonly events: ReadonlyArray<CommittedEvent>
}

/**
 * The subscribers of a run are told no sooner than so many milliseconds for each of them after the last time, so that
 * a popular run does not take all of a process. What is committed meanwhile is told together; at once when the run
 * ends, or when so much has come.
 */
const REST_PER_SUBSCRIBER_MS = 0.06
const LONGEST_REST_MS = 100
/** A rest that is not worth a timer. */
const SHORTEST_REST_MS = 5
const HELD_CHARACTERS = 256 * 1024

/** Those who are told of a run. */
interface Audience {
  readonly subscribers: Set<Subscription>
  /** Committed and not told yet. */
  held: Array<LiveBatch>
  heldCharacters: number
  restUntil: number
}

/** Milliseconds between two times that they are told. */
const restOf = ({ subscribers }: Audience): number => {
  const rest = subscribers.size * REST_PER_SUBSCRIBER_MS
  return rest < SHORTEST_REST_MS ? 0 : Math.min(rest, LONGEST_REST_MS)
}

const noAudience = (): Audience => ({ subscribers: new Set(), held: [], heldCharacters: 0, restUntil: 0 })

/**
 * Tells the subscribers of a run, within this process, what has been committed (docs/reference/events.md#commit-first).
 * Publishing never waits: a subscriber that does not keep up is told to read the database instead, so it loses nothing
 * and holds little. Many subscribers of one run are told less often.
 */
export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    /** The batches of one transaction, and the places of the log that it took. */
    readonly publish: (batches: ReadonlyArray<LiveBatch>, places?: ReadonlyArray<number>) => void
    /** Committed elsewhere: subscribers of the run read the database. */
    readonly poke: (runId: string, ended?: boolean) => void
    readonly pokeAll: () => void
    /** Called with every such word from elsewhere; for what must not wait or fail. */
    readonly listenElsewhere: (listener: (word: Elsewhere) => void) => Effect.Effect<void, never, Scope.Scope>
    readonly subscribe: (runId: RunId) => Effect.Effect<Subscription, never, Scope.Scope>
    /** Called with every published batch; for counters, never for work that may wait or fail. */
    readonly listen: (listener: (batch: LiveBatch) => void) => Effect.Effect<void, never, Scope.Scope>
    /** The same by transactions, also of those whose places have stayed empty. */
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

      const tellAll = <A>(all: ReadonlySet<(word: A) => void>, word: A) => {
        for (const listener of all) {
          // It is committed: whatever becomes of a listener, writers and subscribers must not hear otherwise.
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
          tellAll(commitListeners, { places, events })
        }
        for (const batch of batches) {
          tellAll(listeners, batch)
          const audience = byRun.get(batch.runId)
          if (audience !== undefined) tell(audience, batch)
        }
      }

      const tell = (audience: Audience, batch: LiveBatch) => {
        const isFirst = audience.held.length === 0
        audience.held.push(batch)
        audience.heldCharacters += batch.characters
        if (restOf(audience) === 0) return tellHeld(audience)
        const isUrgent = endsRun(batch) || audience.heldCharacters >= HELD_CHARACTERS
        const rest = isUrgent ? 0 : Math.min(audience.restUntil - clock.currentTimeMillisUnsafe(), LONGEST_REST_MS)
        // Beside the writer, who has others to answer.
        if (isFirst || isUrgent) run(Effect.forkIn(tellLater(audience, Math.max(0, rest)), scope))
      }
      const tellLater = (audience: Audience, millis: number) =>
        Effect.delay(
          Effect.sync(() => tellHeld(audience)),
          millis
        )
      const tellHeld = (audience: Audience) => {
        const [first, ...others] = audience.held
        if (first === undefined) return
        const batch = together([first, ...others])
        audience.held = []
        audience.heldCharacters = 0
        audience.restUntil = clock.currentTimeMillisUnsafe() + restOf(audience)
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
