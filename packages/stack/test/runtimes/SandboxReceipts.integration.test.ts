import { Sandbox } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { receiptSuite } from "./ReceiptSuite.ts"
import { byName, RuntimeUnderTest } from "./RuntimeUnderTest.ts"

const sandbox = (receipts: "signed" | "unsigned") =>
  Layer.effect(
    RuntimeUnderTest,
    Effect.map(Sandbox, ({ address }) => ({ ...byName, address, keepsHistory: true }))
  ).pipe(Layer.provide(Sandbox.layer({ port: 0, devObserver: false, receipts, compactOnTerminal: true })))

receiptSuite("receipts of the sandbox, signed", sandbox("signed"), { issuer: "runtime:runplane-sandbox", keyId: "any" })
