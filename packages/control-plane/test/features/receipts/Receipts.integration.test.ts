import { generateKeyPairSync, sign } from "node:crypto"
import { create, toBinary } from "@bufbuild/protobuf"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { decisionRecord, type JsonObject, RECEIPT_ARTIFACT, type ReceiptReport, type RunId } from "@runplane/domain"
import { CommitmentPayloadSchema } from "@runplane/runtime"
import { type FakeReceiptKey, RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Reactors } from "../../../src/event-log/append/Reactors.ts"
import * as Log from "../../../src/event-log/Log.ts"
import { ArtifactRepository } from "../../../src/event-log/runs/ArtifactRepository.ts"
import { contentDigest } from "../../../src/event-log/seal/HashChain.ts"
import { makeReceiptOutbox, PendingReceipts } from "../../../src/features/receipts/PendingReceipts.ts"
import * as Receipts from "../../../src/features/receipts/Receipts.ts"
import { Observers } from "../../../src/observe/Observers.ts"
import { Redactor } from "../../../src/platform/deployment/Redactor.ts"
import { SealKeys } from "../../../src/platform/ledger/SealKeys.ts"
import { DatabaseClock } from "../../../src/platform/postgres/DatabaseClock.ts"
import { layerDeletionHooks } from "../../../src/Reactions.ts"
import { layerTestNormaliser, testSealKey } from "../../support/ControlPlane.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { awaitEvent, awaitStatus, layerObservedBy } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const SECRET = "tok-1234567890"
const layerRedaction = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { PROTO_REDACT_PATTERNS: "tok-\\d+" } }))

/** The log with the outbox of receipts, and the observers. The test starts the worker. */
const layerWithoutWorker = layerObservedBy(
  {},
  Log.layerBy(DatabaseClock.layerProcess).pipe(
    Layer.provide([layerTestNormaliser, layerDeletionHooks, Layer.succeed(SealKeys, { current: testSealKey })]),
    Layer.provide(
      Layer.effect(
        Reactors,
        Effect.map(makeReceiptOutbox, (outbox) => [outbox])
      )
    )
  )
).pipe(
  Layer.provideMerge(Layer.orDie(Layer.merge(PendingReceipts.layer, Redactor.layer))),
  Layer.provide(layerRedaction)
)

/** Starts a worker, as a process does; it stops with the scope. */
const startWorker = Layer.build(Layer.fresh(Receipts.layer))

const newKey = (kid: string): FakeReceiptKey => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const { x = "" } = publicKey.export({ format: "jwk" })
  return {
    signer: { keyId: kid, sign: (message) => sign(null, message, privateKey) },
    jwk: { kty: "OKP", crv: "Ed25519", kid, x }
  }
}
const key = newKey("fake-1")

const commitment = (reason: string) =>
  toBinary(
    CommitmentPayloadSchema,
    create(CommitmentPayloadSchema, {
      commitmentId: "c1",
      action: "decision.selected",
      authorityScope: "release",
      reason,
      outcomePositive: true
    })
  )

interface Ended {
  readonly reason?: string
  readonly mode?: string
  /** Between the commitment and the end of the run. */
  readonly before?: (runId: RunId) => Effect.Effect<unknown, never, RuntimeFake>
}

/** A run whose session is resolved. */
const resolvedRun = Effect.fnUntraced(function* ({
  before,
  mode = "macp.mode.decision.v1",
  reason = "majority"
}: Ended = {}) {
  const fake = yield* RuntimeFake
  const runId = yield* createRun({ modeName: mode })
  yield* fake.openSession({ sessionId: runId, mode, participants: ["lead"], initiator: "lead" })
  yield* (yield* Observers).adopt(runId)
  yield* awaitStatus(runId, "running")
  yield* fake.accept(runId, { messageType: "Commitment", messageId: "m9", sender: "lead", payload: commitment(reason) })
  yield* awaitEvent(runId, "decision.finalized")
  if (before !== undefined) yield* before(runId)
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitStatus(runId, "completed")
  return runId
})

