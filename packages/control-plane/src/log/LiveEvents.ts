import type { RunId, RunStatus } from "@runplane/domain"
import { isTerminal } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { SideEffectMeter } from "../edge/SideEffectMeter.ts"
import type { CommittedEvent } from "./AppendRequest.ts"

/** What one committed append tells the subscribers of its run. */
export interface LiveBatch {
  readonly _tag: "Batch"
  readonly runId: RunId
  readonly status: RunStatus
  /** The change of status this append made, if any. */
  readonly changed: boolean
  readonly events: ReadonlyArray<CommittedEvent>
  readonly lastSeq: number
  readonly lastIndex: number
  /** The frames of the events: the same bytes for every subscriber, made once, on first use. */
  readonly frames: () => Uint8Array
  /** The frame of the state after these events, made in the same way. */
  readonly snapshot: () => Uint8Array
}

/** The subscriber fell behind, or another instance wrote: read the database from the last seq seen. */
export interface LiveGap {
  readonly _tag: "Gap"
}

export interface LiveSubscription {
  readonly take: Effect.Effect<LiveBatch | LiveGap>
}

/** Another process has written events: of this run, or of any, when nobody can say of which. */
export type Elsewhere = { readonly runId: string; readonly ended: boolean } | "anything"

/** Batches, and characters of their events, held for one slow subscriber before it is sent back to the database. */
export const SUBSCRIBER_CAPACITY = 64
export const SUBSCRIBER_CHARACTERS = 1024 * 1024

interface Subscriber {
  readonly queue: Queue.Queue<LiveBatch | LiveGap>
  /** Of the events in the queue. */
  characters: number
  lagging: boolean
}

const encoder = new TextEncoder()

export const canonicalEventFrame = (event: { readonly seq: number; readonly json: string }): string =>
  `event: canonical_event\nid: ${event.seq}\ndata: ${event.json}\n\n`

export const snapshotFrame = (snapshot: string): string => `event: snapshot\ndata: ${snapshot}\n\n`

/** A batch; `state` is the JSON text of the projected state after it, asked for at most once. */
export const makeLiveBatch = ({
  state,
  ...batch
}: Omit<LiveBatch, "_tag" | "frames" | "snapshot"> & { readonly state: () => string }): LiveBatch => ({
  _tag: "Batch",
  ...batch,
  frames: once(() => encoder.encode(batch.events.map(canonicalEventFrame).join(""))),
  snapshot: once(() => encoder.encode(snapshotFrame(state())))
})

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const charactersOf = ({ events }: LiveBatch): number => events.reduce((sum, { json }) => sum + json.length, 0)

export const endsRun = (batch: LiveBatch): boolean => batch.changed && isTerminal(batch.status)

/**
 * Tells the subscribers of a run, within this process, what has been committed (docs/events.md#commit-first).
 * Publishing never waits: a subscriber that does not keep up is told to read the database instead, so it loses nothing
 * and holds little.
 */
export class LiveEvents extends Context.Service<
  LiveEvents,
  {
    readonly publish: (batches: ReadonlyArray<LiveBatch>) => void
    /** Committed elsewhere: subscribers of the run read the database. */
    readonly poke: (runId: string, ended?: boolean) => void
    readonly pokeAll: () => void
    /** Called with every such word from elsewhere; for what must not wait or fail. */
    readonly listenElsewhere: (listener: (word: Elsewhere) => void) => Effect.Effect<void, never, Scope.Scope>
    readonly subscribe: (runId: RunId) => Effect.Effect<LiveSubscription, never, Scope.Scope>
    /** Called with every published batch; for counters, never for work that may wait or fail. */
    readonly listen: (listener: (batch: LiveBatch) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("runplane/control-plane/LiveEvents") {
  static readonly layer = Layer.effect(
    LiveEvents,
    Effect.gen(function* () {
      const sideEffectFailed = yield* SideEffectMeter
      const log = Effect.runForkWith(yield* Effect.context())
      const byRun = new Map<string, Set<Subscriber>>()
      const listeners = new Set<(batch: LiveBatch) => void>()
      const elsewhere = new Set<(word: Elsewhere) => void>()

      const offer = (subscriber: Subscriber, item: LiveBatch | LiveGap) => {
        if (subscriber.lagging) return
        const held = Queue.sizeUnsafe(subscriber.queue)
        // One place is kept free for the gap itself, and a batch of any size is taken alone.
        if (
          item._tag === "Batch" &&
          held < SUBSCRIBER_CAPACITY &&
          (held === 0 || subscriber.characters + charactersOf(item) <= SUBSCRIBER_CHARACTERS)
        ) {
          subscriber.characters += charactersOf(item)
          Queue.offerUnsafe(subscriber.queue, item)
          return
        }
        subscriber.lagging = true
        Queue.offerUnsafe(subscriber.queue, { _tag: "Gap" })
      }

      const publish = (batches: ReadonlyArray<LiveBatch>) => {
        for (const batch of batches) {
          for (const listener of listeners) {
            // The batch is committed: whatever becomes of a listener, its writers and subscribers must not hear
            // otherwise.
            try {
              listener(batch)
            } catch (fault) {
              sideEffectFailed("publish")
              log(Effect.logError("a listener of committed events failed", fault))
            }
          }
          const subscribers = byRun.get(batch.runId)
          if (subscribers !== undefined) for (const subscriber of subscribers) offer(subscriber, batch)
        }
      }

      const wake = (runId: string) => {
        for (const subscriber of byRun.get(runId) ?? []) offer(subscriber, { _tag: "Gap" })
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
        const queue = yield* Queue.bounded<LiveBatch | LiveGap>(SUBSCRIBER_CAPACITY + 1)
        const subscriber: Subscriber = { queue, characters: 0, lagging: false }
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            const subscribers = byRun.get(runId) ?? new Set()
            byRun.set(runId, subscribers.add(subscriber))
          }),
          () =>
            Effect.sync(() => {
              const subscribers = byRun.get(runId)
              subscribers?.delete(subscriber)
              if (subscribers?.size === 0) byRun.delete(runId)
            })
        )
        const take = Effect.tap(Queue.take(queue), (item) =>
          Effect.sync(() => {
            if (item._tag === "Gap") subscriber.lagging = false
            else subscriber.characters -= charactersOf(item)
          })
        )
        return { take }
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

const during = <A>(all: Set<A>, one: A) =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => all.add(one)),
      () => Effect.sync(() => all.delete(one))
    )
  )
