import * as PgClient from "@effect/sql-pg/PgClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { RunsClient } from "../client/RunsClient.ts"
import { type NeverHappened, within } from "../Measurement.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"

/** Runs that are bound to a session each, and subscribed to it. */
export interface Fleet {
  readonly sessions: ReadonlyArray<string>
  readonly runIds: ReadonlyArray<string>
}

/** Time between two reads of the database: the error of a measured time. Milliseconds. */
const POLL_MS = 4

/**
 * Opens sessions with prepared histories of this length, creates a run for each through the service, and waits until
 * the service follows them all. Nothing of the histories has been accepted yet.
 */
export const openFleet = Effect.fn("Fleet.open")(function* (size: number, envelopes: number, payloadBytes?: number) {
  const runtime = yield* RuntimeProcess
  const client = yield* RunsClient
  const sessions = yield* client.newSessionIds(size)
  yield* runtime.run({ _tag: "Prepare", sessions, envelopes, ...(payloadBytes !== undefined && { payloadBytes }) })
  const created = yield* Effect.forEach(sessions, client.create, { concurrency: "unbounded" })
  yield* within("all sessions subscribed", runtime.run({ _tag: "AwaitSubscribed", sessions }))
  const fleet: Fleet = { sessions, runIds: created.map(({ runId }) => runId) }
  yield* until("all runs running", haveStatus(fleet, "running"))
  return fleet
})

/**
 * Resolves the sessions and waits until all runs are completed, so that they do not disturb the next measurement.
 */
export const closeFleet = Effect.fn("Fleet.close")(function* (fleet: Fleet, timeout?: Duration.Duration) {
  const runtime = yield* RuntimeProcess
  yield* runtime.run({ _tag: "Resolve", sessions: fleet.sessions })
  yield* until("all runs completed", haveStatus(fleet, "completed"), timeout)
})

const haveStatus = Effect.fnUntraced(function* ({ runIds }: Fleet, status: "running" | "completed") {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM runs WHERE id = ANY(${runIds}::text[]::uuid[]) AND status = ${status}`
  return row?.count === runIds.length
})

/** Waits until the log holds so many envelopes of these runs, all together. */
export const awaitEnvelopes = Effect.fn("Fleet.awaitEnvelopes")(function* ({ runIds }: Fleet, envelopes: number) {
  const sql = yield* PgClient.PgClient
  const stored = Effect.map(
    sql<{ readonly envelopes: number }>`
      SELECT coalesce(sum(stream_cursor), 0)::float8 AS envelopes FROM run_heads
      WHERE run_id = ANY(${runIds}::text[]::uuid[])`,
    ([row]) => (row?.envelopes ?? 0) >= envelopes
  )
  yield* until(`${envelopes} envelopes in the log`, stored)
})

const until = <E, R>(
  what: string,
  condition: Effect.Effect<boolean, E, R>,
  timeout?: Duration.Duration
): Effect.Effect<void, E | NeverHappened, R> =>
  within(
    what,
    Effect.asVoid(Effect.repeat(condition, { until: (reached) => reached, schedule: Schedule.spaced(POLL_MS) })),
    timeout
  )
