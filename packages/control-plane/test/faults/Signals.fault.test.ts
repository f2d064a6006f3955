import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Observers } from "../../src/observe/Observers.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { signal } from "../observe/Signals.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitStatus, layerObservedBy } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { FaultyLine, layerFaultyDatabase } from "./support/FaultyLog.ts"

const SIGNALS = 20
const OUTAGE_MS = 7_000
const SESSIONS = 2_000

const names = Array.from({ length: SIGNALS }, (_, number) => `signal-${number}`)

/** Observers whose line to the database can be cut. */
const layerCut = layerObservedBy({ discoveryGraceMs: 100 }, layerTestLog).pipe(Layer.provideMerge(layerFaultyDatabase))

describe("a database that is away for seconds", () => {
  it.live(
    "loses none of the signals that come meanwhile",
    () =>
      Effect.gen(function* () {
        const line = yield* FaultyLine
        const fake = yield* RuntimeFake
        const runId = yield* createRun()
        yield* fake.openSession({ sessionId: runId })
        yield* (yield* Observers).adopt(runId)
        yield* awaitStatus(runId, "running")
        yield* fake.awaitOpenStreams("WatchSignals", 1)

        line.judge(() => "cut-before")
        for (const name of names) {
          yield* fake.signal(signal(runId, name))
          yield* Effect.sleep(OUTAGE_MS / SIGNALS)
        }
        line.judge(() => "pass")

        const emitted = Effect.map(Effect.retry(assertLogIsExact(runId), { times: 20 }), ({ decoded }) =>
          decoded.filter(({ type }) => type === "signal.emitted").map(({ recorded }) => recorded.data["signalType"])
        )
        const stored = yield* until(emitted, (found) => found.length >= SIGNALS)
        assert.deepStrictEqual(stored, names)
        assert.isAbove(line.cuts(), 0)
      }).pipe(Effect.provide(Layer.fresh(layerCut))),
    60_000
  )

  it.live(
    "finds every session of a burst that comes meanwhile",
    () =>
      Effect.gen(function* () {
        const line = yield* FaultyLine
        const fake = yield* RuntimeFake
        const sql = yield* PgClient.PgClient
        yield* fake.awaitOpenStreams("WatchSessions", 1)
        line.judge(() => "cut-before")
        const ids = yield* (yield* Ids).uuids(SESSIONS)
        for (const sessionId of ids) yield* fake.openSession({ sessionId: RunId.make(sessionId) })
        yield* Effect.sleep(OUTAGE_MS)
        line.judge(() => "pass")
        const count = Effect.map(
          Effect.retry(sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM runs`, { times: 20 }),
          ([row]) => row?.count
        )
        yield* until(count, (found) => found === SESSIONS)
      }).pipe(Effect.provide(Layer.fresh(layerCut))),
    180_000
  )
})
