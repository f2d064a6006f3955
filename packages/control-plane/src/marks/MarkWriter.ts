import * as PgClient from "@effect/sql-pg/PgClient"
import { MAX_MARK_BYTES_OF_RUN, MAX_MARKS_OF_RUN } from "@runplane/api"
import {
  canonicalJson,
  type Mark,
  type MarkContent,
  type MarkEntry,
  type MarkValue,
  makeMarksHead,
  markContentSha256,
  marksNext,
  marksStart,
  type RunId,
  type RunStatus,
  raterOf
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { contentDigest, sha256 } from "../event-log/seal/HashChain.ts"
import { Ids } from "../platform/Ids.ts"
import { SealKeys } from "../platform/ledger/SealKeys.ts"
import { enqueueDeliveries } from "../reactors/webhooks/WebhookOutbox.ts"
import { valueColumns } from "./MarkRows.ts"

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

/** The end of a run's chain of marks, locked. */
export interface LockedChain {
  readonly runId: RunId
  readonly status: RunStatus
  readonly entries: number
  readonly marks: number
  readonly bytes: number
  readonly head: Uint8Array
}

/** A bound of a run that one more mark would exceed. */
export const boundOf = ({ bytes, marks }: Pick<LockedChain, "bytes" | "marks">): string | undefined => {
  if (marks >= MAX_MARKS_OF_RUN) return `${MAX_MARKS_OF_RUN} marks`
  return bytes >= MAX_MARK_BYTES_OF_RUN ? `${MAX_MARK_BYTES_OF_RUN} bytes of marks` : undefined
}

/** Writes marks and the chain over them: all for use inside a transaction. */
export class MarkWriter extends Context.Service<
  MarkWriter,
  {
    /**
     * Locks the chain of a run, so that its marks are added and deleted one after another. The row of the run is locked
     * first, as a deletion of the run does it. Undefined when there is no such run.
     */
    readonly lock: (runId: RunId) => Effect.Effect<LockedChain | undefined, SqlError>
    /** Stores a mark, replaces the current one of the same rater, and enqueues its webhooks. Returns the new end. */
    readonly add: (chain: LockedChain, mark: AddedMark, request?: KeyedRequest) => Effect.Effect<LockedChain, SqlError>
    /** Erases the content of a mark, also in deliveries of webhooks; a tombstone stays. */
    readonly erase: (chain: LockedChain, id: string, by: string, at: string) => Effect.Effect<LockedChain, SqlError>
  }
>()("runplane/control-plane/MarkWriter") {
  static readonly layer = Layer.effect(
    MarkWriter,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const ids = yield* Ids
      const { current: key } = yield* SealKeys

      const lock = Effect.fn("MarkWriter.lock")(function* (runId: RunId) {
        const [run] = yield* sql<{ readonly status: RunStatus }>`
          SELECT status FROM runs WHERE id = ${runId}::uuid FOR KEY SHARE`
        if (run === undefined) return undefined
        yield* sql`INSERT INTO mark_chains (run_id) VALUES (${runId}::uuid) ON CONFLICT DO NOTHING`
        const [row] = yield* sql<ChainRow>`
          SELECT entries, marks, bytes, head FROM mark_chains WHERE run_id = ${runId}::uuid FOR UPDATE`
        if (row === undefined) return undefined
        const chain: LockedChain = {
          runId,
          status: run.status,
          entries: row.entries,
          marks: row.marks,
          bytes: Number(row.bytes),
          head: row.head === null ? marksStart(sha256, runId) : Result.getOrThrow(Hex.decode(row.head))
        }
        return chain
      })

      /** Appends an entry to the chain and signs its end. */
      const append = Effect.fnUntraced(function* (chain: LockedChain, entry: MarkEntry, bytes: number) {
        const entries = chain.entries + 1
        const next: LockedChain = {
          ...chain,
          entries,
          marks: chain.marks + (entry.action === "add" ? 1 : 0),
          bytes: chain.bytes + bytes,
          head: marksNext(sha256, chain.head, entries, entry)
        }
        const { head, keyId, signature } = makeMarksHead(chain.runId, entries, next.head, key)
        yield* sql`
          UPDATE mark_chains SET entries = ${entries}, marks = ${next.marks}, bytes = ${BigInt(next.bytes)},
                                 head = ${head}, key_id = ${keyId}, signature = ${signature}
          WHERE run_id = ${chain.runId}::uuid`
        return next
      })

      const add = Effect.fn("MarkWriter.add")(function* (chain: LockedChain, mark: AddedMark, request?: KeyedRequest) {
        const { author, authorName, comment, createdAt, id, index, judge, name, runId, source, target, value } = mark
        const nonce = yield* ids.traceId
        const content: MarkContent = {
          nonce,
          value,
          ...(comment !== undefined && { comment }),
          ...(judge !== undefined && { judge })
        }
        const contentSha256 = markContentSha256(sha256, content)
        const slot = contentDigest(canonicalJson([target.kind, target.id ?? "", name, raterOf(mark)]))
        const { category, flag, number } = valueColumns(value)
        yield* sql`
          UPDATE marks SET replaced_by = ${id}::uuid
          WHERE run_id = ${runId}::uuid AND slot = ${slot} AND replaced_by IS NULL AND deleted_at IS NULL`
        yield* sql`
          INSERT INTO marks (id, run_id, position, target_kind, target_id, index, name, number, flag, category, comment,
                             source, judge_name, judge_model, judge_prompt_hash, author, author_name, created_at,
                             idempotency_key, request_sha256, nonce, content_sha256, slot)
          VALUES (${id}::uuid, ${runId}::uuid, ${chain.entries + 1}, ${target.kind}, ${target.id ?? null},
                  ${index ?? null}, ${name}, ${number}::float8, ${flag}, ${category}, ${comment ?? null}, ${source},
                  ${judge?.name ?? null}, ${judge?.model ?? null}, ${judge?.promptHash ?? null}, ${author},
                  ${authorName ?? null}, ${createdAt}::timestamptz, ${request?.key ?? null},
                  ${request === undefined ? null : requestSha256(nonce, request)}, ${nonce}, ${contentSha256}, ${slot})`
        const payload = { event: "mark.added", runId, status: chain.status, timestamp: createdAt, data: { mark } }
        yield* enqueueDeliveries(sql, [
          { run_id: runId, event: "mark.added", payload: JSON.stringify(payload), at: createdAt }
        ])
        const entry: MarkEntry = {
          action: "add",
          ...{ id, target, name, source, author, createdAt, contentSha256 },
          ...(index !== undefined && { index }),
          ...(authorName !== undefined && { authorName })
        }
        return yield* append(chain, entry, Buffer.byteLength(canonicalJson({ ...content })))
      })

      const erase = Effect.fn("MarkWriter.erase")(function* (
        chain: LockedChain,
        id: string,
        deletedBy: string,
        deletedAt: string
      ) {
        yield* sql`
          UPDATE marks SET number = NULL, flag = NULL, category = NULL, comment = NULL, judge_name = NULL,
                           judge_model = NULL, judge_prompt_hash = NULL, nonce = NULL, request_sha256 = NULL,
                           slot = NULL, deleted_at = ${deletedAt}::timestamptz, deleted_by = ${deletedBy},
                           deleted_position = ${chain.entries + 1}
          WHERE id = ${id}::uuid`
        yield* sql`
          UPDATE webhook_deliveries
          SET payload = (payload::jsonb #- '{data,mark,value}' #- '{data,mark,comment}' #- '{data,mark,judge}')::json
          WHERE run_id = ${chain.runId}::uuid AND event = 'mark.added' AND payload->'data'->'mark'->>'id' = ${id}`
        return yield* append(chain, { action: "delete", id, deletedAt, deletedBy }, 0)
      })
      return MarkWriter.of({ lock, add, erase })
    })
  )
}

/** Identifies a request without revealing the value of a mark that is deleted later; hexadecimal. */
export const requestSha256 = (nonce: string, { body }: KeyedRequest): string => contentDigest(`${nonce}\n${body}`)

interface ChainRow {
  readonly entries: number
  readonly marks: number
  readonly bytes: bigint
  readonly head: string | null
}
