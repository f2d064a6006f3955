import * as Result from "effect/Result"
import { isJsonObject, objectAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { type LoggedDecision, type ReceiptCrypto, receiptReport } from "./ReceiptComparison.ts"
import { NO_RECEIPT_KEYS, type ReceiptKeys, receiptKeysOf } from "./ReceiptKeys.ts"
import type { ReceiptReport } from "./ReceiptReport.ts"

/** A receipt as the artifact of a run has it, and what the log of the run says. */
export interface StoredReceipt {
  /** The report in the event of the artifact. */
  readonly recorded: ReceiptReport
  /** The content of the artifact. */
  readonly inline: JsonObject
  readonly logged: LoggedDecision | undefined
}

/** Whose keys a signature is checked with: the caller's, or those that are stored beside the receipt. */
export type KeyOrigin = "given" | "stored"

/** The result of a later check of a stored receipt. */
export type RecheckedReceipt =
  | { readonly _tag: "Checked"; readonly report: ReceiptReport; readonly keys: KeyOrigin }
  /** The runtime had none. */
  | { readonly _tag: "Missing"; readonly reason: string }
  /** A part of it was redacted before it was stored; the report is that of the time before. */
  | { readonly _tag: "Redacted"; readonly report: ReceiptReport }

/** Checks a stored receipt again, with the given keys, else with those that are stored beside it. */
export const recheckReceipt = (
  crypto: ReceiptCrypto,
  { inline, logged, recorded }: StoredReceipt,
  given?: ReceiptKeys
): RecheckedReceipt => {
  if (inline["redacted"] === true) return { _tag: "Redacted", report: recorded }
  if (textAt(inline, "missing") !== undefined) {
    return { _tag: "Missing", reason: recorded.reason ?? "the runtime had none" }
  }
  const receipt = objectAt(inline, "receipt")
  // An answer that is not a receipt has the reason in its report.
  if (receipt === undefined) return { _tag: "Checked", report: { ...recorded, verified: false }, keys: "stored" }
  const report = receiptReport(crypto, JSON.stringify(receipt), given ?? storedKeys(inline), logged)
  return { _tag: "Checked", report, keys: given === undefined ? "stored" : "given" }
}

/** The keys beside a receipt; none for a value that is not a key set. */
export const storedKeys = (inline: JsonObject): ReceiptKeys =>
  Result.getOrElse(receiptKeysOf(objectAt(inline, "keys")), () => NO_RECEIPT_KEYS)

/** A receipt in a file: the object itself, the content of its artifact, or the artifact. */
export const receiptInFile = (
  value: JsonObject
): { readonly receipt: JsonObject; readonly keys: ReceiptKeys | undefined } | undefined => {
  if (textAt(value, "receipt_format") !== undefined) return { receipt: value, keys: undefined }
  const inline = objectAt(value, "inline") ?? value
  const receipt = objectAt(inline, "receipt")
  if (!isJsonObject(receipt) || textAt(receipt, "receipt_format") === undefined) return undefined
  return { receipt, keys: objectAt(inline, "keys") === undefined ? undefined : storedKeys(inline) }
}
