import { generateKeyPairSync, verify } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { type SignatureCheck, textFinder, verifyExport } from "@runplane/domain"
import { createDatabase, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Reactors } from "../../../src/event-log/append/Reactors.ts"
import * as Log from "../../../src/event-log/Log.ts"
import { SealKeys, sealKeyOf } from "../../../src/platform/ledger/SealKeys.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { DatabaseClock } from "../../../src/platform/postgres/DatabaseClock.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { layerDeletionHooks } from "../../../src/Reactions.ts"
import { startService } from "../../faults/support/ServiceProcess.ts"
import { layerTestNormaliser } from "../../support/ControlPlane.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { failRun, PERSON, personLog, REASON, rowsWith } from "./PersonRuns.ts"

/** Runs about the person; ERASURE_RUNS=500 is the long run, and ERASURE_RUNS=10000 ERASURE_KILLS=0 measures. */
const RUNS = Number(process.env["ERASURE_RUNS"] ?? 60)
/** Processes that are killed while they erase. */
const KILLS = Number(process.env["ERASURE_KILLS"] ?? 3)
/** Exports that are read and verified. */
const VERIFIED = Number(process.env["ERASURE_VERIFIED"] ?? RUNS)
const LIMIT_MS = 120_000 + RUNS * 200

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const key = sealKeyOf(privateKey)
const check: SignatureCheck = (keyId, message, signature) =>
  keyId === key.keyId ? verify(null, message, publicKey, signature) : undefined

/** The key as the service reads it. */
const keyFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-key-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => {
    const file = join(folder, "key.pem")
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 })
    return file
  }
)

const layerLog = Log.layerBy(DatabaseClock.layerProcess).pipe(
  Layer.provide([
    layerTestNormaliser,
    layerDeletionHooks,
    Layer.succeed(SealKeys, { current: key }),
    Layer.succeed(Reactors, [])
  ])
)

const seeded = Effect.gen(function* () {
  const numbers = Array.from({ length: RUNS }, (_, number) => number)
  return yield* Effect.forEach(numbers, () => Effect.tap(personLog(), (runId) => failRun(runId)), { concurrency: 8 })
})

const eraseWithKills = Effect.gen(function* () {
  const databaseUrl = yield* createDatabase
  const runtime = yield* ScriptedRuntime.start
  const environment = {
    ...{ DATABASE_URL: databaseUrl, RUNTIME_ADDRESS: runtime.address, THROTTLE_LIMIT: "1000000", DB_POOL_MAX: "5" },
    ...{ SEAL_PRIVATE_KEY_FILE: yield* keyFile, OTLP_GRPC_PORT: "0" }
  }
  const layer = layerLog.pipe(Layer.provideMerge(layerDatabase({ url: databaseUrl, maxConnections: 10 })))
  yield* Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const runs = yield* seeded
    let service = yield* startService(environment)
    let url = yield* service.url
    const done = (id: string) =>
      Effect.map(
        until(request("GET", `${url}/erasures/${id}`), ({ body }) => body.state === "done"),
        ({ body }) => body
      )
    const post = (body: object) => request("POST", `${url}/erasures`, { body })
    const began = yield* post({ find: PERSON, reason: REASON, dryRun: true })
    assert.strictEqual(began.status, 202, began.text)
    const plan = yield* done(began.body.id)
    assert.deepInclude(plan, { matching: RUNS, leftOut: 0 })
    const { body } = yield* post({ find: PERSON, reason: REASON, plan: plan.plan })
    const progress = Effect.map(
      sql<{ readonly done: number }>`
        SELECT count(done_at)::int AS done FROM erasure_runs WHERE job_id = ${body.id}::uuid`,
      ([row]) => row?.done ?? 0
    )
    for (let kill = 1; kill <= KILLS; kill++) {
      yield* until(progress, (count) => count >= Math.floor((RUNS * kill) / (KILLS + 1)))
      yield* service.kill("SIGKILL")
      service = yield* startService(environment)
      url = yield* service.url
    }
    const job = yield* done(body.id)
    assert.deepInclude(job, { runs: RUNS, done: RUNS, erased: RUNS, leftOut: 0, members: plan.members })
    const took = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1_000
    yield* Effect.logInfo(
      `${RUNS} runs, ${job.members} members: searched in ${took(plan.createdAt, plan.endedAt)} s, ` +
        `erased in ${took(job.createdAt, job.endedAt)} s`
    )
    const isIn = textFinder(PERSON)
    for (const runId of runs.slice(0, VERIFIED)) {
      const { text } = yield* request("GET", `${url}/runs/${runId}/export?includeRaw=true`)
      const verified = verifyExport(sha256, check, new TextEncoder().encode(text))
      assert.isTrue(verified.ok, verified.ok ? "" : verified.why)
      assert.isTrue(verified.ok && verified.erased > 0 && verified.signature === "valid")
      assert.isFalse(isIn(text))
    }
    assert.deepStrictEqual((yield* rowsWith(PERSON)).slice(0, 5), [])
    // Each erasure once: the members of the dry run, and no entry of a repeated attempt.
    const [entries] = yield* sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM run_erasures`
    assert.strictEqual(entries?.count, plan.members)
  }).pipe(Effect.provide(layer))
})

describe("an erasure of many runs whose process is killed", () => {
  it.live(
    `continues with the remaining runs: ${RUNS} runs, ${KILLS} kills`,
    () => Effect.scoped(eraseWithKills),
    LIMIT_MS
  )
})
