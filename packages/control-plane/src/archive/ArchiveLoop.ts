import { ArchiveFault } from "@runplane/archive"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import { Metrics } from "../platform/metrics/Metrics.ts"
import { describeSqlError } from "../platform/postgres/SqlFailures.ts"
import { ArchiveStatus } from "./ArchiveStatus.ts"
import { ArchiveWriter } from "./ArchiveWriter.ts"

/** The pause of a writer that has nothing to do. Milliseconds. */
const IDLE_MS = 1_000
/** The pauses after failures double between these. Milliseconds. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

const reasonOf = (failure: ArchiveFault | SqlError): string =>
  failure instanceof ArchiveFault ? failure.message : describeSqlError(failure)

/**
 * Archives for as long as this process is the one that does. An outage is logged at its start and at its end, and is
 * readable by every process meanwhile.
 */
export const archiveForever = Effect.gen(function* () {
  const writer = yield* ArchiveWriter
  const status = yield* ArchiveStatus
  const metrics = yield* Metrics
  let failingSince: number | undefined
  let pause = FIRST_PAUSE_MS

  const failed = Effect.fnUntraced(function* (failure: ArchiveFault | SqlError) {
    metrics.archiveFailed(failure instanceof ArchiveFault ? failure.kind : "database")
    if (failingSince === undefined) {
      failingSince = yield* Clock.currentTimeMillis
      yield* Effect.logWarning(`the archive is not written, and is retried: ${reasonOf(failure)}`)
    }
    if (failure instanceof ArchiveFault) yield* Effect.ignore(status.note(failure))
    yield* Effect.sleep(pause)
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  })

  const worked = Effect.gen(function* () {
    pause = FIRST_PAUSE_MS
    if (failingSince === undefined) return
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - failingSince) / 1_000)
    failingSince = undefined
    yield* status.note(undefined)
    yield* Effect.logInfo(`the archive is written again after ${seconds} s`)
  })

  // A process before this one may have left its failure.
  let isFirst = true
  const round = Effect.gen(function* () {
    const next = yield* writer.step
    // The other process reports its own failures.
    if (Option.isNone(next)) return yield* Effect.sleep(IDLE_MS)
    const step = next.value
    if (isFirst) yield* status.note(undefined)
    isFirst = false
    yield* worked
    metrics.archived(step)
    metrics.archiveLag((yield* status.position)?.lag)
    yield* step.wrote ? Effect.yieldNow : Effect.sleep(IDLE_MS)
  })

  yield* round.pipe(
    Effect.catch(failed),
    Effect.catchDefect((defect) =>
      failed(new ArchiveFault({ kind: "failed", message: defect instanceof Error ? defect.message : String(defect) }))
    ),
    Effect.forever,
    Effect.ensuring(Effect.sync(() => metrics.archiveLag(undefined)))
  )
}).pipe(Effect.withTracerEnabled(false))
