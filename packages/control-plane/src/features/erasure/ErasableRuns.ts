import { erasureConflict, runNotFound } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { ColdErasures } from "../../event-log/erasure/ColdErasures.ts"
import { type ErasableHead, makeErasableLog, type TextLog } from "../../event-log/erasure/ErasableLog.ts"
import { makeErasedProjection } from "../../event-log/erasure/ErasedProjection.ts"
import { type FoundRows, type RunErasure, togetherFound } from "../../event-log/erasure/ErasureHooks.ts"
import { type ErasedArtifacts, makeRunTexts, type RunTexts } from "../../event-log/erasure/RunTexts.ts"
import { RunAdministration } from "../../event-log/runs/RunAdministration.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { makeMarkErasure } from "../../marks/MarkErasure.ts"

/** A run as an erasure reads and changes it, in the database or in files. */
export interface ErasableRun extends ErasableHead {
  readonly runId: RunId
  readonly log: TextLog
  readonly artifactsWith: RunTexts["artifactsWith"]
  /** Removes texts from its rows beside the log. */
  readonly beside: (erasure: RunErasure, artifacts: ErasedArtifacts) => Effect.Effect<FoundRows, SqlError>
  /** What follows from the changed log. */
  readonly changed: Effect.Effect<void, SqlError>
}

const expired = (id: string) =>
  `run ${id} has left the database: only files of an archive may have it, where single texts cannot be erased; ` +
  "delete the whole run instead"

/** Opens runs for an erasure: those of the database, and those that only files have. */
export const makeErasableRuns = Effect.gen(function* () {
  const administration = yield* RunAdministration
  const runs = yield* RunRepository
  const cold = yield* ColdErasures
  const log = yield* makeErasableLog
  const texts = yield* makeRunTexts
  const projection = yield* makeErasedProjection
  const eraseMarks = yield* makeMarkErasure

  /** A run of the database, locked unless it is a dry run. */
  const opened = Effect.fnUntraced(function* (runId: RunId, isDryRun: boolean) {
    if (!isDryRun) yield* administration.lock([runId])
    const head = yield* log.head(runId)
    if (head === undefined) return yield* runNotFound(runId)
    const run: ErasableRun = {
      ...{ ...head, runId, log, artifactsWith: texts.artifactsWith },
      beside: (erasure, artifacts) =>
        Effect.map(Effect.all([texts.erase(erasure, artifacts), eraseMarks(erasure)]), togetherFound),
      // Whatever was cached of the run is of the revision before.
      changed: Effect.andThen(projection.fold(runId), administration.raiseRevision(runId))
    }
    return run
  })

  /** A run that only files have, or the reason why there is none. */
  const openedCold = Effect.fnUntraced(function* (reference: string, isDryRun: boolean) {
    const run = yield* cold.open(reference, !isDryRun)
    if (run === undefined) {
      return yield* (yield* log.hasExpired(reference)) ? erasureConflict(expired(reference)) : runNotFound(reference)
    }
    const erasable: ErasableRun = {
      ...run,
      artifactsWith: () => Effect.succeed(new Set()),
      beside: (erasure) => run.erase(erasure),
      changed: Effect.void
    }
    return erasable
  })

  const open = Effect.fnUntraced(function* (reference: string, isDryRun: boolean) {
    const runId = yield* runs.resolve(reference)
    return yield* runId === undefined ? openedCold(reference, isDryRun) : opened(runId, isDryRun)
  })

  return { canSign: log.canSign, open } as const
})
