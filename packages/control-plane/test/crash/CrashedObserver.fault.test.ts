import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { createDatabase, programFile, startProgram, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { layerDatabase } from "../../src/platform/postgres/Database.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun, readLog } from "../support/Runs.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"

const ENVELOPES = 2_000
const KILLS = 24
/** Each life begins with the start of a process, which takes seconds on a busy machine. Milliseconds. */
const LIMIT_MS = (KILLS + 1) * 15_000
const CHILD = fileURLToPath(new URL("./CrashChild.ts", import.meta.url))

/** An observer process that lives until it is killed. */
const startChild = (environment: Record<string, string>) => {
  const { env, main } = programFile("crash-child", CHILD)
  return startProgram(main, { env: { PATH: process.env["PATH"] ?? "", ...env, ...environment } })
}

/** How far the log has come; the rows are the truth, so they are what is looked at. */
const progress = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly status: string; readonly stream_cursor: bigint }>`
    SELECT r.status, h.stream_cursor FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = ${runId}::uuid`
  return { cursor: Number(row?.stream_cursor ?? 0n), status: row?.status ?? "" }
})

describe("an observer killed by signal 9", () => {
  it.live(
    `has each of ${ENVELOPES} envelopes exactly once after ${KILLS} kills at random points`,
    () =>
      Effect.gen(function* () {
        const databaseUrl = yield* createDatabase
        yield* Effect.gen(function* () {
          const runId = yield* createRun()
          const runtime = yield* ScriptedRuntime.start
          runtime.openSession(runId, ENVELOPES)
          const environment = {
            DATABASE_URL: databaseUrl,
            RUNTIME_ADDRESS: runtime.address,
            NODE_ENV: "development"
          }
          for (let life = 0; life < KILLS; life++) {
            yield* Effect.scoped(
              Effect.gen(function* () {
                yield* startChild(environment)
                const before = Number((yield* readLog(runId)).head?.stream_cursor ?? 0n)
                // The runtime accepts a burst; the process dies once a random part of it is in the log, and a moment
                // more.
                const burst = yield* Random.nextIntBetween(20, 75)
                runtime.accept(runId, before + burst)
                const share = yield* Random.nextIntBetween(1, burst)
                yield* until(progress(runId), (log) => log.cursor >= before + share, "5 millis")
                yield* Effect.sleep(yield* Random.nextBetween(0, 6))
              })
            )
          }
          assert.isBelow(Number((yield* readLog(runId)).head?.stream_cursor), ENVELOPES)
          yield* startChild(environment)
          runtime.accept(runId, ENVELOPES)
          yield* until(progress(runId), (log) => log.status === "completed")

          const { decoded, head, raw } = yield* assertLogIsExact(runId)
          assert.strictEqual(Number(head?.stream_cursor), ENVELOPES)
          assert.deepStrictEqual(
            decoded
              .filter((event) => event.type === "message.received")
              .map((event) => event.recorded.data["messageId"]),
            Array.from({ length: ENVELOPES }, (_, position) => `message-${position + 1}`)
          )
          assert.strictEqual(raw.filter((row) => row.kind === "stream-envelope").length, ENVELOPES)
          assert.strictEqual(decoded.filter((event) => event.type === "run.completed").length, 1)
          assert.strictEqual(decoded.at(-1)?.type, "run.completed")
          assert.isAtLeast(runtime.subscriptions.length, KILLS + 1)
        }).pipe(
          Effect.scoped,
          Effect.provide(layerTestLog.pipe(Layer.provideMerge(layerDatabase({ url: databaseUrl, maxConnections: 4 }))))
        )
      }),
    LIMIT_MS
  )
})
