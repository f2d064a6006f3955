import type { Conflict } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { NewRun } from "../event-log/runs/NewRun.ts"

/** What a guard does in the transaction that creates a run. */
export interface AdmissionCheck {
  /** Before the insertion: takes the locks of the guard. */
  readonly prepare: Effect.Effect<void, SqlError>
  /** After the insertion: why the run is refused, or undefined. A run that is refused is removed again. */
  readonly decide: Effect.Effect<Conflict | undefined, SqlError>
  /** Deletes what `decide` has written for a run that another guard refuses. */
  readonly undo: Effect.Effect<void, SqlError>
}

/** Refuses new runs. Undefined for a run that it does not check. */
export type AdmissionGuard = (run: NewRun) => Effect.Effect<AdmissionCheck | undefined, SqlError>

/** The insertion of a run that guards admit or refuse. */
export interface AdmittedInsert {
  /** For the transaction of the creation. False when a guard refuses the run, or when the insertion returns false. */
  readonly insert: Effect.Effect<boolean, SqlError>
  /** Why the last `insert` returned false: the refusal of a guard. */
  readonly refusal: () => Conflict | undefined
}

/** The port by which features refuse new runs. A run is created when every guard admits it. */
export class Admission extends Context.Service<Admission, ReadonlyArray<AdmissionGuard>>()(
  "runplane/control-plane/Admission"
) {}

interface Insertion {
  readonly insert: Effect.Effect<boolean, SqlError>
  /** Removes the inserted run, in the same transaction. */
  readonly remove: (runId: RunId) => Effect.Effect<void, SqlError>
}

/** The insertion of a run with the checks of all guards. Without checks it is the insertion alone. */
export const admitted = Effect.fnUntraced(function* (
  guards: ReadonlyArray<AdmissionGuard>,
  run: NewRun,
  { insert, remove }: Insertion
): Effect.fn.Return<AdmittedInsert, SqlError> {
  const found = yield* Effect.forEach(guards, (guard) => guard(run))
  const checks = found.filter((check) => check !== undefined)
  if (checks.length === 0) return { insert, refusal: () => undefined }
  let refused: Conflict | undefined
  const checkedInsert = Effect.gen(function* () {
    refused = undefined
    for (const { prepare } of checks) yield* prepare
    if (!(yield* insert)) return false
    for (const [position, { decide }] of checks.entries()) {
      refused = yield* decide
      if (refused === undefined) continue
      for (const { undo } of checks.slice(0, position)) yield* undo
      yield* remove(run.id)
      return false
    }
    return true
  })
  return { insert: checkedInsert, refusal: () => refused }
})
