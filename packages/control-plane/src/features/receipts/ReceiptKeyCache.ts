import { NO_RECEIPT_KEYS, type ReceiptKeys, readReceiptKeys } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"

/** How long keys are used without a new read. Milliseconds. */
const FRESH_MS = 300_000

/**
 * The keys of the runtime's receipts. One read serves the receipts of some minutes; a receipt of an unknown key causes
 * another one, because the runtime can have a new key.
 */
export const makeReceiptKeyCache = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const reads = yield* Semaphore.make(1)
  let known = { keys: NO_RECEIPT_KEYS, at: Number.NEGATIVE_INFINITY }

  const read = Effect.gen(function* () {
    const text = yield* runtime.getReceiptKeys
    const keys = readReceiptKeys(text)
    if (Result.isFailure(keys)) yield* Effect.logWarning(`the keys of receipts cannot be read: ${keys.failure}`)
    known = { keys: Result.getOrElse(keys, () => NO_RECEIPT_KEYS), at: yield* Clock.currentTimeMillis }
  })

  /** The keys, with those of the ids if the runtime has them. */
  return (ids: ReadonlyArray<string>): Effect.Effect<ReceiptKeys, RuntimeError> =>
    Effect.gen(function* () {
      if (ids.length === 0) return NO_RECEIPT_KEYS
      const age = (yield* Clock.currentTimeMillis) - known.at
      const isMissing = ids.some((id) => !known.keys.has(id))
      if (age > FRESH_MS || isMissing) yield* read
      return known.keys
    }).pipe(reads.withPermits(1))
})
