import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type Artifact,
  type BadRequest,
  badRequest,
  type Conflict,
  ControlPlaneApi,
  type Forbidden,
  type NewArtifact,
  type NotFound,
  observedOnly,
  type Run,
  type RunAccepted,
  runNotFound
} from "@runplane/api"
import { isoTime, isTerminal, isUuid, OTLP_RUNTIME_KIND, type RunDescriptor, RunId } from "@runplane/domain"
import { withBudgetRetry } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { storedDescriptor } from "../event-log/runs/NewRun.ts"
import { RunAdministration } from "../event-log/runs/RunAdministration.ts"
import { DISCOVERY_SOURCE, RunRepository } from "../event-log/runs/RunRepository.ts"
import type { StoredRun } from "../event-log/runs/RunRow.ts"
import { LiveEvents } from "../event-log/subscribe/LiveEvents.ts"
import { Observers } from "../observe/Observers.ts"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { asCaller } from "../platform/http/CurrentCaller.ts"
import type { DatabaseFailure } from "../platform/http/OutageAnswers.ts"
import { DatabaseClock } from "../platform/postgres/DatabaseClock.ts"
import { makeAddArtifact } from "./AddArtifact.ts"
import { Runs } from "./Runs.ts"

/** Times that a deletion is tried again after a deadlock. */
const DELETE_RETRIES = 5

const isDeadlock = (error: SqlError | BadRequest | NotFound): boolean =>
  error._tag === "SqlError" && error.reason._tag === "DeadlockError"

const NOT_TERMINAL = "only terminal runs (completed, failed, cancelled) can be deleted"

/**
 * What callers do with runs apart from their life-cycle (docs/reference/runs.md#clone to
 * docs/reference/runs.md#delete-runs, docs/reference/runs.md#artifacts). Each change and its audit entry commit
 * together.
 */
export class RunManagement extends Context.Service<
  RunManagement,
  {
    /** Creates a run of the stored descriptor; `tags` replace its tags. */
    readonly clone: (
      reference: string,
      tags: ReadonlyArray<string> | undefined,
      caller: Caller
    ) => Effect.Effect<RunAccepted, BadRequest | Conflict | NotFound | DatabaseFailure>
    readonly archive: (reference: string, caller: Caller) => Effect.Effect<Run, Conflict | NotFound | DatabaseFailure>
    readonly unarchive: (reference: string, caller: Caller) => Effect.Effect<Run, Conflict | NotFound | DatabaseFailure>
    /**
     * Deletes a terminal run, also one that the archive alone has. Its streams and its observer end; those of other
     * processes end at their next read of it.
     */
    readonly remove: (reference: string, caller: Caller) => Effect.Effect<void, BadRequest | NotFound | DatabaseFailure>
    /**
     * Adds an artifact, redacted as the payloads of agents are (docs/reference/events.md#redaction). One whose key the
     * run has is answered with the first of this key.
     */
    readonly addArtifact: (
      reference: string,
      artifact: NewArtifact,
      caller: Caller
    ) => Effect.Effect<Artifact, BadRequest | Conflict | Forbidden | NotFound | DatabaseFailure>
  }
