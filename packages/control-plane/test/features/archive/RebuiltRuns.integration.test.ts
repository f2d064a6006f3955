import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun, endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { openTarget, passInto, rowsOf } from "./Archives.ts"

/** Gives the run metrics that its log does not say, as an earlier version can have. */
const damage = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  yield* sql`UPDATE run_metrics SET metrics = '{"eventCount":99}', total_tokens = 99 WHERE run_id = ${runId}::uuid`
})

const rebuild = (runId: RunId) => call("POST", `/runs/${runId}/projection/rebuild`)

const waiting = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly id: string }>`SELECT id::text AS id FROM archive_changes WHERE table_name = 'runs'`
})

layer(layerTestService(), { excludeTestServices: true })("a rebuilt run", (it) => {
  it.effect("is archived again when the rebuild changes its metrics, and not otherwise", () =>
    Effect.gen(function* () {
      const target = yield* openTarget
      yield* passInto(target)
      const ended = yield* createRun()
      yield* appendMessages(ended, 10, 5)
      yield* endRun(ended)
      const other = yield* endedRun
      const open = yield* createRun()
      yield* damage(ended)
      yield* passInto(target)
      const [before] = (yield* rowsOf(target, "runs")).filter(({ run_id }) => run_id === ended)
      assert.deepInclude(before, { total_tokens: 99, metrics: '{"eventCount":99}' })
      assert.lengthOf(yield* waiting, 0)
      yield* damage(open)
      for (const runId of [ended, other, open]) assert.strictEqual((yield* rebuild(runId)).status, 201)
      assert.deepStrictEqual(yield* waiting, [{ id: ended }])
      yield* passInto(target)
      const versions = (yield* rowsOf(target, "runs")).filter(({ run_id }) => run_id === ended)
      const last = versions.toSorted((left, right) => left.version - right.version).at(-1)
      assert.lengthOf(versions, 2)
      assert.strictEqual(last?.total_tokens, 0)
      assert.strictEqual(last?.metrics, (yield* call("GET", `/runs/${ended}/metrics`)).text)
      yield* rebuild(ended)
      assert.lengthOf(yield* waiting, 0)
    })
  )
})
