import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun, endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { createRun } from "../../support/Runs.ts"
import { assertSeals, forgetChain } from "../../support/SealTests.ts"

const sealOf = (runId: string) => call("GET", `/runs/${runId}/seal`)
const tombstones = (query = "") => call("GET", `/runs/tombstones?${query}`)

layer(layerTestService(), { excludeTestServices: true })("the seal of a run", (it) => {
  it.effect("is made when the run ends, over all of its events", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, 1_000, 1_000)
      const open = yield* sealOf(runId)
      assert.strictEqual(open.status, 409)
      assert.deepInclude(open.body, {
        errorCode: "CONFLICT",
        message: `run ${runId} is queued: a run is sealed when it ends`
      })
      yield* endRun(runId)
      const { body, status } = yield* sealOf(runId)
      assert.strictEqual(status, 200)
      assert.deepInclude(yield* assertSeals(runId, body), {
        events: 1_002,
        previous: null,
        algorithm: "sha256-ed25519"
      })
      assert.deepStrictEqual(body.earlier, [])
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("is followed by another when events come later, which names the one before", () =>
    Effect.gen(function* () {
      const runId = yield* endedRun
      const first = yield* assertSeals(runId, (yield* sealOf(runId)).body)
      yield* appendMessages(runId, 2, 1)
      const { body } = yield* sealOf(runId)
      const last = yield* assertSeals(runId, body)
      assert.strictEqual(last.events, 4)
      assert.strictEqual(last.previous?.events, 3)
      assert.strictEqual(body.earlier.length, 2)
      assert.deepStrictEqual(body.earlier[1], first)
      assert.deepStrictEqual(body.earlier[0].previous, { events: first.events, head: first.head })
    })
  )

  it.effect("of a run whose seal was removed is made when a client reads it, once", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, 1_200, 400)
      yield* endRun(runId)
      yield* forgetChain(runId)
      const answers = yield* Effect.all(
        Array.from({ length: 4 }, () => sealOf(runId)),
        { concurrency: "unbounded" }
      )
      for (const { body } of answers) assert.deepStrictEqual(body, answers[0]?.body)
      yield* assertSeals(runId, answers[0]?.body)
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("fails with a reason", () =>
    Effect.gen(function* () {
      const unknown = yield* sealOf(randomUUID())
      assert.strictEqual(unknown.status, 404)
      assert.strictEqual((yield* sealOf("not-a-run")).status, 400)
      const sql = yield* PgClient.PgClient
      const runId = yield* endedRun
      yield* forgetChain(runId)
      yield* sql`DELETE FROM canonical_events WHERE run_id = ${runId}::uuid AND index = 1`
      const damaged = yield* sealOf(runId)
      assert.strictEqual(damaged.status, 409)
      assert.match(damaged.text, /its log lacks events/)
    })
  )

  it.effect("stays in the tombstone of a deleted run", () =>
    Effect.gen(function* () {
      const runs = yield* Effect.all([endedRun, endedRun, endedRun])
      const seals = yield* Effect.forEach(runs, (runId) => Effect.map(sealOf(runId), ({ body }) => body))
      for (const runId of runs) assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
      const first = (yield* tombstones("limit=2")).body
      assert.strictEqual(first.limit, 2)
      const second = (yield* tombstones(`limit=1&cursor=${first.nextCursor}`)).body
      const found = [...first.data, ...second.data]
      assert.deepStrictEqual(
        found.map(({ runId }) => runId),
        runs.toReversed()
      )
      const { earlier: _, ...seal } = seals[2]
      const { deletedAt, ...rest } = found[0]
      assert.isFalse(Number.isNaN(Date.parse(deletedAt)))
      assert.deepStrictEqual(rest, {
        runId: RunId.make(runs[2]),
        status: "cancelled",
        events: 2,
        reason: "deleted",
        deletedBy: "anonymous",
        sealHead: seal.head,
        seal
      })
      const one = (yield* tombstones(`runId=${runs[0]}`)).body
      assert.lengthOf(one.data, 1)
      assert.isUndefined(one.nextCursor)
      assert.strictEqual((yield* sealOf(runs[0])).status, 404)
    })
  )

  it.effect("lists no tombstones for bad queries", () =>
    Effect.gen(function* () {
      for (const query of ["limit=0", "limit=201", "cursor=x", "cursor=WyJhIiwiYiIsImMiXQ", "runId=x", "limit=x"]) {
        const { status, text } = yield* tombstones(query)
        assert.strictEqual(status, 400, `${query}: ${text}`)
      }
    })
  )
})
