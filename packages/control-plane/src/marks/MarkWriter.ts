import * as PgClient from "@effect/sql-pg/PgClient"
import {
  canonicalJson,
  isReplaceable,
  type Mark,
  type MarkContent,
  type MarkEntry,
  type MarkValue,
  markContentSha256,
  type RunId,
  raterOf
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { contentDigest } from "../event-log/seal/HashChain.ts"
import { Ids } from "../platform/Ids.ts"
import { Outbox } from "../platform/outbox/Outbox.ts"
import { unnestRows } from "../platform/postgres/UnnestRows.ts"
import { sha256 } from "../platform/Sha256.ts"
import { type LockedChain, makeMarkChain } from "./MarkChain.ts"
import { changeOf, type MarkChange, MarkHooks } from "./MarkHooks.ts"
import { type MarkRow, markColumns, toMark, valueColumns } from "./MarkRows.ts"

/** A mark with its value, before it is stored. */
export interface AddedMark extends Omit<Mark, "value" | "replacedBy" | "deletedAt" | "deletedBy"> {
  readonly runId: RunId
  readonly value: MarkValue
}

/** The key of a request and its body, as canonical JSON. */
export interface KeyedRequest {
  readonly key: string
  readonly body: string
}

/** Writes marks and the chain over them, and calls the hooks of features: all for use inside a transaction. */
export class MarkWriter extends Context.Service<
  MarkWriter,
  {
    /**
     * Locks the chain of a run, so that its marks are added and deleted one after another. The row of the run is locked
     * first, as a deletion of the run does it. Undefined when there is no such run.
     */
    readonly lock: (runId: RunId) => Effect.Effect<LockedChain | undefined, SqlError>
    /**
     * Stores marks of the run, in their order, replaces the current ones of the same raters, and enqueues their
     * webhooks. `request` is the one that brings a single mark. Returns the new end.
     */
    readonly add: (
      chain: LockedChain,
      marks: ReadonlyArray<AddedMark>,
      request?: KeyedRequest
    ) => Effect.Effect<LockedChain, SqlError>
    /** Erases the content of a mark, also in deliveries of webhooks; a tombstone stays. */
    readonly erase: (chain: LockedChain, mark: Mark, by: string, at: string) => Effect.Effect<LockedChain, SqlError>
    /**
     * Makes the mark before an erased one current again, or the one behind it replace that. Returns the id of the mark
     * that is current again; undefined without one.
     */
    readonly restoreBefore: (
      chain: LockedChain,
      erased: { readonly id: string; readonly replacedBy?: string }
    ) => Effect.Effect<string | undefined, SqlError>
  }
>()("runplane/control-plane/MarkWriter") {
  static readonly layer = Layer.effect(
    MarkWriter,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const outbox = yield* Outbox
      const ids = yield* Ids
      const hooks = yield* MarkHooks
      const { append, lock } = yield* makeMarkChain

      const follow = (runId: RunId, changes: ReadonlyArray<MarkChange>) =>
        Effect.forEach(hooks, (hook) => hook(runId, changes), { discard: true })

      const add = Effect.fn("MarkWriter.add")(function* (
        chain: LockedChain,
        marks: ReadonlyArray<AddedMark>,
        request?: KeyedRequest
      ) {
        if (marks.length === 0) return chain
        const nonces = yield* ids.uuids(marks.length)
        const stored = marks.map((mark, number) => storedMark(mark, nonces[number] ?? "", request))
        const slots = Map.groupBy(stored, ({ row }) => row.slot)
        const rows = stored.map(({ row }, number) => {
          const later = slots.get(row.slot)?.find((other) => stored.indexOf(other) > number)
          return { ...row, position: chain.entries + number + 1, replaced_by: later?.row.id ?? null }
        })
        const first = [...slots.values()].flatMap(([one]) => (one === undefined ? [] : [one.row]))
        const replaced = yield* sql<MarkRow>`
          WITH replaced AS (
            UPDATE marks m SET replaced_by = new.id FROM ${unnestRows(sql, first, SLOT_COLUMNS)} AS new
            WHERE m.run_id = ${chain.runId}::uuid AND m.slot = new.slot AND m.replaced_by IS NULL
              AND m.deleted_at IS NULL
            RETURNING m.*
          )
          SELECT ${markColumns(sql)} FROM replaced ORDER BY position`
        yield* sql`
          INSERT INTO marks (run_id, ${sql.literal(Object.keys(MARK_COLUMNS).join(", "))})
          SELECT ${chain.runId}::uuid, new.* FROM ${unnestRows(sql, rows, MARK_COLUMNS)} AS new`
        yield* follow(chain.runId, [
          ...replaced.map((row) => changeOf(toMark(row), -1)),
          ...marks.map((mark, number) => changeOf(mark, rows[number]?.replaced_by === null ? 1 : 0))
        ])
        yield* outbox.enqueue(
          marks.map((mark) => ({
            runId: chain.runId,
            event: "mark.added",
            payload: JSON.stringify({
              event: "mark.added",
              runId: chain.runId,
              status: chain.status,
              timestamp: mark.createdAt,
              data: { mark }
            }),
            at: mark.createdAt
          }))
        )
        const bytes = stored.reduce((sum, one) => sum + one.bytes, 0)
        return yield* append(
          chain,
          stored.map(({ entry }) => entry),
          marks.length,
          bytes
        )
      })

      const erase = Effect.fn("MarkWriter.erase")(function* (
        chain: LockedChain,
        mark: Mark,
        deletedBy: string,
        deletedAt: string
      ) {
        const { id } = mark
        yield* sql`
          UPDATE marks SET number = NULL, flag = NULL, category = NULL, comment = NULL, judge_name = NULL,
                           judge_model = NULL, judge_prompt_hash = NULL, nonce = NULL, request_sha256 = NULL,
                           slot = NULL, deleted_at = ${deletedAt}::timestamptz, deleted_by = ${deletedBy},
                           deleted_position = ${chain.entries + 1}
          WHERE id = ${id}::uuid`
        yield* follow(chain.runId, [changeOf(mark, mark.replacedBy === undefined ? -1 : 0)])
        yield* outbox.erase({
          runId: chain.runId,
          event: "mark.added",
          path: ["data", "mark", "id"],
          id,
          members: ["value", "comment", "judge"].map((name) => ["data", "mark", name])
        })
        return yield* append(chain, [{ action: "delete", id, deletedAt, deletedBy }], 0, 0)
      })

      const restoreBefore = Effect.fn("MarkWriter.restoreBefore")(function* (
        { runId }: LockedChain,
        { id, replacedBy }: { readonly id: string; readonly replacedBy?: string }
      ) {
        const [before] = yield* sql<MarkRow>`
          SELECT ${markColumns(sql)} FROM marks
          WHERE run_id = ${runId}::uuid AND replaced_by = ${id}::uuid AND deleted_at IS NULL
          ORDER BY created_at DESC, position DESC LIMIT 1`
        if (before === undefined) return undefined
        yield* sql`
          UPDATE marks SET replaced_by = ${replacedBy ?? null}::uuid WHERE id = ${before.id}::uuid`
        yield* follow(runId, [changeOf(toMark(before), replacedBy === undefined ? 1 : 0)])
        return replacedBy === undefined ? before.id : undefined
      })
      return MarkWriter.of({ lock, add, erase, restoreBefore })
    })
  )
}

