import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** What a feature writes when a request claims a discovered run: after the change of its row, in its transaction. */
export type ClaimHook = (runId: RunId) => Effect.Effect<void, SqlError>

/** The hooks of all features, for the claim of runs. */
export class ClaimHooks extends Context.Service<ClaimHooks, ReadonlyArray<ClaimHook>>()(
  "runplane/control-plane/ClaimHooks"
) {}
