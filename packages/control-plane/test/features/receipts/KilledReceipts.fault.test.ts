import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { RECEIPT_ARTIFACT, type RunId } from "@runplane/domain"
import { createDatabase, programFile, startProgram, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { createRun } from "../../support/Runs.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { KILL_STEPS, type KillStep } from "./KillSteps.ts"

/** Kills at each step; RECEIPT_KILLS=100 is the long run. */
const KILLS = Number(process.env["RECEIPT_KILLS"] ?? 3)
/** A life begins with the start of a process, which takes seconds on a busy machine. Milliseconds. */
const LIMIT_MS = KILL_STEPS.length * KILLS * 15_000 + 60_000
const ENVELOPES = 5
const CHILD = fileURLToPath(new URL("./ReceiptChild.ts", import.meta.url))

const startChild = (environment: Readonly<Record<string, string>>, step?: KillStep) => {
  const { env, main } = programFile("receipt-child", CHILD)
  return startProgram(main, {
    env: {
      ...{ PATH: process.env["PATH"] ?? "", NODE_ENV: "development", ...env, ...environment },
      ...(step !== undefined && { RECEIPT_KILL_STEP: step })
    }
  })
}

/** The attempts of the receipts that are still pending, by run. */
const pending = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly run_id: RunId; readonly attempts: number }>`
    SELECT run_id::text AS run_id, attempts FROM pending_receipts`
})

const receiptsOf = Effect.fnUntraced(function* (runs: ReadonlyArray<RunId>) {
  const sql = yield* PgClient.PgClient
  return yield* sql`
    SELECT DISTINCT run_id FROM artifacts
    WHERE run_id = ANY(${runs}::text[]::uuid[]) AND kind = ${RECEIPT_ARTIFACT}`
})

/** The claims of a killed process run out, as time does it. */
const expireClaims = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`UPDATE pending_receipts SET due_at = now()`
})

/** The one receipt of the run: an event, an artifact, no pending row. */
const checkReceipt = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const { decoded, state } = yield* assertLogIsExact(runId)
  const reports = decoded.flatMap((event) =>
    event.type === "artifact.created" && event.data.kind === RECEIPT_ARTIFACT ? [event.data.receipt] : []
  )
  assert.lengthOf(reports, 1)
  assert.deepInclude(reports[0], { verified: true, issuer: "runtime:scripted" })
  assert.deepStrictEqual(JSON.parse(state).decision.current.receipt, reports[0])
  const artifacts = yield* sql`SELECT id FROM artifacts WHERE run_id = ${runId}::uuid AND kind = ${RECEIPT_ARTIFACT}`
  assert.lengthOf(artifacts, 1)
})

describe("a process killed by signal 9 around a receipt", () => {
  it.live(
    `leaves each run with one receipt after ${KILLS} kills at each of ${KILL_STEPS.length} steps`,
    () =>
      Effect.gen(function* () {
        const databaseUrl = yield* createDatabase
        yield* Effect.gen(function* () {
          const runtime = yield* ScriptedRuntime.start
          runtime.issuesReceipts = true
          const environment = { DATABASE_URL: databaseUrl, RUNTIME_ADDRESS: runtime.address }
          const runs: Array<RunId> = []
          for (const step of KILL_STEPS) {
            for (let kill = 0; kill < KILLS; kill += 1) {
              yield* expireClaims
              const runId = yield* createRun()
              runs.push(runId)
              runtime.openSession(runId, ENVELOPES)
              runtime.accept(runId, ENVELOPES)
              const { code, stderr } = yield* Effect.scoped(
                Effect.flatMap(startChild(environment, step), ({ ended }) => ended)
              )
              assert.isNull(code, stderr.join("\n"))
              const left = yield* pending
              // Nothing is committed before the last step, and everything with it.
              if (step !== "after-commit") assert.isNotEmpty(left)
            }
          }
          yield* expireClaims
          yield* startChild(environment)
          // A process that was killed may not have observed the decision of its own run.
          yield* until(receiptsOf(runs), (rows) => rows.length === runs.length)
          assert.isEmpty(yield* pending)
          for (const runId of runs) yield* checkReceipt(runId)
          assert.sameMembers([...new Set(runtime.receiptRequests)], runs)
        }).pipe(
          Effect.scoped,
          Effect.provide(layerTestLog.pipe(Layer.provideMerge(layerDatabase({ url: databaseUrl, maxConnections: 4 }))))
        )
      }),
    LIMIT_MS
  )
})
