import { makeFairQueue } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { forever } from "../../platform/loop/Forever.ts"

/** How often due times are compared with the clock. Milliseconds. */
const TICK_MS = 100

interface Entry {
  /** The source whose turn it takes. */
  readonly source: string
  /** Unix milliseconds. */
  dueAt: number
  isRunning: boolean
  /** Woken while it ran. */
  isAgain: boolean
  /** Open while it does not run. */
  readonly idle: Latch.Latch
}

interface DueKeysOptions<E, R> {
  /** Keys that are processed at the same time. */
  readonly concurrency: number
  /** Processes a key; returns when it is due again, Unix milliseconds, or undefined when nothing is due. */
  readonly process: (key: string) => Effect.Effect<number | undefined, E, R>
  /** The pause after a failure. Milliseconds. */
  readonly retryMs: number
}

/**
 * Keys that are processed when they are due, each by one fiber at a time, in turns by source: however many keys of one
 * source are due, a key of another waits for one of them at most (docs/reference/ingest.md#turns). A failed one is
 * processed again. A woken key is processed at once when it is new, else with the next tick: many wakes of one key
 * share a read.
 */
export const makeDueKeys = Effect.fnUntraced(function* <E, R>({ concurrency, process, retryMs }: DueKeysOptions<E, R>) {
  const clock = yield* Clock.Clock
  const entries = new Map<string, Entry>()
  const ready = makeFairQueue<string>(concurrency)
  const hasReady = yield* Latch.make(false)

  const makeReady = (key: string, { source }: Entry) => {
    ready.add(source, key)
    hasReady.openUnsafe()
  }

  const wake = (key: string, source: string) => {
    const known = entries.get(key)
    if (known !== undefined) {
      known.isAgain = known.isRunning
      known.dueAt = 0
      return
    }
    const entry = { source, dueAt: 0, isRunning: false, isAgain: false, idle: Latch.makeUnsafe(true) }
    entries.set(key, entry)
    makeReady(key, entry)
  }

  const run = (key: string, entry: Entry) =>
    Effect.gen(function* () {
      entry.isRunning = true
      entry.isAgain = false
      entry.idle.closeUnsafe()
      const next = yield* process(key).pipe(
        Effect.catchCause((cause) =>
          Effect.as(
            Effect.logWarning("received telemetry is processed again", cause),
            clock.currentTimeMillisUnsafe() + retryMs
          )
        )
      )
      entry.isRunning = false
      if (entry.isAgain) entry.dueAt = 0
      else if (next !== undefined) {
        entry.dueAt = next
        if (next <= clock.currentTimeMillisUnsafe()) makeReady(key, entry)
      } else if (entries.get(key) === entry) entries.delete(key)
    }).pipe(Effect.ensuring(entry.idle.open))

  const worker = Effect.gen(function* () {
    const taken = ready.take()
    if (taken === undefined) return void hasReady.closeUnsafe()
    const entry = entries.get(taken.entry)
    const turn = entry === undefined || entry.isRunning ? Effect.void : run(taken.entry, entry)
    yield* Effect.ensuring(
      turn,
      Effect.sync(() => ready.leave(taken.caller))
    )
  })
  for (let number = 0; number < concurrency; number++) {
    yield* Effect.forkScoped(forever("telemetry-workers", worker, { wake: hasReady.await }))
  }

  const tick = Effect.sync(() => {
    const now = clock.currentTimeMillisUnsafe()
    for (const [key, entry] of entries) if (!entry.isRunning && entry.dueAt <= now) makeReady(key, entry)
  })
  yield* Effect.forkScoped(forever("telemetry-clock", tick, { every: TICK_MS, first: TICK_MS }))

  /** Forgets keys, and returns when no fiber processes them any more. */
  const forget = (isOne: (key: string) => boolean) =>
    Effect.suspend(() => {
      const forgotten = [...entries].filter(([key]) => isOne(key))
      for (const [key, { source }] of forgotten) {
        ready.remove(source, key)
        entries.delete(key)
      }
      return Effect.forEach(forgotten, ([, { idle }]) => idle.await, { discard: true })
    })

  return { wake, forget, has: (key: string) => entries.has(key), count: () => entries.size } as const
})
