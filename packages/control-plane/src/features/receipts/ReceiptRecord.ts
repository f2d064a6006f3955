import { createPublicKey, verify } from "node:crypto"
import {
  type Ed25519Check,
  type JsonObject,
  type ReceiptCrypto,
  type ReceiptKeys,
  type ReceiptReport,
  type Redactor,
  readReceipt,
  receiptKeyIds,
  uuidOfHash
} from "@runplane/domain"
import * as Result from "effect/Result"
import { sha256, sha256Hex } from "../../platform/Sha256.ts"

/** Characters of an answer that is not a receipt, which are kept. */
const MAX_UNREADABLE = 16 * 1024

const ed25519: Ed25519Check = (x, message, signature) => {
  try {
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })
    return verify(null, message, key, signature)
  } catch {
    // The coordinate does not name a point of the curve.
    return false
  }
}

/** The functions of the checks. */
export const receiptCrypto: ReceiptCrypto = { sha256, ed25519 }

/**
 * The content of the artifact of a receipt (docs/reference/decisions.md#receipts): the receipt with the keys that it
 * names, or the beginning of an answer that is none. It is redacted as the log is; a receipt in which something was
 * redacted has the mark `redacted`, and cannot be checked again.
 */
export const receiptContent = (redactor: Redactor, text: string, keys: ReceiptKeys): JsonObject => {
  const receipt = readReceipt(text)
  if (Result.isFailure(receipt)) {
    const answer = { answer: text.slice(0, MAX_UNREADABLE), characters: text.length }
    return redactor.payload(answer, "json")
  }
  const named = receiptKeyIds(receipt.success).flatMap((kid) => {
    const x = keys.get(kid)
    return x === undefined ? [] : [{ kty: "OKP", crv: "Ed25519", kid, x }]
  })
  const whole = { receipt: receipt.success, keys: { keys: named } }
  const shown = redactor.payload(whole, "json")
  const wire = receipt.success["commitment_wire_b64"]
  const isHidden = typeof wire === "string" && redactor.says(Buffer.from(wire, "base64").toString("utf8"))
  if (shown === whole && !isHidden) return whole
  // The bytes of the Commitment have the text that is redacted beside them.
  const { commitment_wire_b64: _, ...others } = receipt.success
  return { ...redactor.payload({ receipt: others }, "json"), redacted: true }
}

/** The report with redacted texts. */
export const redactedReport = (redactor: Redactor, report: ReceiptReport): ReceiptReport => {
  const { issuedAt, issuer, keyId, reason } = report
  const text = (name: string, value: string | undefined) =>
    value === undefined ? {} : { [name]: redactor.text(value) }
  return {
    ...report,
    ...text("issuedAt", issuedAt),
    ...text("issuer", issuer),
    ...text("keyId", keyId),
    ...text("reason", reason)
  }
}

/** The id of a run's receipt: one for each run, so a second one violates the key of the table. */
export const receiptArtifactId = (runId: string): string => uuidOfHash(sha256Hex(`runplane-receipt-v1\n${runId}`), 8)
