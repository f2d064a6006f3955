import type * as PgClient from "@effect/sql-pg/PgClient"
import { type AlertRule, isCalendarWindow, measureOf } from "@runplane/domain"
import { READ_BYTES } from "../../../platform/postgres/BoundedRows.ts"

/** Claimed runs of one step; the next one continues. */
const RUNS_AT_ONCE = 20
/** Events of one read. */
const EVENTS_AT_ONCE = 1_000

/** A run that was claimed after the evaluator had counted events of it. */
interface ClaimedRow {
  readonly run_id: string
  /** Its events after this position and up to the other one were counted before the claim. */
  readonly after: bigint
  readonly up_to: bigint
}

/** Whether a claim changes what the rule has counted: sums of calendar periods, from events. */
export const isRecounted = ({ measure, window }: AlertRule): boolean =>
  isCalendarWindow(window) && measureOf(measure).from !== "marks"

/** Takes the claims that the evaluator has not seen. */
export const takeClaims = (sql: PgClient.PgClient) => sql<ClaimedRow>`
  DELETE FROM alert_claimed_runs WHERE run_id IN (SELECT run_id FROM alert_claimed_runs LIMIT ${RUNS_AT_ONCE})
  RETURNING run_id::text AS run_id, (SELECT amounts_from FROM alert_cursor) AS after, up_to`

/** The next events of the run that were counted before its claim. */
export const readCounted = (sql: PgClient.PgClient, { run_id, up_to }: ClaimedRow, after: number) =>
  sql<{ readonly seq: bigint; readonly event: string }>`
    SELECT seq, event FROM (
      SELECT seq, event, sum(octet_length(event)) OVER (ORDER BY seq) - octet_length(event) AS before
      FROM (SELECT seq, event::text AS event FROM canonical_events
            WHERE run_id = ${run_id}::uuid AND seq > ${BigInt(after)} AND seq <= ${up_to}
            ORDER BY seq LIMIT ${EVENTS_AT_ONCE}) AS next
    ) AS counted
    WHERE before < ${BigInt(READ_BYTES)} ORDER BY seq`
