import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import { forever } from "../../platform/loop/Forever.ts"
import { PendingReceipts } from "./PendingReceipts.ts"
import { ATTEMPT_TIMEOUT_MS, makeReceiptFetcher } from "./ReceiptFetcher.ts"

/** Receipts that a process requests at the same time. */
const CONCURRENCY = 4
/** Beyond the time of an attempt a claim lasts this long, for the record of the result. Milliseconds. */
const CLAIM_MARGIN_MS = 30_000
/** The pause between two polls for receipts that other processes have left. Milliseconds. */
const POLL_MS = 5_000

/**
 * Reads the receipts of resolved sessions, in every process (docs/internals/runtime.md#receipts): after the commits of
 * its own, when the next attempt is due, and now and then for what other processes left. A process that dies leaves
 * claims that run out.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const pending = yield* PendingReceipts
    if (pending.windowMs === 0) return
    const fetch = yield* makeReceiptFetcher
    const fibers = yield* FiberSet.make<void, never>()
    let underWay = 0

    const startDue = Effect.gen(function* () {
      const limit = CONCURRENCY - underWay
      if (limit <= 0) return POLL_MS
      // A poll every few seconds would fill every trace.
      const { nextDueMs, receipts } = yield* Effect.withTracerEnabled(
        pending.claim({ limit, leaseMs: ATTEMPT_TIMEOUT_MS + CLAIM_MARGIN_MS }),
        false
      )
      for (const receipt of receipts) {
        underWay += 1
        const ended = Effect.sync(() => {
          underWay -= 1
          pending.wake()
        })
        yield* FiberSet.run(fibers, Effect.ensuring(fetch(receipt), ended))
      }
      return Math.min(POLL_MS, Math.max(0, Math.ceil(nextDueMs ?? POLL_MS)))
    })
    const round = startDue.pipe(
      Effect.uninterruptible,
      // A claim of another process can be due at once, and locked.
      Effect.map((waitMs) => ({ pauseMs: Math.max(waitMs, 50) }))
    )
    yield* Effect.forkScoped(forever("receipts", round, { wake: pending.woken }))
  })
)
