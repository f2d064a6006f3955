import { ArchiveFault } from "@runplane/archive"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { SqlError } from "effect/sql/SqlError"
import { consume } from "../../event-log/consume/LogConsumer.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { ArchiveStatus } from "./ArchiveStatus.ts"
import { ArchiveWriter } from "./ArchiveWriter.ts"

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

  const step = Effect.gen(function* () {
    const next = yield* writer.step
    // The other process reports its own failures.
    if (Option.isNone(next)) return undefined
    const written = next.value
    if (isFailureNoted) yield* status.note(undefined)
    isFailureNoted = false
    metrics.archiveWritten(written)
    return { isEnd: !written.wrote, lag: (yield* status.position)?.lag }
  })

  yield* consume({
    ...{ name: "archive", step, report: metrics.archiveLag, failed, limitMs: LIMIT_MS },
    isWokenByCommits: false,
    backoff: { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS }
  })
})
