import { generateKeyPairSync } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { textFinder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Reactors } from "../../../src/event-log/append/Reactors.ts"
import * as Log from "../../../src/event-log/Log.ts"
import { PublishedKeys } from "../../../src/event-log/seal/PublishedKeys.ts"
import { RunSeals } from "../../../src/event-log/seal/RunSeals.ts"
import { type SealKey, SealKeys, sealKeyOf } from "../../../src/platform/ledger/SealKeys.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { DatabaseClock } from "../../../src/platform/postgres/DatabaseClock.ts"
import { RunExports } from "../../../src/queries/exports/RunExports.ts"
import { layerDeletionHooks } from "../../../src/Reactions.ts"
import { layerTestNormaliser, testSealKey } from "../../support/ControlPlane.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { eraseText, failRun, PERSON, personLog, personRun, rowsWith, verifiedExports } from "./PersonRuns.ts"

const earlierKey = sealKeyOf(generateKeyPairSync("ed25519").privateKey)

const caller = {
  actor: { actorId: "key:1", actorType: "api-key", role: "admin" },
  requestId: "req-1",
  address: "127.0.0.1"
} as const

const EVERYTHING = { includeCanonical: true, includeRaw: true, includeMarks: true, eventLimit: 1_000 }

/** The log of a process with the earlier key. */
const layerEarlierLog = Log.layerBy(DatabaseClock.layerProcess).pipe(
  Layer.provide([
    layerTestNormaliser,
    layerDeletionHooks,
    Layer.succeed(SealKeys, { current: earlierKey }),
    Layer.succeed(Reactors, [])
  ])
)

/** Publishes the keys of a process. */
const publish = (current: SealKey, previous?: SealKey) =>
  Effect.provide(
    PublishedKeys.use(({ keys }) => keys),
    Layer.fresh(PublishedKeys.layer).pipe(
      Layer.provide([Layer.succeed(SealKeys, { current, previous }), Layer.fresh(Metrics.layer)])
    )
  )

/** A database in which both keys have signed that the key of the service replaces the earlier one. */
const layerRotatedDatabase = Layer.effectDiscard(
  Effect.andThen(publish(earlierKey), publish(testSealKey, earlierKey))
).pipe(Layer.orDie, Layer.provideMerge(layerTestDatabase))

layer(layerTestService({ database: layerRotatedDatabase }), { excludeTestServices: true })(
  "the proof of a run with erased texts",
  (it) => {
    it.effect("is signed by both keys when the key was rotated before the erasure", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const runId = yield* Effect.gen(function* () {
          const runId = yield* Effect.tap(personLog(), (id) => failRun(id))
          const seal = yield* RunSeals.use((seals) => seals.sealed(runId))
          assert(typeof seal === "object")
          assert.strictEqual(seal.keyId, earlierKey.keyId)
          return runId
        }).pipe(Effect.provide(Layer.fresh(layerEarlierLog)))
        const { erased } = yield* eraseText(runId)
        assert.isAbove(erased.members, 3)
        assert.deepStrictEqual(yield* sql`SELECT key_id FROM run_erasure_ends WHERE run_id = ${runId}::uuid`, [
          { key_id: testSealKey.keyId }
        ])
        const { body: seal } = yield* call("GET", `/runs/${runId}/seal`)
        assert.strictEqual(seal.keyId, earlierKey.keyId)
        for (const { text, verified } of yield* verifiedExports(runId)) {
          assert.isFalse(textFinder(PERSON)(text))
          assert.isTrue(verified.ok && verified.signature === "valid" && verified.erased === erased.members)
        }
        assert.deepStrictEqual(yield* rowsWith(PERSON), [])
      })
    )

    for (const format of ["json", "jsonl"] as const) {
      it.effect(`is not in an export as ${format} that began before the erasure`, () =>
        Effect.gen(function* () {
          const runId = yield* personRun()
          const exports = yield* RunExports
          const texts = yield* exports.one(runId, format, EVERYTHING, caller)
          let isErased = false
          const cut = yield* Effect.flip(
            Stream.runForEach(texts, (text) =>
              Effect.gen(function* () {
                if (isErased || !text.includes("proposal.created")) return
                isErased = true
                yield* eraseText(runId)
              })
            )
          )
          assert.isTrue(isErased)
          assert.strictEqual(cut._tag, "RunErased")
          yield* verifiedExports(runId)
        })
      )
    }
  }
)
