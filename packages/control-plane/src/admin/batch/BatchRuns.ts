import { type BatchOutcome, ControlPlaneApi, INTERNAL_TEXT } from "@runplane/api"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import type { Caller } from "../../platform/audit/AuditTrail.ts"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { isDatabaseFailure } from "../../platform/http/OutageAnswers.ts"
import { exportAnswer } from "../../queries/exports/ExportsHttp.ts"
import { RunExports } from "../../queries/exports/RunExports.ts"
import { RunManagement } from "../../runs/RunManagement.ts"
import { Runs } from "../../runs/Runs.ts"

/** Runs of one batch that are worked on at the same time. */
const BATCH_CONCURRENCY = 8
const CANCEL_REASON = "batch cancel"

type BatchOperation<Done extends string> = (
  runIds: ReadonlyArray<string>,
  caller: Caller
) => Effect.Effect<ReadonlyArray<BatchOutcome<Done>>>

/**
 * One operation on many runs (docs/reference/runs.md#batch). Every run succeeds or fails by itself; a repeated id
 * is processed once and answered twice. `success`: the operation was accepted, where its single form answers 2xx.
 */
export class BatchRuns extends Context.Service<
  BatchRuns,
  {
    readonly cancel: BatchOperation<"cancelled">
    readonly archive: BatchOperation<"archived">
    readonly unarchive: BatchOperation<"unarchived">
    readonly remove: BatchOperation<"deleted">
  }
>()("runplane/control-plane/BatchRuns") {
  static readonly layer = Layer.effect(
    BatchRuns,
    Effect.gen(function* () {
      const management = yield* RunManagement
      const runs = yield* Runs
      return BatchRuns.of({
        cancel: onEach("cancelled", (runId, caller) => runs.cancel(runId, CANCEL_REASON, caller)),
        archive: onEach("archived", management.archive),
        unarchive: onEach("unarchived", management.unarchive),
        remove: onEach("deleted", management.remove)
      })
    })
  )
}

const onEach =
  <Done extends string>(
    done: Done,
    operate: (runId: string, caller: Caller) => Effect.Effect<unknown, { readonly message: string }>
  ): BatchOperation<Done> =>
  (runIds, caller) =>
    Effect.gen(function* () {
      const outcomes = yield* Effect.forEach(
        new Set(runIds),
        (runId) =>
          Effect.map(reasonOfFailure(operate(runId, caller)), (error): readonly [string, BatchOutcome<Done>] => [
            runId,
            error === undefined ? { runId, status: done } : { runId, status: "failed", error }
          ]),
        { concurrency: BATCH_CONCURRENCY }
      )
      const byRun = new Map(outcomes)
      return runIds.flatMap((runId) => byRun.get(runId) ?? [])
    })

/** A fault of ours fails its run as well, and leaves the others alone. */
const reasonOfFailure = (operation: Effect.Effect<unknown, { readonly message: string }>) =>
  operation.pipe(
    Effect.as(undefined),
    // What the database says of a failure is for the log.
    Effect.catch((error) => (isDatabaseFailure(error) ? Effect.die(error) : Effect.succeed(error.message))),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.as(Effect.logError("an operation of a batch failed", cause), INTERNAL_TEXT)
    )
  )

/** The `batch` group (docs/reference/runs.md#batch). */
export const BatchHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "batch",
  Effect.fnUntraced(function* (handlers) {
    const batch = yield* BatchRuns
    const exports = yield* RunExports
    return handlers.handleAll({
      cancel: ({ payload }) => asCaller((caller) => batch.cancel(payload.runIds, caller)),
      archive: ({ payload }) => asCaller((caller) => batch.archive(payload.runIds, caller)),
      unarchive: ({ payload }) => asCaller((caller) => batch.unarchive(payload.runIds, caller)),
      remove: ({ payload }) => asCaller((caller) => batch.remove(payload.runIds, caller)),
      export: ({ payload }) =>
        asCaller((caller) =>
          Effect.map(exports.many(payload.runIds, caller), (text) => exportAnswer(text, "application/json", 201))
        )
    })
  })
)
