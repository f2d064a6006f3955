import * as PgClient from "@effect/sql-pg/PgClient"
import { type MarkSource, type MarkTargetKind, type MarkValue, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { fieldsOf } from "../../src/Feature.ts"
import { features } from "../../src/features.ts"
import { changeOf, type MarkChange } from "../../src/marks/MarkHooks.ts"
import { type MarkRow, markColumns, toMark, valueColumns } from "../../src/marks/MarkRows.ts"
import { Ids } from "../../src/platform/Ids.ts"

export interface MarkSeed {
  readonly runId: string
  readonly name: string
  readonly value: MarkValue
  readonly kind?: MarkTargetKind
  readonly targetId?: string
  readonly index?: number
  readonly source?: MarkSource
  readonly author?: string
  readonly judge?: string
  readonly comment?: string
  readonly createdAt?: string
  readonly replaced?: boolean
  readonly deleted?: boolean
}

let positions = 0

const follow = Effect.fnUntraced(function* (runId: string, changes: ReadonlyArray<MarkChange>) {
  const hooks = yield* Effect.all(fieldsOf(features, "onMark"))
  yield* Effect.forEach(hooks, (hook) => hook(RunId.make(runId), changes), { discard: true })
})

/** A row of `marks`, without its chain, with what features do after it. */
export const insertMark = Effect.fnUntraced(function* (seed: MarkSeed) {
  const sql = yield* PgClient.PgClient
  const id = yield* (yield* Ids).uuid
  const { category, flag, number } = valueColumns(seed.value)
  const createdAt = seed.createdAt ?? "2026-07-02T10:00:00.000Z"
  yield* sql`
    INSERT INTO marks (id, run_id, position, target_kind, target_id, index, name, number, flag, category, comment, source,
                       judge_name, author, created_at, replaced_by, deleted_at, content_sha256)
    VALUES (${id}::uuid, ${seed.runId}::uuid, ${++positions}, ${seed.kind ?? "decision"}, ${seed.targetId ?? null},
            ${seed.index ?? null}::int, ${seed.name}, ${number}::float8, ${flag}::boolean, ${category}::text,
            ${seed.comment ?? null}, ${seed.source ?? "human"}, ${seed.judge ?? null}, ${seed.author ?? "key:5e884898"},
            ${createdAt}::timestamptz, ${seed.replaced === true ? id : null}::uuid,
            ${seed.deleted === true ? createdAt : null}::timestamptz, '')`
  const { name, value } = seed
  const author = seed.author ?? "key:5e884898"
  const current = seed.replaced === true || seed.deleted === true ? 0 : 1
  yield* follow(seed.runId, [changeOf({ id, name, author, createdAt, value }, current)])
  return id
})

/** Erases the marks of a run, without its chain, with what features do after it. */
export const eraseMarks = Effect.fnUntraced(function* (runId: string, deletedAt: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<MarkRow>`SELECT ${markColumns(sql)} FROM marks WHERE run_id = ${runId}::uuid`
  yield* sql`
    UPDATE marks SET deleted_at = ${deletedAt}::timestamptz, number = NULL, flag = NULL, category = NULL, comment = NULL
    WHERE run_id = ${runId}::uuid`
  yield* follow(
    runId,
    rows.map((row) => changeOf(toMark(row), -1))
  )
})
