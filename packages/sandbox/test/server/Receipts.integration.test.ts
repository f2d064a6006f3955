import { createHash, createPublicKey, verify } from "node:crypto"
import { create } from "@bufbuild/protobuf"
import { assert, layer } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import { checkReceipt, readReceipt, readReceiptKeys } from "@runplane/domain"
import {
  GetDecisionReceiptRequestSchema,
  GetReceiptKeysRequestSchema,
  InitializeRequestSchema
} from "@runplane/runtime"
import * as Result from "effect/Result"
import { Sandbox } from "../../src/Sandbox.ts"
import { begin, failure, lead, observer, risk, send, withClient } from "../support/Calls.ts"
import { commitmentPayload, envelope, proposal } from "../support/Envelopes.ts"
import type { ForeignClient } from "../support/ForeignClient.ts"

const receipt = async (client: ForeignClient, sessionId: string, token: string) => {
  const request = create(GetDecisionReceiptRequestSchema, { sessionId })
  return (await client.unary("getDecisionReceipt", request, token)).receiptJson
}

const capabilityOf = async (client: ForeignClient) => {
  const hello = create(InitializeRequestSchema, { supportedProtocolVersions: ["1.0"] })
  return (await client.unary("initialize", hello)).capabilities?.decisionReceipt
}

const resolve = async (client: ForeignClient, sessionId: string) => {
  await begin(client, sessionId)
  await send(client, envelope("Proposal", "m2", proposal(), { sessionId }), lead)
  await send(client, envelope("Commitment", "m3", commitmentPayload(), { sessionId }), lead)
}

const sha256 = (...parts: ReadonlyArray<Uint8Array>) => createHash("sha256").update(Buffer.concat(parts)).digest()
const ed25519 = (x: string, message: Uint8Array, signature: Uint8Array) =>
  verify(null, message, createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }), signature)

const ID = "3f2504e0-4f89-41d3-9a0c-0305e82c33"

layer(Sandbox.layer({ port: 0, compactOnTerminal: true }), { excludeTestServices: true })("signed receipts", (it) => {
  it.effect("are issued once for a resolved session, for its readers", () =>
    withClient(async (client) => {
      assert.deepInclude(await capabilityOf(client), { getDecisionReceipt: true, signed: true })
      const sessionId = `${ID}01`
      await resolve(client, sessionId)
      const text = await receipt(client, sessionId, observer)
      for (const reader of [observer, lead, risk]) assert.strictEqual(await receipt(client, sessionId, reader), text)
      const { jwksJson } = await client.unary("getReceiptKeys", create(GetReceiptKeysRequestSchema))
      const keys = Result.getOrThrow(readReceiptKeys(jwksJson))
      const checked = checkReceipt(sha256, ed25519, Result.getOrThrow(readReceipt(text)), keys)
      assert.strictEqual(checked.integrity, "match")
      assert.deepStrictEqual(
        checked.attestations.map(({ outcome }) => outcome),
        ["valid"]
      )
      assert.notInclude(jwksJson, '"d"')
    })
  )

  it.effect("are refused for other sessions and callers", () =>
    withClient(async (client) => {
      const sessionId = `${ID}02`
      await begin(client, sessionId)
      assert.strictEqual(await failure(receipt(client, sessionId, lead)), status.FAILED_PRECONDITION)
      assert.strictEqual(await failure(receipt(client, sessionId, "agent://stranger")), status.PERMISSION_DENIED)
      assert.strictEqual(await failure(receipt(client, `${ID}09`, lead)), status.NOT_FOUND)
    })
  )
})

layer(Sandbox.layer({ port: 0, receipts: "unsigned" }), { excludeTestServices: true })("unsigned receipts", (it) => {
  it.effect("have no attestation, and no key", () =>
    withClient(async (client) => {
      assert.deepInclude(await capabilityOf(client), { getDecisionReceipt: true, signed: false })
      await resolve(client, `${ID}03`)
      assert.deepStrictEqual(JSON.parse(await receipt(client, `${ID}03`, lead)).attestations, [])
      const { jwksJson } = await client.unary("getReceiptKeys", create(GetReceiptKeysRequestSchema))
      assert.strictEqual(jwksJson, '{"keys":[]}')
    })
  )
})

for (const options of [{ receipts: "off" }, { release: "0.7.6" }] as const) {
  layer(Sandbox.layer({ port: 0, ...options }), { excludeTestServices: true })(
    `a sandbox without receipts: ${JSON.stringify(options)}`,
    (it) => {
      it.effect("serves none of both calls", () =>
        withClient(async (client) => {
          assert.deepInclude(await capabilityOf(client), { getDecisionReceipt: false, signed: false })
          assert.strictEqual(await failure(receipt(client, `${ID}04`, lead)), status.UNIMPLEMENTED)
          const keys = client.unary("getReceiptKeys", create(GetReceiptKeysRequestSchema))
          assert.strictEqual(await failure(keys), status.UNIMPLEMENTED)
        })
      )
    }
  )
}