const awaitReceipt = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* awaitEvent(runId, "artifact.created", ({ kind }) => kind === RECEIPT_ARTIFACT)
  const found = log.decoded.filter((event) => event.type === "artifact.created" && event.data.kind === RECEIPT_ARTIFACT)
  assert.lengthOf(found, 1)
  const [event] = found
  const report = event?.type === "artifact.created" ? event.data.receipt : undefined
  assert.isDefined(report)
  const artifacts = yield* ArtifactRepository
  const { rows } = yield* artifacts.page(runId, undefined, 10)
  const texts = rows.map(({ json }) => json).filter((json) => json.includes(`"${RECEIPT_ARTIFACT}"`))
  assert.lengthOf(texts, 1)
  const artifact: { readonly inline: JsonObject } = JSON.parse(texts[0] ?? "")
  const digest = event?.type === "artifact.created" ? event.data.contentSha256 : undefined
  assert.strictEqual(digest, contentDigest(JSON.stringify(artifact.inline)))
  yield* until(pendingOf(runId), (rows) => rows.length === 0)
  return { log, report, inline: artifact.inline }
})

const pendingOf = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly attempts: number }>`
    SELECT attempts FROM pending_receipts WHERE run_id = ${runId}::uuid`
})

/** Makes the next attempt due, as time does. */
const hurry = Effect.fnUntraced(function* (runId: RunId, age = "0 s") {
  const sql = yield* PgClient.PgClient
  yield* sql`UPDATE pending_receipts SET due_at = now(), since = since - ${age}::interval WHERE run_id = ${runId}::uuid`
  ;(yield* PendingReceipts).wake()
})

