import type { Conflict } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { NewRun } from "../event-log/runs/NewRun.ts"

/** The insertion of a run that guards admit or refuse. */
export interface AdmittedInsert {
  /** For the transaction of the creation. False when a guard refuses the run, or when the insertion returns false. */
  readonly insert: Effect.Effect<boolean, SqlError>
  /** Why the last `insert` returned false: the refusal of a guard. */
  readonly refusal: () => Conflict | undefined
}

/** Guards the insertion of a new run: in the transaction of the creation, before and after it. */
export type AdmissionGuard = (
  run: NewRun,
  insert: Effect.Effect<boolean, SqlError>
) => Effect.Effect<AdmittedInsert, SqlError>

/** The port by which features refuse new runs. A run is created when every guard admits it. */
export class Admission extends Context.Service<Admission, AdmissionGuard>()("runplane/control-plane/Admission") {
  /** The guards, each around the insertion of those before it. */
  static readonly allOf = (guards: ReadonlyArray<AdmissionGuard>): AdmissionGuard =>
    Effect.fnUntraced(function* (run, insert) {
      let admitted: AdmittedInsert = { insert, refusal: () => undefined }
      for (const guard of guards) {
        const inner = admitted
        const outer = yield* guard(run, inner.insert)
        admitted = { insert: outer.insert, refusal: () => outer.refusal() ?? inner.refusal() }
      }
      return admitted
    })
}
