import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { sessionBound } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { TurnRefused } from "@runplane/server"
import { until } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { SqlError, StatementTimeoutError } from "effect/sql/SqlError"
import { SearchBudget, SearchTooSlow } from "../../src/platform/postgres/search/SearchBudget.ts"
import { AT, COST, decided, opened, RISK, recorded, recordedAs, session, votes } from "../support/Committee.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { lockedEvents, readingEvents } from "./decisions/EventLocks.ts"

/** Concurrent turns, the default of `DECISION_CONCURRENCY`. */
const AT_ONCE = 2

/** A request of the caller with this address. */
const from = (address: string, path: string) => call("GET", path, { headers: { "x-forwarded-for": address } })

layer(layerTestService({ settings: { TRUST_PROXY: "1" } }), { excludeTestServices: true })("turns by caller", (it) => {
  it.effect("let a request pass the 90 of another caller", () =>
    Effect.gen(function* () {
      const path = `/runs/${yield* decided}/forecast`
      const reading = yield* readingEvents("WITH RECURSIVE requested")
      const release = yield* lockedEvents()
      let answered = 0
      const count = Effect.sync(() => answered++)
      const many = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 90 }, () => Effect.tap(from("203.0.113.1", path), count)),
          { concurrency: "unbounded" }
        )
      )
      yield* until(reading, (readers) => readers === AT_ONCE)
      const other = yield* Effect.forkChild(
        Effect.zip(
          from("203.0.113.2", path),
          Effect.sync(() => answered)
        )
      )
      yield* from("203.0.113.2", "/livez")
      yield* release
      const [{ status }, before] = yield* Fiber.join(other)
      assert.strictEqual(status, 200)
      assert.isBelow(before, 30)
      for (const answer of yield* Fiber.join(many)) assert.strictEqual(answer.status, 200)
    })
  )

  it.effect("are free during a read of the registry", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.hang({ method: "GetPolicy", times: AT_ONCE })
      const offRecord = yield* recorded(sessionBound(AT, session("p.elsewhere")))
      const asking = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: AT_ONCE }, () => from("203.0.113.1", `/runs/${offRecord}/decision/why`)),
          { concurrency: "unbounded" }
        )
      )
      yield* fake.awaitCalls("GetPolicy", AT_ONCE)
      const { status } = yield* from("203.0.113.1", `/runs/${yield* decided}/decision/why`)
      assert.strictEqual(status, 200)
      yield* Fiber.interrupt(asking)
    })
  )

  it.effect("are not needed for a cached answer about an ended run", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* recordedAs("completed", ...opened, votes(RISK, "APPROVE"), votes(COST, "REJECT"))
      const other = yield* recordedAs("completed", ...opened, votes(RISK, "APPROVE"))
      const { body: events } = yield* call("GET", `/runs/${runId}/events`)
      const paths = [
        `/runs/${runId}/decision/why`,
        `/runs/${runId}/divergence?with=${other}`,
        `/runs/${runId}/forecast?atSeq=${events.at(-1).seq}`
      ]
      const requests = [
        ...paths.map((path) => call("GET", path)),
        call("POST", `/runs/${runId}/what-if`, { body: { votes: [{ participantId: COST, vote: "APPROVE" }] } })
      ]
      const first = yield* Effect.all(requests)
      const release = yield* lockedEvents()
      const again = yield* Effect.all(requests)
      yield* release
      assert.deepStrictEqual(
        again.map(({ body, status }) => [status, body]),
        first.map(({ body, status }) => [status, body])
      )
      // An event after the end of the run changes the answer.
      yield* sql`DELETE FROM canonical_events WHERE run_id = ${other}::uuid AND seq > (
        SELECT min(seq) FROM canonical_events WHERE run_id = ${other}::uuid)`
      yield* sql`UPDATE run_heads SET last_seq = last_seq + 1 WHERE run_id = ${other}::uuid`
      const changed = yield* call("GET", `/runs/${runId}/divergence?with=${other}`)
      assert.notDeepEqual(changed.body, first[1]?.body)
    })
  )

  it.effect("a search is rejected as too heavy only without concurrent searches", () =>
    Effect.gen(function* () {
      const { limited } = yield* SearchBudget
      const cause = new Error("canceling statement due to statement timeout")
      const slow = limited(Effect.fail(new SqlError({ reason: new StatementTimeoutError({ cause }) })))
      assert.deepStrictEqual(yield* Effect.flip(slow), new SearchTooSlow())
      const begun = yield* Deferred.make<void>()
      const beside = yield* Effect.forkChild(limited(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)))
      yield* Deferred.await(begun)
      assert.deepStrictEqual(yield* Effect.flip(slow), new TurnRefused({ lane: "search", reason: "busy" }))
      yield* Fiber.interrupt(beside)
      assert.deepStrictEqual(yield* Effect.flip(slow), new SearchTooSlow())
    })
  )
})
