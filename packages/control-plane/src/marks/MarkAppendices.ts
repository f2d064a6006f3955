import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type ExportedMarkEntry,
  type MarkContent,
  type MarkEntry,
  marksNext,
  marksStart,
  type RunId
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { sha256 } from "../platform/Sha256.ts"
import { type MarkRow, markColumns, toMark } from "./MarkRows.ts"

/** The marks of runs as exports have them (docs/reference/seal.md#marks). */
export class MarkAppendices extends Context.Service<
  MarkAppendices,
  {
    /**
     * The JSON of a `MarkAppendix`; undefined for a run without marks. One statement reads all of it, so that it is of
     * one moment; the bounds of a run's marks bound it.
     */
    readonly text: (runId: RunId) => Effect.Effect<string | undefined, SqlError>
  }
>()("runplane/control-plane/MarkAppendices") {
  static readonly layer = Layer.effect(
    MarkAppendices,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const text = Effect.fn("MarkAppendices.text")(function* (runId: RunId) {
        const rows = yield* sql<AppendixRow>`
          SELECT m.*, c.entries, c.head, c.key_id, c.signature
          FROM mark_chains c LEFT JOIN LATERAL (
            SELECT ${markColumns(sql)}, position, nonce, content_sha256, deleted_position
            FROM marks WHERE run_id = c.run_id
          ) AS m ON true
          WHERE c.run_id = ${runId}::uuid AND c.entries > 0`
        const [first] = rows
        if (first === undefined) return undefined
        const { entries, head, key_id: keyId, signature } = first
        const end = JSON.stringify({ runId, entries, head, keyId, signature })
        return `{"entries":[${linked(runId, rows)}],"head":${end}}`
      })
      return MarkAppendices.of({ text })
    })
  )
}

interface AppendixRow extends MarkRow {
  readonly position: number
  readonly nonce: string | null
  readonly content_sha256: string
  readonly deleted_position: number | null
  readonly entries: number
  readonly head: string
  readonly key_id: string | null
  readonly signature: string | null
}

interface PlacedEntry {
  readonly position: number
  readonly entry: MarkEntry
  readonly content?: MarkContent
}

/** The entries in their order, each with the head before it. */
const linked = (runId: RunId, rows: ReadonlyArray<AppendixRow>): string => {
  const placed = rows.flatMap(entriesOf).toSorted((left, right) => left.position - right.position)
  let head = marksStart(sha256, runId)
  return placed
    .map(({ content, entry, position }) => {
      const exported = { position, previous: Hex.encode(head), ...entry, ...(content !== undefined && { content }) }
      head = marksNext(sha256, head, position, entry)
      return JSON.stringify(exported satisfies ExportedMarkEntry)
    })
    .join(",")
}

const entriesOf = (row: AppendixRow): ReadonlyArray<PlacedEntry> => {
  const {
    author,
    authorName,
    comment,
    createdAt,
    deletedAt,
    deletedBy,
    id,
    index,
    judge,
    name,
    source,
    target,
    value
  } = toMark(row)
  const added: PlacedEntry = {
    position: row.position,
    entry: {
      action: "add",
      ...{ id, target, name, source, author, createdAt, contentSha256: row.content_sha256 },
      ...(index !== undefined && { index }),
      ...(authorName !== undefined && { authorName })
    },
    ...(row.nonce !== null && {
      content: {
        nonce: row.nonce,
        ...(value !== undefined && { value }),
        ...(comment !== undefined && { comment }),
        ...(judge !== undefined && { judge })
      }
    })
  }
  if (row.deleted_position === null || deletedAt === undefined || deletedBy === undefined) return [added]
  return [added, { position: row.deleted_position, entry: { action: "delete", id, deletedAt, deletedBy } }]
}
