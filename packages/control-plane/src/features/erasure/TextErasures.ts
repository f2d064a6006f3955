import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  badRequest,
  type Conflict,
  type ErasedRows,
  type Erasure,
  erasureConflict,
  MAX_LISTED_MEMBERS,
  type NewErasure,
  type NotFound,
  type RemainingText,
  sealedInVersion1
} from "@runplane/api"
import {
  type ErasureEntry,
  type ErasurePlan,
  isoTime,
  isTerminal,
  planDifference,
  planText,
  textFinder
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { TextLog } from "../../event-log/erasure/ErasableLog.ts"
import { ErasureHooks, type FoundRows, type RunErasure, togetherFound } from "../../event-log/erasure/ErasureHooks.ts"
import type { ErasedArtifacts } from "../../event-log/erasure/RunTexts.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { sha256 } from "../../platform/Sha256.ts"
import { makeAuditRemains } from "./AuditRemains.ts"
import { type ErasableRun, makeErasableRuns } from "./ErasableRuns.ts"
import { ErasureNotices } from "./ErasureNotices.ts"
import { type FoundInLog, searchMembers, searchText } from "./MemberSearch.ts"
import { NOT_REACHED } from "./NotReached.ts"
import { rewritten } from "./Rewritten.ts"

const REASON_HAS_TEXT = "reason must not contain the text to erase: it stays, for all readers"
const PLAN_REQUIRED = "plan is required: send the plan of a dry run, or dryRun: true"
const ONE_OF_BOTH = "either find or members is required, and not both"
const NO_KEY = "its seal is signed, and this process has no key to sign the erasure with: set SEAL_PRIVATE_KEY_FILE"

/** Why a request cannot be an erasure, whatever the run; undefined for one that can. */
export const erasureFault = ({ dryRun, find, plan, reason }: ErasureRequest): string | undefined => {
  if (find !== undefined && textFinder(find.trim())(reason)) return REASON_HAS_TEXT
  return dryRun || plan !== undefined ? undefined : PLAN_REQUIRED
}

export type ErasureRequest = Pick<NewErasure, "dryRun" | "find" | "members" | "plan" | "reason">

type Refusal = BadRequest | Conflict | NotFound | SqlError

/**
 * Erases texts from one run (docs/reference/erasure.md): from its log, where the entry of the erasure keeps the chain
 * whole, from the state that is folded of it, and from all other rows of the run. One transaction under the lock of the
 * run does all of it, so no reader finds a part.
 */
export class TextErasures extends Context.Service<
  TextErasures,
  {
    readonly erase: (
      reference: string,
      request: ErasureRequest,
      caller: Caller,
      /** Further statements of the transaction. */
      also?: (answer: Erasure) => Effect.Effect<unknown, SqlError>
    ) => Effect.Effect<Erasure, Refusal>
  }
>()("runplane/control-plane/TextErasures") {
  static readonly layer = Layer.effect(
    TextErasures,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const clock = yield* DatabaseClock
      const hooks = yield* ErasureHooks
      const notices = yield* ErasureNotices
      const { canSign, open } = yield* makeErasableRuns
      const auditRemains = yield* makeAuditRemains

      /** Drops the values from the log, and enters the erasure. */
      const rewrite = Effect.fnUntraced(function* (
        log: TextLog,
        { at, by, runId }: RunErasure,
        { members }: FoundInLog,
        reason: string
      ) {
        const entries: Array<ErasureEntry> = []
        for (const target of ["event", "frame"] as const) {
          const byIndex = Map.groupBy(
            members.filter((member) => member.target === target),
            ({ index }) => index
          )
          const missing = yield* log.eachAt(target, runId, [...byIndex.keys()], (page) =>
            Effect.suspend(() => {
              const changed = rewritten(target, page, byIndex, { at, by, reason })
              entries.push(...changed.flatMap((one) => one.entries))
              return target === "event" ? log.writeEvents(runId, changed) : log.writeFrames(runId, changed)
            }).pipe(Effect.asVoid)
          )
          if (missing !== undefined)
            return yield* Effect.die(new Error(`the log of ${runId} lacks ${target} ${missing}`))
        }
        yield* log.enter(runId, entries)
      })

      const besideLog = Effect.fnUntraced(function* (
        { beside }: ErasableRun,
        erasure: RunErasure,
        artifacts: ErasedArtifacts
      ) {
        const found: Array<FoundRows> = [yield* beside(erasure, artifacts)]
        for (const hook of hooks) found.push(yield* hook(erasure))
        found.push(yield* auditRemains(erasure))
        return togetherFound(found)
      })

      const eraseOpened = Effect.fnUntraced(function* (run: ErasableRun, request: ErasureRequest, caller: Caller) {
        const { dryRun: isDryRun, find, members, reason } = request
        const { runId } = run
        if (run.chain < 2) return yield* sealedInVersion1(runId)
        // Else its seal would be signed, and the entries that say what is missing would not.
        if (run.isSigned && !canSign) return yield* erasureConflict(NO_KEY)
        const at = isoTime(yield* clock.now)
        const by = caller.actor.actorId
        const found = yield* find === undefined ? searchMembers(run, members ?? []) : searchText(run, find.trim())
        const plan: ErasurePlan = { runId, members: found.members, kept: found.kept }
        const planned = planText(sha256, plan)
        const difference = isDryRun ? undefined : planDifference(request.plan ?? "", planned)
        if (difference !== undefined) return yield* erasureConflict(`the plan is out of date: ${difference}`)
        const erasure: RunErasure = { runId, finder: found.finder, isDryRun, by, at }
        if (!isDryRun && found.members.length > 0) yield* rewrite(run.log, erasure, found, reason)
        const { pending = null, remains, rows } = yield* besideLog(run, erasure, found.artifacts)
        if (!isDryRun) {
          yield* run.changed
          const details = { members: found.members.length, remaining: found.kept.length + remains.length }
          yield* audit.record({ caller, action: "run.erase", resource: "run", resourceId: runId, details, at })
        }
        const all: ReadonlyArray<RemainingText> = [
          ...(isTerminal(run.status)
            ? []
            : [{ of: "run", why: "it is open: later events with the text are not erased" }]),
          ...found.kept.map(({ index, pointer, target, why }) => ({ of: target, index, pointer, why })),
          ...remains
        ]
        const answer: Erasure = {
          ...{ runId, dryRun: isDryRun, plan: planned, at, by, reason },
          members: found.members.length,
          erased: found.members.slice(0, MAX_LISTED_MEMBERS),
          rows: summed(rows),
          remaining: all.length,
          remains: all.slice(0, MAX_LISTED_MEMBERS),
          pending: found.members.length + rows.length === 0 ? null : pending,
          notReached: NOT_REACHED
        }
        return answer
      })

      const erase = Effect.fn("TextErasures.erase")(function* (
        reference: string,
        request: ErasureRequest,
        caller: Caller,
        also: (answer: Erasure) => Effect.Effect<unknown, SqlError> = () => Effect.void
      ) {
        if ((request.find === undefined) === (request.members === undefined)) return yield* badRequest(ONE_OF_BOTH)
        const fault = erasureFault(request)
        if (fault !== undefined) return yield* badRequest(fault)
        const erased = Effect.gen(function* () {
          const run = yield* open(reference, request.dryRun)
          return yield* Effect.tap(eraseOpened(run, request, caller), also)
        })
        const answer = yield* sql.withTransaction(erased).pipe(
          Effect.tap(({ dryRun, runId }) => (dryRun ? Effect.void : notices.announce(runId))),
          Effect.uninterruptible
        )
        return answer
      })
      return TextErasures.of({ erase })
    })
  )
}

/** Rows of one kind as one number. */
const summed = (rows: ReadonlyArray<ErasedRows>): ReadonlyArray<ErasedRows> =>
  [...Map.groupBy(rows, ({ of }) => of)].map(([of, same]) => ({
    of,
    count: same.reduce((sum, { count }) => sum + count, 0)
  }))
