import * as PgClient from "@effect/sql-pg/PgClient"
import { emptyRunMetrics, isUuid, RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { SESSION_ORDER } from "../../event-log/SessionOrder.ts"
import { type BoundedRows, readBounded } from "../../platform/postgres/BoundedRows.ts"

/** A captured message as JSON text, with its position among the run's messages. */
export interface MessageText {
  readonly ordinal: number
  readonly json: string
}

/** The stored JSON of a run that is answered as it is, without being decoded: its counters and messages. */
export class RunDocuments extends Context.Service<
  RunDocuments,
  {
    /** Undefined when there is no such run. */
    readonly metrics: (reference: string) => Effect.Effect<string | undefined, SqlError>
    /**
     * Messages after an ordinal, in the order in which they were first seen (docs/reference/runs.md#messages); as many
     * as may be held at a time.
     */
    readonly messages: (
      runId: RunId,
      afterOrdinal: number,
      limit: number
    ) => Effect.Effect<BoundedRows<MessageText>, SqlError>
  }
>()("runplane/control-plane/RunDocuments") {
  static readonly layer = Layer.effect(
    RunDocuments,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const named = (reference: string) =>
        isUuid(reference) ? sql`r.id = ${reference}::uuid` : sql`r.runtime_session_id = ${reference}`

      const metrics = Effect.fn("RunDocuments.metrics")((reference: string) =>
        Effect.map(
          sql<{ readonly id: string; readonly json: string | null }>`
            SELECT r.id::text AS id, m.metrics::text AS json FROM runs r LEFT JOIN run_metrics m ON m.run_id = r.id
            WHERE ${named(reference)} ${sql.literal(SESSION_ORDER)} LIMIT 1`,
          ([row]) => row && (row.json ?? JSON.stringify(emptyRunMetrics(RunId.make(row.id))))
        )
      )
      const messages = Effect.fn("RunDocuments.messages")((runId: RunId, afterOrdinal: number, limit: number) =>
        Effect.map(
          readBounded<MessageRow>(sql, {
            keys: sql`ARRAY(
              SELECT ordinal FROM outbound_messages
              WHERE run_id = ${runId}::uuid AND ordinal > ${BigInt(afterOrdinal)} ORDER BY ordinal LIMIT ${limit})`,
            from: sql`outbound_messages`,
            isOf: (ordinal) => sql`run_id = ${runId}::uuid AND ordinal = ${ordinal}`,
            columns: sql`ordinal, id::text AS id, message::text AS json`,
            large: ["message"]
          }),
          (page) => ({ ...page, rows: page.rows.map(toText) })
        )
      )
      return RunDocuments.of({ metrics, messages })
    })
  )
}

interface MessageRow {
  readonly ordinal: bigint
  readonly id: string
  readonly json: string
}

/** The stored object with its id as the first key. */
const toText = ({ id, json, ordinal }: MessageRow): MessageText => ({
  ordinal: Number(ordinal),
  json: `{"id":"${id}",${json.slice(1)}`
})
