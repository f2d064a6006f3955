import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { Mark } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

const quality = (value: unknown, more: object = {}) => ({
  target: { kind: "run" },
  name: "quality",
  value,
  source: "human",
  ...more
})
const add = (runId: string, value: unknown, more: object = {}) =>
  Effect.map(call("POST", `/runs/${runId}/marks`, { body: quality(value, more) }), ({ body }): Mark => body)
const list = (runId: string) =>
  Effect.map(call("GET", `/runs/${runId}/marks?history=true`), ({ body }): ReadonlyArray<Mark> => body.data)
const current = (runId: string) =>
  Effect.map(list(runId), (marks) =>
    marks.filter(({ deletedAt, replacedBy }) => deletedAt === undefined && replacedBy === undefined)
  )
const undo = (runId: string, { id }: Mark) => call("DELETE", `/runs/${runId}/marks/${id}?restore=true`)

layer(layerTestService(), { excludeTestServices: true })("the current mark of a rater", (it) => {
  it.effect("is the latest one when several are added at the same time", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* Effect.all(
        Array.from({ length: 24 }, (_, value) => add(runId, value)),
        { concurrency: "unbounded" }
      )
      const marks = yield* list(runId)
      const times = marks.map(({ createdAt }) => createdAt)
      assert.deepStrictEqual(times, times.toSorted().toReversed())
      assert.deepStrictEqual(
        (yield* current(runId)).map(({ id }) => id),
        marks.slice(0, 1).map(({ id }) => id)
      )
    })
  )

  it.effect("is not before the marks that the run has, whatever the clock of the process says", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const first = yield* add(runId, 1)
      const sql = yield* PgClient.PgClient
      const ahead = new Date(Date.parse(first.createdAt) + 60_000).toISOString()
      yield* sql`UPDATE marks SET created_at = ${ahead}::timestamptz WHERE id = ${first.id}::uuid`
      const second = yield* add(runId, 2)
      assert.strictEqual(second.createdAt, ahead)
      assert.deepStrictEqual(yield* current(runId), [second])
    })
  )

  it.effect("is the one before when the last one is undone, back to the first", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const first = yield* add(runId, 1, { comment: "calm" })
      const second = yield* add(runId, 2)
      const third = yield* add(runId, 3)
      assert.strictEqual((yield* undo(runId, third)).status, 204)
      assert.deepStrictEqual(yield* current(runId), [second])
      // A repeated undo changes nothing.
      assert.strictEqual((yield* undo(runId, third)).status, 204)
      assert.deepStrictEqual(yield* current(runId), [second])
      const fourth = yield* add(runId, 4)
      yield* undo(runId, fourth)
      assert.deepStrictEqual(yield* current(runId), [second])
      yield* undo(runId, second)
      assert.deepStrictEqual(yield* current(runId), [first])
      yield* undo(runId, first)
      assert.deepStrictEqual(yield* current(runId), [])
      const audit = yield* call("GET", `/audit?action=mark.delete&limit=10`)
      assert.include(audit.text, `"restored":"${first.id}"`)
    })
  )

  it.effect("is the one that a replaced and undone mark replaced, once its successor is undone", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const [first, second, third] = [yield* add(runId, 1), yield* add(runId, 2), yield* add(runId, 3)]
      yield* undo(runId, second)
      assert.deepStrictEqual(yield* current(runId), [third])
      yield* undo(runId, third)
      assert.deepStrictEqual(yield* current(runId), [first])
    })
  )

  it.effect("does not come back after a plain deletion, nor one that was deleted", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* add(runId, 1)
      const second = yield* add(runId, 2)
      yield* call("DELETE", `/runs/${runId}/marks/${second.id}`)
      assert.deepStrictEqual(yield* current(runId), [])
      const third = yield* add(runId, 3)
      yield* undo(runId, third)
      assert.deepStrictEqual(yield* current(runId), [])
    })
  )

  it.effect("keeps its search and its chain through an undo", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const [first, second] = [yield* add(runId, 0.2), yield* add(runId, 0.9)]
      yield* undo(runId, second)
      const { body } = yield* call("GET", `/marks?q=run:${runId}%20value:%3C0.5`)
      assert.deepStrictEqual(body.data, [first])
      assert.strictEqual((yield* call("GET", `/runs?q=id:${runId}%20mark.quality:%3C0.5`)).body.total, 1)
    })
  )
})
