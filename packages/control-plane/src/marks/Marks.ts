import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  badRequest,
  type Conflict,
  ControlPlaneApi,
  type Forbidden,
  markKeyReused,
  markNotFound,
  markOfAnother,
  mayDeleteMark,
  type NotFound,
  type RemoveMarkQuery,
  type RunMarksQuery,
  runNotFound,
  tooManyMarks
} from "@runplane/api"
import {
  CORRECT,
  canonicalJson,
  commentProblem,
  correctValue,
  isoTime,
  MAX_JUDGE_TEXT,
  MAX_MARK_CATEGORY,
  MAX_MARK_COMMENT,
  type Mark,
  type MarkValue,
  type NewMark,
  type RunId,
  valueProblem
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { Redactor } from "../platform/deployment/Redactor.ts"
import { asCaller } from "../platform/http/CurrentCaller.ts"
import { jsonPages, jsonText, type TextPage } from "../platform/http/JsonAnswer.ts"
import { pageText, type RowId, readPage } from "../platform/http/ListPage.ts"
import { orUnavailable } from "../platform/http/OutageAnswers.ts"
import { Ids } from "../platform/Ids.ts"
import { Outbox } from "../platform/outbox/Outbox.ts"
import { DatabaseClock } from "../platform/postgres/DatabaseClock.ts"
import { makeDecisionNames } from "./DecisionNames.ts"
import { MarkAppendices } from "./MarkAppendices.ts"
import { boundOf, type LockedChain, timeAfter } from "./MarkChain.ts"
import { MarkDefinitions } from "./MarkDefinitions.ts"
import { type MarkRow, markColumns, marksOfIds, toMark } from "./MarkRows.ts"
import { makeMarkTargets, type ResolvedTarget } from "./MarkTargets.ts"
import { type AddedMark, MarkWriter, requestSha256 } from "./MarkWriter.ts"
import { TelemetryMarks } from "./TelemetryMarks.ts"

/** A mark, and whether an earlier request added it. */
export interface AddAnswer {
  readonly mark: Mark
  readonly isRepeated: boolean
}

/** Marks of a run (docs/reference/marks.md). Each change commits with its audit entry and its webhooks. */
export class Marks extends Context.Service<
  Marks,
  {
    readonly add: (
      reference: string,
      mark: NewMark,
      caller: Caller
    ) => Effect.Effect<AddAnswer, BadRequest | Conflict | NotFound | SqlError>
    /** A `MarkPage` as text, which is read as the client receives it. */
    readonly list: (reference: string, query: RunMarksQuery) => Effect.Effect<TextPage<SqlError>, NotFound | SqlError>
    /** `restore` makes the mark before it current again: the one that it replaced. */
    readonly remove: (
      reference: string,
      id: string,
      query: RemoveMarkQuery,
      caller: Caller
    ) => Effect.Effect<void, Conflict | Forbidden | NotFound | SqlError>
  }
>()("runplane/control-plane/Marks") {
  static readonly layer = Layer.effect(
    Marks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const clock = yield* DatabaseClock
      const definitions = yield* MarkDefinitions
      const outbox = yield* Outbox
      const ids = yield* Ids
      const redactor = yield* Redactor
      const runs = yield* RunRepository
      const { resolve: targetOf } = yield* makeMarkTargets
      const namesOf = yield* makeDecisionNames
      const writer = yield* MarkWriter

      const now = Effect.map(clock.now, isoTime)
      const columns = markColumns(sql)

      const resolve = Effect.fnUntraced(function* (reference: string) {
        return (yield* runs.resolve(reference)) ?? (yield* runNotFound(reference))
      })

      const lock = (reference: string) =>
        Effect.gen(function* () {
          const runId = yield* resolve(reference)
          return (yield* writer.lock(runId)) ?? (yield* runNotFound(reference))
        })

      const record = (
        action: string,
        { id, name, runId, source, target }: Mark,
        caller: Caller,
        at: string,
        more: Readonly<Record<string, string>> = {}
      ) => {
        const details = { runId, name, source, target: { ...target }, ...more }
        return audit.record({ caller, action: `mark.${action}`, resource: "mark", resourceId: id, details, at })
      }

      /** A redacted text can be longer than the given one. */
      const text = (given: string, most: number) => redactor.text(given).slice(0, most).toWellFormed()
      const redacted = (given: NewMark): Pick<Mark, "comment" | "judge"> & { readonly value: MarkValue } => {
        const { comment, judge, value } = given
        return {
          value: typeof value === "string" ? text(value, MAX_MARK_CATEGORY) : value,
          ...(comment !== undefined && { comment: text(comment, MAX_MARK_COMMENT) }),
          ...(judge !== undefined && {
            judge: {
              name: text(judge.name, MAX_JUDGE_TEXT),
              ...(judge.model !== undefined && { model: text(judge.model, MAX_JUDGE_TEXT) }),
              ...(judge.promptHash !== undefined && { promptHash: text(judge.promptHash, MAX_JUDGE_TEXT) })
            }
          })
        }
      }

      /** The mark that an earlier request with the same key added. */
      const repeated = Effect.fnUntraced(function* ({ runId }: LockedChain, key: string, body: string) {
        const [row] = yield* sql<KeyedRow>`
          SELECT ${columns}, nonce, request_sha256 FROM marks
          WHERE run_id = ${runId}::uuid AND idempotency_key = ${key}`
        if (row === undefined) return undefined
        // A deleted mark has lost what its request is compared with.
        if (row.nonce !== null && row.request_sha256 !== requestSha256(row.nonce, { key, body })) {
          return yield* markKeyReused(key)
        }
        return toMark(row)
      })

      /** The value of a mark `correct`, once the names of the decision are known. */
      const truthOf = Effect.fnUntraced(function* (runId: RunId, value: MarkValue, { index }: ResolvedTarget) {
        const names = typeof value === "string" && index !== undefined ? yield* namesOf(runId, index) : undefined
        if (names === undefined) return value
        const truth = correctValue(value, names)
        return "problem" in truth ? yield* badRequest(truth.problem) : truth.value
      })

      const add = Effect.fn("Marks.add")(function* (reference: string, given: NewMark, caller: Caller) {
        if (given.judge !== undefined && given.source !== "judge") {
          return yield* badRequest("judge is for marks whose source is judge")
        }
        const { idempotencyKey: key, ...bodyOf } = given
        const body = canonicalJson({ ...bodyOf })
        const id = yield* ids.uuid
        const insert = Effect.gen(function* () {
          const chain = yield* lock(reference)
          const at = timeAfter(chain, yield* now)
          const { runId } = chain
          const first = key === undefined ? undefined : yield* repeated(chain, key, body)
          if (first !== undefined) return { mark: first, isRepeated: true }
          const content = redacted(given)
          const problem = valueProblem(yield* definitions.find(given.name), content.value) ?? commentProblem(given)
          if (problem !== undefined) return yield* badRequest(problem)
          const resolved = yield* targetOf(runId, given.name, given.target)
          const { actorId, name } = caller.actor
          const mark: AddedMark = {
            id,
            runId,
            ...resolved,
            name: given.name,
            ...content,
            value: given.name === CORRECT ? yield* truthOf(runId, content.value, resolved) : content.value,
            source: given.source,
            author: actorId,
            ...(name !== undefined && { authorName: name }),
            createdAt: at
          }
          const bound = boundOf(chain)
          if (bound !== undefined) return yield* tooManyMarks(runId, bound)
          yield* writer.add(chain, [mark], key === undefined ? undefined : { key, body })
          yield* record("add", mark, caller, at)
          return { mark, isRepeated: false }
        })
        const answer = yield* sql.withTransaction(insert)
        if (!answer.isRepeated) outbox.wake()
        return answer
      })

      const list = Effect.fn("Marks.list")(function* (reference: string, query: RunMarksQuery) {
        const runId = yield* resolve(reference)
        const { kind, limit, name, offset, source } = query
        const where = sql.and([
          sql`run_id = ${runId}::uuid`,
          ...(query.history ? [] : [sql`replaced_by IS NULL AND deleted_at IS NULL`]),
          ...(name === undefined ? [] : [sql`name = ${name}`]),
          ...(kind === undefined ? [] : [sql`target_kind = ${kind}`]),
          ...(source === undefined ? [] : [sql`source = ${source}`])
        ])
        const from = sql`marks`
        const order = sql`position DESC`
        const page = yield* readPage<RowId>(sql, { columns: sql`id::text AS id`, from, where, order, limit, offset })
        return yield* pageText(page, query, marksOfIds(sql), (row) => JSON.stringify(toMark(row)))
      })

      const remove = Effect.fn("Marks.remove")(function* (
        reference: string,
        id: string,
        { restore }: RemoveMarkQuery,
        caller: Caller
      ) {
        const erase = Effect.gen(function* () {
          const chain = yield* lock(reference)
          const at = yield* now
          const [row] = yield* sql<MarkRow>`
            SELECT ${columns} FROM marks WHERE id = ${id}::uuid AND run_id = ${chain.runId}::uuid`
          if (row === undefined) return yield* markNotFound(id)
          const mark = toMark(row)
          const { actorId, role } = caller.actor
          if (!mayDeleteMark(actorId, role, mark)) return yield* markOfAnother()
          if (mark.deletedAt !== undefined) return
          yield* writer.erase(chain, mark, actorId, at)
          const restored = restore ? yield* writer.restoreBefore(chain, mark) : undefined
          yield* record("delete", mark, caller, at, restored === undefined ? {} : { restored })
        })
        yield* sql.withTransaction(erase)
      })
      return Marks.of({ add, list, remove })
    })
  )
}

