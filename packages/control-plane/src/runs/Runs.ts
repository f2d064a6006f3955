import {
  type BadGateway,
  type BadRequest,
  type Conflict,
  type NotFound,
  observedOnly,
  type Run,
  type RunAccepted,
  type RuntimeFailure,
  type RunValidation,
  runNotFound
} from "@runplane/api"
import { isTerminal, OTLP_RUNTIME_KIND, type RunDescriptor, RunId } from "@runplane/domain"
import { Shutdown } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunEndWaiters } from "../event-log/runs/RunEndWaiters.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { publicRun, publicRunText, type StoredRun } from "../event-log/runs/RunRow.ts"
import type { Caller } from "../platform/audit/AuditTrail.ts"
import type { DatabaseFailure } from "../platform/http/OutageAnswers.ts"
import { makeAbandonRun } from "./AbandonRun.ts"
import { makeCancelRun } from "./CancelRun.ts"
import { makeCreateRun } from "./CreateRun.ts"
import { makePauseRun } from "./PauseRun.ts"
import { makeValidateRun } from "./ValidateRun.ts"

type ChangeRun<Reason, Refusal = RuntimeFailure> = (
  reference: string,
  reason: Reason,
  caller: Caller
) => Effect.Effect<Run, Refusal | NotFound | DatabaseFailure>

/** What callers can do with runs (docs/reference/runs.md#create to docs/reference/runs.md#pause). */
export class Runs extends Context.Service<
  Runs,
  {
    /** `clonedFrom`: the run whose descriptor it is, for the audit log. */
    readonly create: (
      descriptor: RunDescriptor,
      caller: Caller,
      clonedFrom?: string
    ) => Effect.Effect<RunAccepted, BadRequest | Conflict | DatabaseFailure>
    readonly validate: (descriptor: RunDescriptor) => Effect.Effect<RunValidation>
    readonly get: (reference: string) => Effect.Effect<Run, NotFound | DatabaseFailure>
    /** The same as JSON text. */
    readonly read: (reference: string) => Effect.Effect<string, NotFound | DatabaseFailure>
    /** The same once the run has ended, or as it is after so many milliseconds, or when the service stops. */
    readonly readEnded: (reference: string, timeoutMs: number) => Effect.Effect<string, NotFound | DatabaseFailure>
    readonly cancel: ChangeRun<string | undefined, RuntimeFailure | BadGateway>
    readonly suspend: ChangeRun<string | undefined>
    readonly resume: ChangeRun<string | undefined>
    readonly abandon: ChangeRun<string>
  }
>()("runplane/control-plane/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.gen(function* () {
      const ends = yield* RunEndWaiters
      const shutdown = yield* Shutdown
      const repository = yield* RunRepository
      const create = yield* makeCreateRun
      const validate = yield* makeValidateRun
      const cancelRun = yield* makeCancelRun
      const pause = yield* makePauseRun

      const load = Effect.fnUntraced(function* (reference: string) {
        const run = yield* repository.find(reference)
        return run ?? (yield* runNotFound(reference))
      })
      const get = Effect.fn("Runs.get")((reference: string) => Effect.map(load(reference), publicRun))

      const findRow = Effect.fnUntraced(function* (reference: string) {
        const row = yield* repository.row(reference)
        return row ?? (yield* runNotFound(reference))
      })
      const read = Effect.fn("Runs.read")((reference: string) => Effect.map(findRow(reference), publicRunText))

      /** True when the run has ended; false after a notification that may concern another run. */
      const waitForEnd = Effect.fnUntraced(function* (runId: RunId) {
        // Subscribed before the read: an end between the two is received.
        const notified = yield* ends.listen(runId)
        const status = yield* repository.status(runId)
        if (status === undefined || isTerminal(status)) return true
        yield* notified
        return false
      }, Effect.scoped)
      const readEnded = Effect.fn("Runs.readEnded")(function* (reference: string, timeoutMs: number) {
        const row = yield* findRow(reference)
        if (isTerminal(row.status)) return publicRunText(row)
        const runId = RunId.make(row.id)
        yield* Effect.repeat(waitForEnd(runId), { until: (hasEnded) => hasEnded }).pipe(
          Effect.timeoutOption(timeoutMs),
          Effect.raceFirst(shutdown.begun)
        )
        return yield* read(runId)
      })

      const change =
        <Reason, E>(
          action: string,
          apply: (run: StoredRun, reason: Reason, caller: Caller) => Effect.Effect<void, E>
        ) =>
        (reference: string, reason: Reason, caller: Caller) =>
          Effect.gen(function* () {
            const run = yield* load(reference)
            if (run.record.runtimeKind === OTLP_RUNTIME_KIND) return yield* observedOnly(run.record.id, action)
            const { id: runId, runtimeSessionId: sessionId, traceId } = run.record
            yield* Effect.annotateLogs(apply(run, reason, caller), { runId, sessionId, traceId })
            return yield* get(runId)
          })

      return Runs.of({
        create,
        validate,
        get,
        read,
        readEnded,
        cancel: change("cancel", cancelRun),
        suspend: change("suspend", pause.suspend),
        resume: change("resume", pause.resume),
        abandon: change("abandon", yield* makeAbandonRun)
      })
    })
  )
}
