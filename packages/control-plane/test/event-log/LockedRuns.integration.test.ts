import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { PipelinedTransactions } from "@runplane/database"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { AppendQueue } from "../../src/event-log/append/AppendQueue.ts"
import { InsertEvents } from "../../src/event-log/append/InsertEvents.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { messageDraft } from "../support/Appends.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { lockRun } from "../support/RowLock.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })(
  "a run whose row another transaction has locked",
  (it) => {
    it.effect("waits alone: the others are written, and its own appends keep their order", () =>
      Effect.gen(function* () {
        const log = yield* EventLog
        const queue = yield* AppendQueue
        const locked = yield* createRun()
        const others = yield* Effect.forEach(Array.from({ length: 8 }), () => createRun())
        const unlock = yield* lockRun(locked)

        const record = (runId: RunId, number: number) => log.record({ runId, events: [messageDraft(number)] })
        const held = yield* Effect.forEach([1, 2, 3], (number) => Effect.forkChild(record(locked, number)))
        // More than there are writers, and one after the other: each needs a writer that is free.
        for (const number of [1, 2, 3, 4]) {
          yield* Effect.forEach(others, (runId) => record(runId, number), { concurrency: "unbounded" })
        }
        assert.isTrue(held.every((fiber) => fiber.pollUnsafe() === undefined))
        const oldest = yield* queue.oldest
        assert.deepStrictEqual([oldest?.runId, oldest?.locked], [locked, true])

        yield* unlock
        yield* Effect.forEach(held, Fiber.join)
        assert.isUndefined(yield* queue.oldest)
        const messages = (yield* assertLogIsExact(locked)).decoded.slice(1)
        assert.deepStrictEqual(
          messages.map(({ recorded }) => recorded.data["messageId"]),
          ["m1", "m2", "m3"]
        )
        for (const runId of others) assert.strictEqual((yield* assertLogIsExact(runId)).decoded.length, 5)
      })
    )

    it.effect("has no message stored when a group is opened, and takes nothing from the others", () =>
      Effect.gen(function* () {
        const { within } = yield* PipelinedTransactions
        const rows = yield* InsertEvents
        const [locked, free, other] = [yield* createRun(), yield* createRun(), yield* createRun()]
        const unknown = "00000000-0000-4000-8000-000000000000"
        const keys = [
          [free, "m1"],
          [free, "m2"],
          [locked, "m1"],
          [unknown, "m1"]
        ] as const
        const open = (isAccepted: ReadonlyArray<boolean>) =>
          within(() =>
            rows.open({
              runIds: [locked, free, other, unknown],
              messages: keys.map(([run_id, message_id], index) => ({
                run_id,
                message_id,
                accepted: isAccepted[index] ?? false,
                message: "{}"
              })),
              count: 3
            })
          )
        const unlock = yield* lockRun(locked)
        const first = yield* open([true, false, true, true])
        assert.deepStrictEqual([...first.heads.keys()].sort(), [free, other].sort())
        assert.deepStrictEqual(
          first.fresh,
          new Map([
            [`${free} m1`, "accepted"],
            [`${free} m2`, "rejected"]
          ])
        )
        assert.strictEqual(new Set(first.seqs).size, 3)
        assert.deepStrictEqual(
          first.seqs,
          first.seqs.toSorted((a, b) => a - b)
        )
        yield* unlock
        const second = yield* open([true, true, false, true])
        assert.strictEqual(second.heads.size, 3)
        // An acceptance is new after a rejection, and nothing else is that the log has.
        assert.deepStrictEqual(
          second.fresh,
          new Map([
            [`${free} m2`, "accepted instead"],
            [`${locked} m1`, "rejected"]
          ])
        )
      }).pipe(Effect.provide(InsertEvents.layer))
    )

    it.effect("is not found any more when it was deleted meanwhile", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const log = yield* EventLog
        const runId = yield* createRun()
        const unlock = yield* lockRun(runId, sql`DELETE FROM runs WHERE id = ${runId}::uuid`)
        const held = yield* Effect.forkChild(Effect.flip(log.record({ runId, events: [messageDraft(1)] })))
        yield* unlock
        assert.strictEqual((yield* Fiber.join(held))._tag, "RunNotFound")
      })
    )
  }
)
