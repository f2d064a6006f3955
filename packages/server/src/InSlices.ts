import { makeFairQueue, type Sliced } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { RequestFacts } from "./http/RequestFacts.ts"

/** What all computations of the process take of one turn of the event loop. Milliseconds. */
const SLICE_MS = 10

/** Continues for so many milliseconds; returns whether the computation is over. */
type Job = (ms: number) => boolean

/** Computations that share the thread. */
export interface Computations {
  /** Runs a computation for a caller; `resume` gets its result. Returns how to withdraw it. */
  readonly run: <A>(caller: string, parts: Sliced<A>, resume: (result: Effect.Effect<A>) => void) => () => void
}

/**
 * Computations of which all together take 10 ms of a turn of the event loop. A short one runs at once while there is
 * time left in this turn; the others run in turns by caller. `now` is in milliseconds.
 */
export const makeComputations = (now: () => number): Computations => {
  const waiting = makeFairQueue<Job>(1)
  let leftMs = SLICE_MS
  let isScheduled = false

  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(turn)
  }
  const slice = (job: Job): boolean => {
    const started = now()
    const isOver = job(leftMs)
    leftMs -= now() - started
    schedule()
    return isOver
  }
  const turn = () => {
    isScheduled = false
    leftMs = SLICE_MS
    while (leftMs > 0) {
      const next = waiting.take()
      if (next === undefined) return
      const isOver = slice(next.entry)
      waiting.leave(next.caller)
      if (!isOver) waiting.add(next.caller, next.entry)
    }
  }

  return {
    run: (caller, parts, resume) => {
      const job: Job = (ms) => {
        const started = now()
        try {
          while (true) {
            const part = parts.next()
            if (part.done === true) {
              resume(Effect.succeed(part.value))
              return true
            }
            if (now() - started >= ms) return false
          }
        } catch (defect) {
          resume(Effect.die(defect))
          return true
        }
      }
      if (waiting.waiting() > 0 || leftMs <= 0 || !slice(job)) {
        waiting.add(caller, job)
        schedule()
      }
      return () => waiting.remove(caller, job)
    }
  }
}

/** Processor time, which a test does not move. */
export const ThreadTime = Context.Reference<Computations>("runplane/server/ThreadTime", {
  defaultValue: () => makeComputations(() => performance.now())
})

/**
 * Runs a computation in slices of 10 ms, between which the process does its other work (docs/reference/http.md#turns).
 * The computations of a process share the slices in turns by caller, so one caller with many of them delays those of
 * another by one slice each.
 */
export const inSlices = <A>(parts: Sliced<A>): Effect.Effect<A> =>
  Effect.flatMap(RequestFacts, ({ client }) =>
    Effect.flatMap(ThreadTime, ({ run }) =>
      Effect.callback<A>((resume) => {
        const withdraw = run(client, parts, resume)
        return Effect.sync(withdraw)
      })
    )
  )
