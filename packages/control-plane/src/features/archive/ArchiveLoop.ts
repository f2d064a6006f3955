import { ArchiveFault } from "@runplane/archive"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { SqlError } from "effect/sql/SqlError"
import { forever } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { ArchiveStatus } from "./ArchiveStatus.ts"
import { ArchiveWriter } from "./ArchiveWriter.ts"

/** The pause of a writer that has nothing to do. Milliseconds. */
const IDLE_MS = 1_000
/** The pauses after failures double between these. Milliseconds. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** A file may be large, and its store slow. Milliseconds. */
const LIMIT_MS = 900_000

/** Archives for as long as this process is the one that does. A failure is readable by every process meanwhile. */
export const archiveForever = Effect.gen(function* () {
  const writer = yield* ArchiveWriter
  const status = yield* ArchiveStatus
  const metrics = yield* Metrics
  // A process before this one may have left its failure.
  let isFailureNoted = true

  const failed = Effect.fnUntraced(function* (cause: Cause.Cause<ArchiveFault | SqlError>) {
    const failure = Cause.squash(cause)
    if (failure instanceof SqlError) return metrics.archiveFailed("database")
    const fault =
      failure instanceof ArchiveFault
        ? failure
        : new ArchiveFault({ kind: "failed", message: failure instanceof Error ? failure.message : String(failure) })
    metrics.archiveFailed(fault.kind)
    isFailureNoted = true
    yield* Effect.ignore(status.note(fault))
  })

  const round = Effect.gen(function* () {
    const next = yield* writer.step
    // The other process reports its own failures.
    if (Option.isNone(next)) return { pauseMs: IDLE_MS }
    const step = next.value
    if (isFailureNoted) yield* status.note(undefined)
    isFailureNoted = false
    metrics.archived(step)
    metrics.archiveLag((yield* status.position)?.lag)
    return { pauseMs: step.wrote ? 0 : IDLE_MS }
  })

  const backoff = { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS }
  yield* forever("archive", Effect.tapCause(round, failed), { backoff, limitMs: LIMIT_MS }).pipe(
    Effect.ensuring(Effect.sync(() => metrics.archiveLag(undefined)))
  )
}).pipe(Effect.withTracerEnabled(false))
