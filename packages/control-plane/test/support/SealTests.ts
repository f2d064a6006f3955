import { createPublicKey, verify } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { SealKeySet } from "@runplane/api"
import { type RunId, Seal, type SignatureCheck, signedBytes } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { headOf } from "./Chains.ts"
import { call } from "./HttpService.ts"
import { readLog } from "./Runs.ts"

/** The check of signatures by the keys that the service publishes. */
export const publishedKeys = Effect.gen(function* () {
  const { body, status } = yield* call("GET", "/.well-known/runplane-keys.json")
  assert.strictEqual(status, 200)
  const { keys } = yield* Schema.decodeUnknownEffect(SealKeySet)(body)
  const check: SignatureCheck = (keyId, message, signature) => {
    const found = keys.find(({ kid }) => kid === keyId)
    if (found === undefined) return undefined
    const key = createPublicKey({ key: { kty: found.kty, crv: found.crv, x: found.x }, format: "jwk" })
    return verify(null, message, key, signature)
  }
  return check
})

/** Asserts that a seal is over the whole stored log of the run, and signed by a published key. */
export const assertSeals = Effect.fnUntraced(function* (runId: RunId, answer: unknown) {
  const seal = yield* Schema.decodeUnknownEffect(Seal)(answer)
  const { events } = yield* readLog(runId)
  assert.deepInclude(seal, { runId, events: events.length, head: headOf(runId, events), chain: 2 })
  const check = yield* publishedKeys
  assert.isTrue(check(seal.keyId ?? "", signedBytes(seal), Buffer.from(seal.signature ?? "", "hex")))
  return seal
})

/** Removes the seals of a run, its chain and the MAC of its head, as another writer of the database could. */
export const forgetChain = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  yield* sql`
    UPDATE run_heads SET chain_head = NULL, sealed_index = 0, sealed_head = NULL, head_mac = NULL
    WHERE run_id = ${runId}::uuid`
  yield* sql`DELETE FROM run_seals WHERE run_id = ${runId}::uuid`
})
