import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { describeSqlError } from "../../platform/postgres/SqlFailures.ts"
import { RunSeals } from "./RunSeals.ts"

/** Runs that wait to be sealed; beyond that the oldest waits until somebody asks for its seal. */
const MOST_WAITING = 1_000

/**
 * Seals runs that ended with a chain that lags behind, beside the writers: their first events were stored by a release
 * that knew of no chain (docs/reference/seal.md#old-runs). What fails is logged, and made up for when the seal is asked
 * for.
 */
export class LateSeals extends Context.Service<LateSeals, { readonly ask: (runId: RunId) => void }>()(
  "runplane/control-plane/LateSeals"
) {
  static readonly layer = Layer.effect(
    LateSeals,
    Effect.gen(function* () {
      const seals = yield* RunSeals
      const waiting = yield* Queue.sliding<RunId>(MOST_WAITING)
      const sealNext = Effect.flatMap(Queue.take(waiting), (runId) =>
        Effect.catch(seals.sealed(runId), (error) =>
          Effect.logWarning(`run ${runId} could not be sealed yet: ${describeSqlError(error)}`)
        )
      )
      yield* Effect.forkScoped(Effect.forever(sealNext))
      return LateSeals.of({ ask: (runId) => Queue.offerUnsafe(waiting, runId) })
    })
  )
}
