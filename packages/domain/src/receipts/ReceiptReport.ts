import * as Schema from "effect/Schema"
import { Field } from "../values/Field.ts"
import { booleanAt, objectAt, textAt, textsAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

const optional = Schema.optionalKey

/** The kind of the artifact that holds a receipt. */
export const RECEIPT_ARTIFACT = "macp.receipt"

/** The result of the check of a receipt (docs/reference/decisions.md#receipts). */
export const ReceiptReport = Schema.Struct({
  verified: Field.flag("Whether the receipt is intact, says what the log says, and its signature, if any, is valid"),
  signed: Field.flag("Whether the receipt has a signature"),
  issuer: optional(Field.text("The issuer that the receipt names", "runtime:prod-eu-1")),
  hash: optional(Field.text("The commitment hash in the receipt")),
  issuedAt: optional(Field.text("When the runtime issued it", "2026-11-26T10:00:00Z")),
  keyId: optional(Field.text("The key whose signature is valid", "prod-2026-10")),
  disagreements: optional(Field.texts("Members in which the receipt and the log differ", ["reason"])),
  reason: optional(Field.text("Why it is not verified"))
}).annotate({ identifier: "ReceiptReport", description: "The runtime's receipt of the decision, checked" })
export type ReceiptReport = typeof ReceiptReport.Type

/** Characters of a text of a report, and disagreements of one. */
export const MAX_REPORT_TEXT = 512
const MAX_DISAGREEMENTS = 20

/** The report in the data of an event; undefined when there is none. Total over any JSON. */
export const receiptReportIn = (data: JsonObject): ReceiptReport | undefined => {
  const found = objectAt(data, "receipt")
  const verified = found && booleanAt(found, "verified")
  if (found === undefined || verified === undefined) return undefined
  const text = (name: "issuer" | "hash" | "issuedAt" | "keyId" | "reason") => {
    const value = textAt(found, name)
    return value === undefined ? {} : { [name]: value.slice(0, MAX_REPORT_TEXT) }
  }
  const disagreements = textsAt(found, "disagreements")
    .slice(0, MAX_DISAGREEMENTS)
    .map((name) => name.slice(0, MAX_REPORT_TEXT))
  return {
    verified,
    signed: booleanAt(found, "signed") ?? false,
    ...text("issuer"),
    ...text("hash"),
    ...text("issuedAt"),
    ...text("keyId"),
    ...(disagreements.length > 0 && { disagreements }),
    ...text("reason")
  }
}
