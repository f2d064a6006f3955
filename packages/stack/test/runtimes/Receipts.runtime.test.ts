import { generateKeyPairSync } from "node:crypto"
import { describe, it } from "@effect/vitest"
import { startRuntime } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { receiptSuite } from "./ReceiptSuite.ts"
import { byName, RuntimeUnderTest } from "./RuntimeUnderTest.ts"

const runtimeWith = (env: Readonly<Record<string, string>>) =>
  Layer.effect(
    RuntimeUnderTest,
    Effect.map(startRuntime(env), (address) => ({ ...byName, address, keepsHistory: false }))
  )

const KEY_ID = "suite-2026-11"
/** The settings of a runtime that signs its receipts. */
const signing = () => ({
  MACP_RUNTIME_ID: "suite-1",
  MACP_RECEIPT_SIGNING_KID: KEY_ID,
  MACP_RECEIPT_SIGNING_KEY: JSON.stringify(generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }))
})

/** Releases before 0.11 issue no receipts. */
const hasReceipts = !/macp-runtime-0\.[0-9]\./.test(process.env["MACP_RUNTIME_BINARY"] ?? "")

if (hasReceipts) {
  receiptSuite("receipts of macp-runtime, signed", runtimeWith(signing()), { issuer: "runtime:suite-1", keyId: KEY_ID })
  receiptSuite("receipts of macp-runtime without a key", runtimeWith({ MACP_MEMORY_ONLY: "1" }), {
    issuer: "runtime:macp-runtime",
    keyId: undefined
  })
} else {
  describe("receipts", () => {
    it("are not issued by this release", () => undefined)
  })
}