/** The row of a mark without its position, its entry in the chain, and the bytes of its content. */
const storedMark = (mark: AddedMark, nonce: string, request: KeyedRequest | undefined) => {
  const { author, authorName, comment, createdAt, id, index, judge, name, source, target, value } = mark
  const content: MarkContent = {
    nonce,
    value,
    ...(comment !== undefined && { comment }),
    ...(judge !== undefined && { judge })
  }
  const contentSha256 = markContentSha256(sha256, content)
  const row = {
    id,
    target_kind: target.kind,
    target_id: target.id ?? null,
    index: index ?? null,
    name,
    ...valueColumns(value),
    comment: comment ?? null,
    source,
    judge_name: judge?.name ?? null,
    judge_model: judge?.model ?? null,
    judge_prompt_hash: judge?.promptHash ?? null,
    author,
    author_name: authorName ?? null,
    created_at: createdAt,
    idempotency_key: request?.key ?? null,
    request_sha256: request === undefined ? null : requestSha256(nonce, request),
    nonce,
    content_sha256: contentSha256,
    slot: contentDigest(
      canonicalJson([target.kind, target.id ?? "", name, raterOf(mark), ...(isReplaceable(name) ? [] : [id])])
    )
  }
  const entry: MarkEntry = {
    action: "add",
    ...{ id, target, name, source, author, createdAt, contentSha256 },
    ...(index !== undefined && { index }),
    ...(authorName !== undefined && { authorName })
  }
  return { row, entry, bytes: Buffer.byteLength(canonicalJson({ ...content })) }
}

const SLOT_COLUMNS = { id: "uuid", slot: "text" } as const

const MARK_COLUMNS = {
  id: "uuid",
  position: "int",
  target_kind: "text",
  target_id: "text",
  index: "int",
  name: "text",
  number: "float8",
  flag: "bool",
  category: "text",
  comment: "text",
  source: "text",
  judge_name: "text",
  judge_model: "text",
  judge_prompt_hash: "text",
  author: "text",
  author_name: "text",
  created_at: "timestamptz",
  idempotency_key: "text",
  request_sha256: "text",
  nonce: "text",
  content_sha256: "text",
  slot: "text",
  replaced_by: "uuid"
} as const

/** Identifies a request without revealing the value of a mark that is deleted later; hexadecimal. */
export const requestSha256 = (nonce: string, { body }: KeyedRequest): string => contentDigest(`${nonce}\n${body}`)