const callsOf = Effect.fnUntraced(function* (method: string) {
  return (yield* (yield* RuntimeFake).calls).filter((call) => call.method === method)
})

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("receipts", (it) => {
  it.effect("are read once a run is completed, verified, and part of the state, the record and the log", () =>
    Effect.gen(function* () {
      yield* startWorker
      yield* (yield* RuntimeFake).issueReceipts(key)
      const runId = yield* resolvedRun()
      const { inline, log, report } = yield* awaitReceipt(runId)
      const finalized = log.decoded.find((event) => event.type === "decision.finalized")
      const hash = finalized?.type === "decision.finalized" ? finalized.data.commitmentHash : undefined
      assert.match(hash ?? "", /^sha256:[0-9a-f]{64}$/)
      const expected: ReceiptReport = {
        verified: true,
        signed: true,
        issuer: "runtime:fake",
        hash: hash ?? "",
        issuedAt: "2026-07-01T10:00:00Z",
        keyId: "fake-1"
      }
      assert.deepStrictEqual(report, expected)
      assert.deepStrictEqual(inline["keys"], { keys: [key.jwk] })
      const { decision } = JSON.parse(log.state)
      assert.deepStrictEqual(decision.current.receipt, expected)
      assert.strictEqual(decision.current.commitmentHash, hash)
      assert.deepStrictEqual(decisionRecord(log.decoded).receipt, expected)
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("without a signature are verified, and no key is read", () =>
    Effect.gen(function* () {
      yield* startWorker
      yield* (yield* RuntimeFake).issueReceipts()
      const { report } = yield* awaitReceipt(yield* resolvedRun())
      assert.deepInclude(report, { verified: true, signed: false })
      assert.lengthOf(yield* callsOf("GetReceiptKeys"), 0)
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("are never requested from a runtime without them", () =>
    Effect.gen(function* () {
      yield* startWorker
      const runId = yield* resolvedRun()
      assert.lengthOf(yield* pendingOf(runId), 0)
      assert.lengthOf(yield* callsOf("GetDecisionReceipt"), 0)
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("survive the end of the process between the end of the run and the read", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.issueReceipts(key)
      const runId = yield* resolvedRun()
      assert.deepStrictEqual(yield* pendingOf(runId), [{ attempts: 0 }])
      // A process claims it, is not answered, and stops.
      yield* fake.hang({ method: "GetDecisionReceipt" })
      yield* Effect.scoped(Effect.andThen(startWorker, fake.awaitCalls("GetDecisionReceipt", 1)))
      assert.deepStrictEqual(yield* pendingOf(runId), [{ attempts: 1 }])
      // Two others find it at the same time.
      yield* Effect.all([startWorker, startWorker], { concurrency: 2 })
      const { report } = yield* awaitReceipt(runId)
      assert.isTrue(report?.verified)
      assert.lengthOf(yield* callsOf("GetDecisionReceipt"), 2)
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("survive a process that is killed: its claim runs out", () =>
    Effect.gen(function* () {
      yield* (yield* RuntimeFake).issueReceipts(key)
      const runId = yield* resolvedRun()
      const pending = yield* PendingReceipts
      const { receipts } = yield* pending.claim({ limit: 1, leaseMs: 60_000 })
      assert.deepStrictEqual(
        receipts.map(({ runId }) => runId),
        [runId]
      )
      yield* startWorker
      assert.lengthOf((yield* pending.claim({ limit: 1, leaseMs: 60_000 })).receipts, 0)
      yield* hurry(runId)
      assert.isTrue((yield* awaitReceipt(runId)).report?.verified)
      // The killed one had recorded it, and its COMMIT was not answered: the second record is refused.
      const sql = yield* PgClient.PgClient
      yield* sql`
        INSERT INTO pending_receipts (run_id, session_id, mode_name, since, due_at)
        VALUES (${runId}::uuid, ${runId}, 'macp.mode.decision.v1', now(), now())`
      yield* hurry(runId)
      yield* until(pendingOf(runId), (rows) => rows.length === 0)
      yield* awaitReceipt(runId)
      assert.lengthOf(yield* callsOf("GetDecisionReceipt"), 2)
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("are requested again while the runtime is away, and the run has ended meanwhile", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* startWorker
      yield* fake.issueReceipts(key)
      yield* fake.fail({ method: "GetDecisionReceipt", times: 1 }, "UNAVAILABLE")
      yield* fake.fail({ method: "GetReceiptKeys", times: 1 }, "UNAVAILABLE")
      const runId = yield* resolvedRun()
      yield* fake.awaitCalls("GetDecisionReceipt", 1)
      yield* hurry(runId)
      yield* fake.awaitCalls("GetDecisionReceipt", 2)
      yield* fake.awaitCalls("GetReceiptKeys", 1)
      yield* until(pendingOf(runId), ([row]) => row?.attempts === 2)
      yield* hurry(runId)
      const { report } = yield* awaitReceipt(runId)
      assert.isTrue(report?.verified)
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("are given up after the window, with the reason", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.issueReceipts(key)
      yield* fake.fail({ method: "GetDecisionReceipt", times: 9 }, "UNAVAILABLE", "connect ECONNREFUSED")
      const runId = yield* resolvedRun()
      yield* hurry(runId, "25 hours")
      yield* startWorker
      const { inline, report } = yield* awaitReceipt(runId)
      const reason = "the runtime has no receipt: UNAVAILABLE: connect ECONNREFUSED"
      assert.deepStrictEqual(report, { verified: false, signed: false, reason })
      assert.deepStrictEqual(inline, { missing: "UNAVAILABLE: connect ECONNREFUSED" })
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("that the runtime refuses are missing at once; modes without receipts have none", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* startWorker
      yield* fake.issueReceipts(key)
      yield* fake.fail({ method: "GetDecisionReceipt" }, "FAILED_PRECONDITION", "ReceiptUnavailable")
      const { report } = yield* awaitReceipt(yield* resolvedRun())
      assert.strictEqual(report?.reason, "the runtime has no receipt: FAILED_PRECONDITION: ReceiptUnavailable")
      const identity = yield* fake.client.initialize
      yield* fake.configure({ identity: { ...identity, supportedModes: ["ext.multi_round.v1"] } })
      yield* fake.fail({ method: "GetDecisionReceipt" }, "FAILED_PRECONDITION", "ReceiptUnavailable")
      const other = yield* resolvedRun({ mode: "ext.multi_round.v1" })
      yield* until(pendingOf(other), (rows) => rows.length === 0)
      const { decoded } = yield* assertLogIsExact(other)
      assert.notInclude(
        decoded.map((event) => event.type === "artifact.created" && event.data.kind),
        RECEIPT_ARTIFACT
      )
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("that disagree with the log, or are none, are recorded as they are", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* startWorker
      yield* fake.issueReceipts(key)
      const first = yield* resolvedRun()
      const { inline } = yield* awaitReceipt(first)
      const receipt = inline["receipt"]
      // The genuine receipt of another session.
      const mixed = yield* resolvedRun({
        reason: "another",
        before: (runId) => fake.setReceipt(runId, JSON.stringify(receipt))
      })
      const { log, report } = yield* awaitReceipt(mixed)
      assert.deepInclude(report, { verified: false, signed: true, keyId: "fake-1" })
      assert.deepStrictEqual(report?.disagreements, ["session_id", "commitment_hash", "reason"])
      assert.strictEqual(report?.reason, "it disagrees with the log in session_id, commitment_hash, reason")
      assert.deepStrictEqual(JSON.parse(log.state).decision.current.receipt, report)
      for (const [answer, reason] of [
        ["<html>", "the receipt cannot be checked: it is not a JSON object"],
        ["x".repeat(5 * 1024 * 1024), "the receipt cannot be checked: it is longer than 4194304 characters"]
      ] as const) {
        const runId = yield* resolvedRun({ before: (runId) => fake.setReceipt(runId, answer) })
        const garbage = yield* awaitReceipt(runId)
        assert.deepStrictEqual(garbage.report, { verified: false, signed: false, reason })
        assert.deepStrictEqual(garbage.inline, { answer: answer.slice(0, 16_384), characters: answer.length })
      }
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("share a read of the keys until one has a new key", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* startWorker
      yield* fake.issueReceipts(key)
      yield* awaitReceipt(yield* resolvedRun())
      yield* awaitReceipt(yield* resolvedRun())
      assert.lengthOf(yield* callsOf("GetReceiptKeys"), 1)
      yield* fake.issueReceipts(newKey("fake-2"))
      const { report } = yield* awaitReceipt(yield* resolvedRun())
      assert.deepInclude(report, { verified: true, keyId: "fake-2" })
      assert.lengthOf(yield* callsOf("GetReceiptKeys"), 2)
    }).pipe(Effect.provide(layerWithoutWorker))
  )

  it.effect("are redacted as the log is, and verified before that", () =>
    Effect.gen(function* () {
      yield* startWorker
      yield* (yield* RuntimeFake).issueReceipts(key)
      const runId = yield* resolvedRun({ reason: `rotated ${SECRET}` })
      const { inline, report } = yield* awaitReceipt(runId)
      assert.isTrue(report?.verified)
      assert.strictEqual(inline["redacted"], true)
      const sql = yield* PgClient.PgClient
      const rows = yield* sql<{ readonly text: string }>`
        SELECT event::text AS text FROM canonical_events WHERE run_id = ${runId}::uuid
        UNION ALL SELECT payload::text FROM raw_events WHERE run_id = ${runId}::uuid
        UNION ALL SELECT inline::text FROM artifacts WHERE run_id = ${runId}::uuid`
      const stored = rows.map(({ text }) => text).join()
      assert.notInclude(stored, SECRET)
      assert.notInclude(stored, Buffer.from(SECRET).toString("base64").slice(0, 12))
    }).pipe(Effect.provide(layerWithoutWorker))
  )
})
