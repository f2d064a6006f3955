import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { participantSeen } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { messageDraft } from "../../support/Appends.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { aDeletion, createRun } from "../../support/Runs.ts"
import { at, contribution, decision, signal } from "./RunSeeds.ts"

layer(layerTestService(), { excludeTestServices: true })("GET /dashboard/agents/metrics", (it) => {
  const agents = Effect.map(call("GET", "/dashboard/agents/metrics"), ({ body }) => body)
  const message = (number: number, sender: string) => messageDraft(number, undefined, undefined, { sender })

  it.effect("counts runs, messages and signals by participant, without deleted runs", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* agents, [])
      const log = yield* EventLog
      const sql = yield* PgClient.PgClient
      const upkeep = yield* RunAdministration
      const runs = [yield* createRun(), yield* createRun(), yield* createRun()]
      const [first, second, third] = runs
      if (first === undefined || second === undefined || third === undefined) return assert.fail()
      const seen = participantSeen(at("10:00:00"), "agent://idle")
      yield* log.record({ runId: first, events: [seen, message(1, "agent://a"), message(2, "agent://b")] })
      yield* log.record({ runId: first, events: [message(3, "agent://a"), signal(at("10:00:00"), "agent://a", 0.5)] })
      yield* log.record({ runId: second, events: [message(1, "agent://a"), signal(at("10:00:00"), "agent://a", 1)] })
      yield* log.record({ runId: second, events: [signal(at("10:00:00"), "agent://a")] })
      const stating = (messageType: string, confidence?: number) =>
        contribution(at("10:00:00"), messageType, "agent://b", confidence)
      yield* log.record({
        runId: third,
        events: [message(1, "agent://b"), stating("Vote", 0.5), stating("Evaluation", 0.75), stating("Vote")]
      })
      // An objection is neither an evaluation nor a vote.
      yield* log.record({ runId: third, events: [stating("Objection", 1)] })
      yield* log.record({ runId: third, events: [decision(at("10:00:00"), true)] })
      const participant = (
        participantId: string,
        runs: number,
        messages: number,
        signals = 0,
        averageConfidence = 0,
        statedConfidence?: number
      ) => ({
        participantId,
        runs,
        messages,
        signals,
        averageConfidence,
        ...(statedConfidence !== undefined && { statedConfidence })
      })
      assert.deepStrictEqual(yield* agents, [
        participant("agent://a", 2, 3, 3, 0.75),
        participant("agent://b", 2, 2, 0, 0, 0.625),
        participant("agent://idle", 1, 0),
        participant("agent://lead", 1, 0)
      ])

      // A list counts them for who asks: those that its runs name.
      const listed = (yield* call("GET", "/runs?include=participants&limit=200")).body.data
      const countOf = (runId: string) => listed.find(({ id }: { id: string }) => id === runId)?.participantCount
      assert.deepStrictEqual([first, second, third].map(countOf), [3, 1, 2])
      for (const run of (yield* call("GET", "/runs?limit=200")).body.data) assert.notProperty(run, "participantCount")
      assert.strictEqual((yield* call("GET", "/runs?include=everything")).status, 400)

      // The appends have counted the same as a count over the stored log.
      const tables = Effect.all([
        sql`SELECT * FROM key_events m ORDER BY m.run_id, m.seq`,
        sql`SELECT * FROM run_participants ORDER BY run_id, participant_id`
      ])
      const counted = yield* tables
      yield* sql`TRUNCATE key_events, run_participants`
      yield* sql`
        INSERT INTO key_events (run_id, seq, ts, type, positive)
        SELECT run_id, seq, ts, type, (event #>> '{data,decodedPayload,outcome_positive}')::bool
        FROM canonical_events WHERE type IN ('signal.emitted', 'decision.finalized')`
      yield* sql`
        INSERT INTO run_participants (run_id, participant_id, messages, signals, confidence_sum, confidence_count,
                                      stated_sum, stated_count)
        SELECT run_id, participant, count(*) FILTER (WHERE type = 'message.received'),
               count(*) FILTER (WHERE type = 'signal.emitted'), coalesce(sum(confidence), 0), count(confidence),
               coalesce(sum(stated), 0), count(stated)
        FROM (
          SELECT run_id, type,
                 coalesce(nullif(event #>> '{data,sender}', ''),
                          CASE WHEN event #>> '{subject,kind}' = 'participant' THEN event #>> '{subject,id}' END)
                 AS participant,
                 CASE WHEN type = 'signal.emitted'
                      THEN (event #>> '{data,decodedPayload,confidence}')::float8 END AS confidence,
                 CASE WHEN type = 'proposal.updated' AND event #>> '{data,messageType}' IN ('Evaluation', 'Vote')
                      THEN (event #>> '{data,decodedPayload,confidence}')::float8 END AS stated
          FROM canonical_events
        ) AS seen
        WHERE participant IS NOT NULL GROUP BY 1, 2`
      assert.deepStrictEqual(yield* tables, counted)

      yield* sql.withTransaction(upkeep.remove([first], aDeletion))
      assert.deepStrictEqual(yield* agents, [
        participant("agent://a", 1, 1, 2, 1),
        participant("agent://b", 1, 1, 0, 0, 0.625),
        participant("agent://lead", 1, 0)
      ])
      const [left] = yield* sql<{
        readonly keyEvents: number
      }>`SELECT count(*)::int AS "keyEvents" FROM key_events WHERE run_id = ${first}::uuid`
      assert.strictEqual(left?.keyEvents, 0)
    })
  )
})