interface KeyedRow extends MarkRow {
  readonly nonce: string | null
  readonly request_sha256: string | null
}

/** The endpoints of marks and of their definitions (docs/reference/marks.md). */
export const MarksHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "marks",
  Effect.fnUntraced(function* (handlers) {
    const marks = yield* Marks
    const definitions = yield* MarkDefinitions
    return handlers.handleAll({
      add: ({ params, payload }) =>
        asCaller((caller) =>
          Effect.map(marks.add(params.id, payload, caller), ({ isRepeated, mark }) =>
            isRepeated ? jsonText(JSON.stringify(mark)) : mark
          )
        ),
      list: ({ params, query }) => orUnavailable(Effect.map(marks.list(params.id, query), jsonPages)),
      remove: ({ params, query }) => asCaller((caller) => marks.remove(params.id, params.markId, query, caller)),
      definitions: () => orUnavailable(Effect.map(definitions.list, jsonPages)),
      definition: ({ params }) => orUnavailable(definitions.get(params.name)),
      define: ({ params, payload }) => asCaller((caller) => definitions.put(params.name, payload, caller)),
      undefine: ({ params }) => asCaller((caller) => definitions.remove(params.name, caller))
    })
  })
)

/** Marks and their definitions. Requires the log, the audit trail and the webhooks. */
export const layer = Layer.mergeAll(Marks.layer, TelemetryMarks.layer, MarkAppendices.layer).pipe(
  Layer.provideMerge(Layer.merge(MarkDefinitions.layer, MarkWriter.layer)),
  Layer.provide(Ids.layer)
)
