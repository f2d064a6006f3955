import type { TombstoneReason } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/**
 * Deletes the rows that a feature has of some runs. It runs before the rows of the runs are deleted, in the same
 * transaction, and touches the tables of its feature alone: the order of hooks means nothing. It also runs when a
 * caller deletes a run that retention has deleted before, and that only files have.
 */
export type DeletionHook = (runIds: ReadonlyArray<RunId>, reason: TombstoneReason) => Effect.Effect<void, SqlError>

/** The hooks of all features, for the deletion of runs. */
export class DeletionHooks extends Context.Service<DeletionHooks, ReadonlyArray<DeletionHook>>()(
  "runplane/control-plane/DeletionHooks"
) {}
