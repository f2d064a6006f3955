import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"
import type { StoredEvent } from "../EventRepository.ts"

/** The next events of the whole log, bounded in number and in bytes. */
export interface LogSlice {
  readonly events: ReadonlyArray<StoredEvent>
  /** Where the next read continues: the last event of a full slice, and else the watermark. */
  readonly upTo: number
  /** Whether there were no further events up to the watermark. */
  readonly isEnd: boolean
}

/** Reads the events behind a position, up to the watermark (docs/reference/events.md#watermark). */
export const readEndOfLog = (sql: PgClient.PgClient, after: number, limit: number): Effect.Effect<LogSlice, SqlError> =>
  Effect.map(
    sql<Row>`
      SELECT mark, seq, index, event, bytes FROM end_of_log(${BigInt(after)}, ${limit}, ${BigInt(READ_BYTES)})`,
    (rows) => {
      const found = rows.flatMap((row) => (row.seq === null ? [] : [row]))
      const last = found.at(-1)
      const isCut = last !== undefined && (found.length >= limit || Number(last.bytes) >= READ_BYTES)
      return {
        events: found.map(({ event, index, seq }) => ({ seq: Number(seq), index, json: event })),
        upTo: isCut ? Number(last.seq) : Math.max(Number(rows[0]?.mark ?? 0), after),
        isEnd: !isCut
      }
    }
  )

/** Without events there is one row, of the watermark. */
type Row = { readonly mark: bigint } & (
  | { readonly seq: null }
  | { readonly seq: bigint; readonly index: number; readonly event: string; readonly bytes: bigint }
)
