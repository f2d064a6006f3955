import { generateKeyPairSync } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { makeKeyStatement } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PublishedKeys } from "../../../src/event-log/seal/PublishedKeys.ts"
import { type SealKey, SealKeys, sealKeyOf } from "../../../src/platform/ledger/SealKeys.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { countedMetrics } from "../../support/CountedMetrics.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const makeKey = () => sealKeyOf(generateKeyPairSync("ed25519").privateKey)

/** The ids of the keys that a process with these keys publishes, and how many doubts it counts. */
const published = (current: SealKey | undefined, previous?: SealKey) =>
  Effect.suspend(() => {
    let doubts = 0
    const sealDoubted = () => {
      doubts += 1
    }
    const metrics = countedMetrics({ sealDoubted }).pipe(Layer.provide(Metrics.layer))
    const service = Layer.fresh(PublishedKeys.layer).pipe(
      Layer.provide([Layer.succeed(SealKeys, { current, previous }), Layer.fresh(metrics)])
    )
    const ids = Effect.gen(function* () {
      const { keys } = yield* PublishedKeys
      return (yield* keys).map(({ keyId }) => keyId)
    })
    return Effect.map(Effect.provide(ids, service), (found) => ({ ids: found, doubts }))
  })

const start = Effect.fnUntraced(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`DELETE FROM seal_key_statements`
  yield* sql`DELETE FROM seal_keys`
  yield* sql`DELETE FROM ledger_pending`
  return sql
})

layer(layerTestDatabase, { excludeTestServices: true })("the published keys", (it) => {
  it.effect("are those of a rotation that both keys have signed, also when the earlier key is gone", () =>
    Effect.gen(function* () {
      const sql = yield* start()
      const [old, next] = [makeKey(), makeKey()]
      assert.deepStrictEqual(yield* published(old), { ids: [old.keyId], doubts: 0 })
      assert.deepStrictEqual(yield* published(next, old), { ids: [next.keyId, old.keyId], doubts: 0 })
      assert.deepStrictEqual(yield* published(next), { ids: [next.keyId, old.keyId], doubts: 0 })
      assert.deepStrictEqual(yield* published(old), { ids: [old.keyId], doubts: 1 })
      const entries = yield* sql<{ readonly subject: string }>`
        SELECT subject FROM ledger_pending WHERE kind = 'key' ORDER BY id`
      assert.deepStrictEqual(
        entries.map(({ subject }) => subject),
        [old.keyId, `${next.keyId}/${old.keyId}`]
      )
    })
  )

  it.effect("have no key that a writer of the database has added", () =>
    Effect.gen(function* () {
      const sql = yield* start()
      const [ours, mallory] = [makeKey(), makeKey()]
      yield* published(ours)
      yield* sql`INSERT INTO seal_keys (key_id, public_key) VALUES (${mallory.keyId}, ${mallory.publicKey})`
      assert.deepStrictEqual(yield* published(ours), { ids: [ours.keyId], doubts: 1 })
      for (const statement of [
        makeKeyStatement(mallory, "2020-01-01T00:00:00.000Z"),
        makeKeyStatement(mallory, "2126-01-01T00:00:00.000Z", ours),
        { ...makeKeyStatement(ours, "2126-01-01T00:00:00.000Z", mallory), signature: "00" }
      ]) {
        yield* sql`
          INSERT INTO seal_key_statements (key_id, previous, statement)
          VALUES (${statement.keyId}, ${statement.previous ?? "none"}, ${JSON.stringify(statement)}::text::json)`
      }
      yield* sql`
        INSERT INTO seal_key_statements (key_id, previous, statement) VALUES (${mallory.keyId}, 'junk', '[1]'::json)`
      assert.deepStrictEqual((yield* published(ours)).ids, [ours.keyId])
    })
  )

  it.effect("lack a key that was replaced without its signature, until a start brings it", () =>
    Effect.gen(function* () {
      yield* start()
      const [old, next] = [makeKey(), makeKey()]
      yield* published(old)
      assert.deepStrictEqual(yield* published(next), { ids: [next.keyId], doubts: 1 })
      assert.deepStrictEqual(yield* published(next, old), { ids: [next.keyId, old.keyId], doubts: 0 })
      assert.deepStrictEqual((yield* published(next)).ids, [next.keyId, old.keyId])
    })
  )

  it.effect("are none in a process without a key", () =>
    Effect.gen(function* () {
      yield* start()
      yield* published(makeKey())
      assert.deepStrictEqual((yield* published(undefined)).ids, [])
    })
  )
})
