import type { ArchiveFault } from "@runplane/archive"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import { ArchiveLock, layerLocked } from "./ArchiveLock.ts"
import { ArchiveOptions } from "./ArchiveOptions.ts"
import { ArchiveState } from "./ArchiveState.ts"
import { makeChangeFiles } from "./ChangeFiles.ts"
import { type ArchiveStep, makeEventFiles, NO_STEP } from "./EventFiles.ts"

/**
 * Writes the log, ended runs, marks and tombstones to the archive (docs/reference/archive.md). One writer at a time
 * does the work: the others wait for its lock.
 */
export class ArchiveWriter extends Context.Service<
  ArchiveWriter,
  {
    /** One file, when it is time for one; none while another process has the lock. */
    readonly step: Effect.Effect<Option.Option<ArchiveStep>, ArchiveFault | SqlError>
    /** Everything that there is now; returns the sums. */
    readonly pass: Effect.Effect<ArchiveStep, ArchiveFault | SqlError>
  }
>()("runplane/control-plane/ArchiveWriter") {
  static readonly layer = Layer.effect(
    ArchiveWriter,
    Effect.gen(function* () {
      const state = yield* ArchiveState
      const events = yield* makeEventFiles
      const changes = yield* makeChangeFiles
      const lock = yield* ArchiveLock
      const { intervalMs } = yield* ArchiveOptions
      let changesAt = Number.NEGATIVE_INFINITY

      const writeChanges = Effect.gen(function* () {
        for (const table of [changes.runs, changes.marks, changes.tombstones]) {
          const step = yield* table
          if (step.wrote) return step
        }
        return NO_STEP
      })

      const write = Effect.fn("ArchiveWriter.step")(function* (isForced: boolean) {
        const { seq } = yield* state.open
        const step = yield* events(seq, isForced)
        const now = yield* Clock.currentTimeMillis
        if (step.wrote || (!isForced && now - changesAt < intervalMs)) return step
        const changed = yield* writeChanges
        if (!changed.wrote) changesAt = now
        return changed
      })

      const pass = Effect.gen(function* () {
        let sum = NO_STEP
        while (true) {
          const { bytes, files, rows, wrote } = yield* lock.withLockAtLast(write(true))
          if (!wrote) return sum
          sum = { wrote, rows: sum.rows + rows, bytes: sum.bytes + bytes, files: sum.files + files }
        }
      }).pipe(Effect.withSpan("ArchiveWriter.pass"))
      return ArchiveWriter.of({ step: lock.withLock(write(false)), pass })
    })
  ).pipe(Layer.provide(layerLocked))
}
