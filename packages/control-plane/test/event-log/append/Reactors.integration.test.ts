import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Reactor, Reactors, type WrittenAppend } from "../../../src/event-log/append/Reactors.ts"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import type { SideEffectStep } from "../../../src/platform/metrics/Metrics.ts"
import { messageDraft } from "../../support/Appends.ts"
import { layerReactingLog } from "../../support/ControlPlane.ts"
import { countedMetrics } from "../../support/CountedMetrics.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

/** A log with these reactors, on a database of its own with a table for what they write. */
const withReactors = <A, E, R>(
  make: (sql: PgClient.PgClient) => ReadonlyArray<Reactor>,
  effect: Effect.Effect<A, E, R>,
  failed: (step: SideEffectStep) => void = () => undefined
) => {
  const reactors = Layer.effect(
    Reactors,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`CREATE TABLE reactions (run_id uuid NOT NULL, events int NOT NULL CHECK (events < 10))`
      return make(sql)
    })
  )
  return effect.pipe(
    Effect.provide(
      layerReactingLog.pipe(Layer.provide(reactors), Layer.provide(countedMetrics({ sideEffectFailed: failed })))
    ),
    Effect.provide(layerTestDatabase),
    Effect.scoped
  )
}

const countEvents =
  (sql: PgClient.PgClient): NonNullable<Reactor["inTransaction"]> =>
  (appends) =>
    appends.map(({ events, runId }) => sql`INSERT INTO reactions VALUES (${runId}::uuid, ${events.length}::int)`)

const append = (runId: RunId, count: number) =>
  EventLog.use((log) => log.record({ runId, events: Array.from({ length: count }, (_, index) => messageDraft(index)) }))

it.live("reactors write with the append, and are called once it is committed", () => {
  const published: Array<WrittenAppend> = []
  return withReactors(
    (sql) => [
      { inTransaction: countEvents(sql) },
      { inTransaction: countEvents(sql), afterCommit: (appends) => published.push(...appends) }
    ],
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* createRun()
      const { events } = yield* append(runId, 3)
      const rows = yield* sql`SELECT events FROM reactions WHERE run_id = ${runId}::uuid AND events = 3`
      assert.lengthOf(rows, 2)
      const last = published.at(-1)
      assert.deepStrictEqual(
        last?.events.map((event) => JSON.stringify(event.recorded)),
        events.map(({ json }) => json)
      )
      assert.strictEqual(last?.runId, runId)
      assert.isUndefined(last?.change)
      assert.strictEqual(last?.state.timeline.latestSeq, events.at(-1)?.seq)
    })
  )
})

it.live("an append whose reaction fails is neither stored nor published", () => {
  const published: Array<WrittenAppend> = []
  return withReactors(
    (sql) => [{ inTransaction: countEvents(sql), afterCommit: (appends) => published.push(...appends) }],
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* createRun()
      const before = published.length
      const refused = yield* Effect.flip(append(runId, 10))
      assert.strictEqual(refused._tag, "AppendFailed")
      assert.lengthOf(published, before)
      assert.lengthOf(yield* sql`SELECT FROM canonical_events WHERE run_id = ${runId}::uuid AND index > 1`, 0)
      assert.lengthOf(yield* sql`SELECT FROM reactions WHERE events > 1`, 0)
    })
  )
})

it.live("a reactor that throws is counted, and the append and the other reactors do not notice", () => {
  const published: Array<WrittenAppend> = []
  const failures: Array<SideEffectStep> = []
  return withReactors(
    () => [
      {
        afterCommit: () => {
          throw new Error("a faulty reactor")
        }
      },
      { afterCommit: (appends) => published.push(...appends) }
    ],
    Effect.gen(function* () {
      const runId = yield* createRun()
      const { events } = yield* append(runId, 1)
      assert.lengthOf(events, 1)
      assert.strictEqual(published.at(-1)?.runId, runId)
      assert.deepStrictEqual([...new Set(failures)], ["publish"])
    }),
    (step) => failures.push(step)
  )
})
