import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { doubtsOf, type RunId, Seal, signedBytes } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { appendMessages, messageDraft } from "../../support/Appends.ts"
import { headOf } from "../../support/Chains.ts"
import { endedRun, endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun, readLog } from "../../support/Runs.ts"
import { publishedKeys } from "../../support/SealTests.ts"

/** The seal that the service returns for a run, with a signature of its key. */
const sealOf = Effect.fnUntraced(function* (runId: RunId) {
  const { body, status } = yield* call("GET", `/runs/${runId}/seal`)
  assert.strictEqual(status, 200)
  return yield* Schema.decodeUnknownEffect(Seal)(body)
})

/** The seal in the export of a run. */
const exportedSeal = Effect.fnUntraced(function* (runId: RunId) {
  const { body } = yield* call("GET", `/runs/${runId}/export`)
  return yield* Schema.decodeUnknownEffect(Seal)(body.seal)
})

/** Changes the text of an event as a writer of the database does it. */
const reword = Effect.fnUntraced(function* (runId: RunId, index: number) {
  const sql = yield* PgClient.PgClient
  yield* sql`
    UPDATE canonical_events SET event = replace(event::text, '"source":{', '"source":{"x":1,')::json
    WHERE run_id = ${runId}::uuid AND index = ${index}`
})

/** The chain over the stored events, which needs no key. */
const plainHead = Effect.fnUntraced(function* (runId: RunId) {
  const { events } = yield* readLog(runId)
  return { events: events.length, head: headOf(runId, events) }
})

/** Sets the head of the run to the stored events, and its sealed part. */
const resetHead = Effect.fnUntraced(function* (runId: RunId, sealed: { events: number; head: string } | undefined) {
  const sql = yield* PgClient.PgClient
  const { events, head } = yield* plainHead(runId)
  yield* sql`
    UPDATE run_heads SET last_index = ${events}, chain_head = decode(${head}, 'hex'),
                         sealed_index = ${sealed?.events ?? 0}, sealed_head = decode(${sealed?.head ?? null}, 'hex')
    WHERE run_id = ${runId}::uuid`
})

const endedWithMessages = Effect.gen(function* () {
  const runId = yield* createRun()
  yield* appendMessages(runId, 3, 3)
  yield* endRun(runId)
  return runId
})

layer(layerTestService(), { excludeTestServices: true })("the seal of a changed history", (it) => {
  it.effect("proves all events of a run that the service appended, after changes by other writers", () =>
    Effect.gen(function* () {
      const runId = yield* endedWithMessages
      const seal = yield* sealOf(runId)
      assert.deepInclude(seal, { late: false, provenAfter: 0 })
      assert.deepStrictEqual(doubtsOf(seal), [])
      yield* appendMessages(runId, 2, 1)
      assert.deepInclude(yield* sealOf(runId), { events: 7, late: false, provenAfter: 0 })
    })
  )

  it.effect("is late when the seals were deleted and the head was reset", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* endedWithMessages
      yield* reword(runId, 2)
      yield* sql`DELETE FROM run_seals WHERE run_id = ${runId}::uuid`
      yield* resetHead(runId, undefined)
      const seal = yield* sealOf(runId)
      assert.deepInclude(seal, { events: 5, late: true, provenAfter: 5, frames: null })
      assert.deepInclude(yield* plainHead(runId), { head: seal.head })
      assert.deepStrictEqual(yield* exportedSeal(runId), seal)
    })
  )

  it.effect("is of what the service wrote when only the seals were deleted", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* endedWithMessages
      const { head } = yield* sealOf(runId)
      yield* reword(runId, 2)
      yield* sql`DELETE FROM run_seals WHERE run_id = ${runId}::uuid`
      assert.deepInclude(yield* sealOf(runId), { events: 5, head, late: true, provenAfter: 0 })
    })
  )

  it.effect("of an open run proves only the events behind the changed head", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* appendMessages(runId, 3, 3)
      yield* reword(runId, 2)
      yield* resetHead(runId, undefined)
      yield* log.record({ runId, events: [messageDraft(9)] })
      yield* endRun(runId)
      assert.deepInclude(yield* sealOf(runId), { events: 6, late: false, provenAfter: 4 })
    })
  )

  it.effect("of an open run does not prove a log that was emptied and goes on from nothing", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* appendMessages(runId, 3, 3)
      yield* sql`DELETE FROM canonical_events WHERE run_id = ${runId}::uuid`
      yield* sql`
        UPDATE run_heads SET last_index = 0, last_seq = 0, chain_head = NULL, head_mac = NULL
        WHERE run_id = ${runId}::uuid`
      yield* log.record({ runId, events: [messageDraft(9)] })
      yield* endRun(runId)
      assert.deepInclude(yield* sealOf(runId), { events: 2, late: false, provenAfter: 1 })
    })
  )

  it.effect("is not an older one when the tail of the log was cut", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* endedRun
      const first = yield* sealOf(runId)
      yield* appendMessages(runId, 2, 1)
      yield* sql`DELETE FROM canonical_events WHERE run_id = ${runId}::uuid AND index > 2`
      yield* sql`DELETE FROM run_seals WHERE run_id = ${runId}::uuid AND events > 2`
      yield* resetHead(runId, first)
      for (const seal of [yield* sealOf(runId), yield* exportedSeal(runId)]) {
        assert.deepInclude(seal, { events: 2, head: first.head, late: true, provenAfter: 2 })
        const check = yield* publishedKeys
        assert.isTrue(check(seal.keyId ?? "", signedBytes(seal), Buffer.from(seal.signature ?? "", "hex")))
      }
    })
  )

  it.effect("is made anew, late, when a column of the head was changed", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      for (const change of [
        sql`head_mac = NULL`,
        sql`head_mac = decode(repeat('00', 32), 'hex')`,
        sql`chain_head = decode(repeat('00', 32), 'hex')`,
        sql`proven_after = 1`,
        sql`frames_after = 1`,
        sql`last_raw_seq = 7`,
        sql`sealed_index = 0, sealed_head = NULL`,
        sql`sealed_head = decode(repeat('00', 32), 'hex')`
      ]) {
        const runId = yield* endedRun
        yield* sql`UPDATE run_heads SET ${change} WHERE run_id = ${runId}::uuid`
        assert.deepInclude(yield* sealOf(runId), { late: true, provenAfter: 2 })
      }
    })
  )
})
