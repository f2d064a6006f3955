import { backoffMs } from "@runplane/domain"
import { forever } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunRecords } from "../control-plane/RunRecords.ts"
import { type DueRecord, RecordRows } from "./RecordRows.ts"

/** Pauses between the tries of one record. Milliseconds. */
const BACKOFF = { firstMs: 500, longestMs: 60_000 }
/** Records of one round, and posts at the same time. */
const ROUND = 100
const CONCURRENCY = 4
/** A control plane that still refuses a record after so long never takes it. Milliseconds. */
const REFUSED_FOR_MS = 24 * 3_600_000
/** One that has been away for so long is gone. Milliseconds. */
const AWAY_FOR_MS = 7 * 24 * 3_600_000

/**
 * Posts the records of items and answers to the runs of their sessions, until the control plane has each or never will.
 * A record that was posted before a kill is posted again under the same key, which has the effect of one.
 */
const make = Effect.gen(function* () {
  const rows = yield* RecordRows
  const records = yield* RunRecords

  const lose = (record: DueRecord, reason: string) =>
    Effect.andThen(
      records.isConfigured
        ? Effect.logError(
            `the log of the control plane lacks ${record.idempotencyKey} of ${record.sessionId}: ${reason}`
          )
        : Effect.void,
      rows.end(record.id, reason)
    )

  const post = Effect.fnUntraced(function* (record: DueRecord) {
    yield* rows.postpone(record.id, backoffMs(BACKOFF, record.tries))
    const posted = yield* records.post(record)
    switch (posted._tag) {
      case "kept":
        return yield* rows.end(record.id)
      case "never":
        return yield* lose(record, posted.reason)
      case "refused":
      case "away": {
        const bound = posted._tag === "away" ? AWAY_FOR_MS : REFUSED_FOR_MS
        if (record.ageMs >= bound) return yield* lose(record, posted.reason)
        if (record.tries === WARN_AT) {
          yield* Effect.logWarning(
            `${record.idempotencyKey} of ${record.sessionId} is not recorded yet, trying again: ${posted.reason}`
          )
        }
        return
      }
    }
  })

  const round = Effect.gen(function* () {
    const due = yield* rows.due(ROUND)
    yield* Effect.forEach(due, post, { concurrency: CONCURRENCY, discard: true })
    const nextMs = yield* rows.nextDueMs
    return { pauseMs: Math.min(POLL_MS, Math.max(0, nextMs ?? POLL_MS)) }
  })

  yield* Effect.forkScoped(forever("people-records", round, { wake: rows.woken, limitMs: LIMIT_MS }))
})

/** The first refusals are ordinary: the message of an answer reaches the log a moment after its session. */
const WARN_AT = 5
/** The longest pause: a wake of a process that ended is lost with it. Milliseconds. */
const POLL_MS = 30_000
/** A round waits for the answers of a control plane that is away. Milliseconds. */
const LIMIT_MS = 600_000

export const layerRecordOutbox = Layer.effectDiscard(make)