>()("runplane/control-plane/RunManagement") {
  static readonly layer = Layer.effect(
    RunManagement,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const live = yield* LiveEvents
      const observers = yield* Observers
      const repository = yield* RunRepository
      const runs = yield* Runs
      const upkeep = yield* RunAdministration

      const now = Effect.map((yield* DatabaseClock).now, isoTime)

      const resolve = Effect.fnUntraced(function* (reference: string) {
        const runId = yield* repository.resolve(reference)
        return runId ?? (yield* runNotFound(reference))
      })

      const clone = Effect.fn("RunManagement.clone")(function* (
        reference: string,
        tags: ReadonlyArray<string> | undefined,
        caller: Caller
      ) {
        const run = yield* repository.find(reference)
        if (run === undefined) return yield* runNotFound(reference)
        if (run.record.runtimeKind === OTLP_RUNTIME_KIND) return yield* observedOnly(run.record.id, "clone")
        return yield* runs.create(yield* cloneDescriptor(run, tags), caller, run.record.id)
      })

      const setArchived = Effect.fnUntraced(function* (reference: string, isArchived: boolean, caller: Caller) {
        const runId = yield* resolve(reference)
        const at = yield* now
        const put = Effect.gen(function* () {
          if (!(yield* upkeep.setArchived(runId, isArchived, at))) return yield* runNotFound(reference)
          const action = isArchived ? "run.archive" : "run.unarchive"
          yield* audit.record({ caller, action, resource: "run", resourceId: runId, details: {}, at })
        })
        yield* sql.withTransaction(put)
        return yield* runs.get(runId)
      })
      const archive = Effect.fn("RunManagement.archive")((reference: string, caller: Caller) =>
        setArchived(reference, true, caller)
      )
      const unarchive = Effect.fn("RunManagement.unarchive")((reference: string, caller: Caller) =>
        setArchived(reference, false, caller)
      )

      const remove = Effect.fn("RunManagement.remove")(function* (reference: string, caller: Caller) {
        // Also of a run that the archive has in part, and that cannot be read.
        const runId = isUuid(reference) ? RunId.make(reference.toLowerCase()) : yield* resolve(reference)
        const at = yield* now
        const deletion = { reason: "deleted", by: caller.actor.actorId, at } as const
        const deleteRun = Effect.gen(function* () {
          const stored = (yield* upkeep.lock([runId])).get(runId)
          if (stored !== undefined && !isTerminal(stored)) return yield* badRequest(NOT_TERMINAL)
          if (stored !== undefined) yield* upkeep.remove([runId], deletion)
          const status = stored ?? (yield* upkeep.removeArchived(runId, deletion))
          if (status === undefined) return yield* runNotFound(reference)
          const details = { status }
          yield* audit.record({ caller, action: "run.delete", resource: "run", resourceId: runId, details, at })
        })
        yield* sql.withTransaction(deleteRun).pipe(
          // Deletions of runs with interleaved events can deadlock: the one that is rolled back retries.
          Effect.retry({ times: DELETE_RETRIES, while: isDeadlock }),
          Effect.tap(observers.dismiss(runId)),
          // Who streams the run reads the database on this, and finds that there is nothing more to come.
          Effect.tap(Effect.sync(() => live.poke(runId))),
          Effect.uninterruptible
        )
      })

      const addArtifact = yield* makeAddArtifact
      return RunManagement.of({ clone, archive, unarchive, remove, addArtifact })
    })
  )
}

/**
 * The descriptor of a run like this one: the stored one, without the session's id and the idempotency key, which belong
 * to the original alone (docs/reference/runs.md#clone). Fails when the run was stored without a descriptor.
 */
const cloneDescriptor = (run: StoredRun, tags: ReadonlyArray<string> | undefined) => {
  const stored = storedDescriptor(run.record.metadata)
  if (stored === undefined) return Effect.fail(badRequest("run does not have an execution request in metadata"))
  const { sessionId, ...session } = stored.session
  const { idempotencyKey, ...execution } = stored.execution ?? {}
  return Effect.succeed<RunDescriptor>({
    ...stored,
    session: { ...session, metadata: { ...ownMetadata(session.metadata ?? {}), clonedFrom: run.record.id } },
    execution: { ...execution, ...(tags !== undefined && { tags }) }
  })
}

/**
 * The metadata that also applies to the clone: without the cancel callback of the original session, the run that the
 * original repeats, and the record of its discovery, which would let another descriptor claim the clone.
 */
const ownMetadata = ({ againOf, cancelCallback, earlierRunId, ...metadata }: Schema.JsonObject): Schema.JsonObject => {
  if (metadata["source"] !== DISCOVERY_SOURCE) return metadata
  const { discoveredAt, source, ...rest } = metadata
  return rest
}
export const ManagementHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "management",
  Effect.fnUntraced(function* (handlers) {
    const management = yield* RunManagement
    return handlers.handleAll({
      clone: ({ params, payload }) =>
        withBudgetRetry(asCaller((caller) => management.clone(params.id, payload.tags, caller))),
      archive: ({ params }) => asCaller((caller) => management.archive(params.id, caller)),
      unarchive: ({ params }) => asCaller((caller) => management.unarchive(params.id, caller)),
      remove: ({ params }) => asCaller((caller) => management.remove(params.id, caller)),
      addArtifact: ({ params, payload }) => asCaller((caller) => management.addArtifact(params.id, payload, caller))
    })
  })
)
