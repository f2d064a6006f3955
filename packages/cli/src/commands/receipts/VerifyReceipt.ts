import { createPublicKey, verify } from "node:crypto"
import {
  checkReceipt,
  type JsonObject,
  type KeyOrigin,
  NO_RECEIPT_KEYS,
  type ReceiptCrypto,
  type ReceiptKeys,
  readReceipt,
  readReceiptKeys,
  receiptFaults,
  receiptInFile,
  receiptText,
  recheckReceipt,
  type StoredReceipt
} from "@runplane/domain"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { failed, failedAndPrinted, usageProblem } from "../../CliFailure.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { printedAsJson, printFacts } from "../../Output.ts"
import { bytesOf } from "../common/Download.ts"
import { sha256, UNSIGNED } from "../seals/SealKeys.ts"

/** A receipt and its keys are smaller; only exports are larger. */
const MOST_BYTES = 16 * 1024 * 1024
/** Key sets of runtimes are a few hundred bytes. */
const MOST_KEY_BYTES = 256 * 1024

const crypto: ReceiptCrypto = {
  sha256,
  ed25519: (x, message, signature) => {
    try {
      return verify(
        null,
        message,
        createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }),
        signature
      )
    } catch {
      return false
    }
  }
}

/** `--receipt-keys`, for what checks receipts. */
export const receiptKeysFlag = Flag.String("receipt-keys").pipe(
  Flag.withDescription("Public keys of the runtime's receipts, a JSON Web Key Set; else those stored with the receipt"),
  Flag.optional
)

/** The keys of a file; undefined without one. */
export const receiptKeysIn = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return undefined
  const text = Buffer.from(yield* bytesOf(file.value, MOST_KEY_BYTES)).toString("utf8")
  const keys = readReceiptKeys(text)
  return Result.isSuccess(keys) ? keys.success : yield* usageProblem(`${file.value} holds no keys: ${keys.failure}`)
})

/** A receipt in a file of its own. */
interface SingleReceipt {
  readonly receipt: JsonObject
  readonly keys: ReceiptKeys | undefined
  /** As it is checked: of a file that holds nothing else, its text. */
  readonly text: string
}

/** Undefined for another file. */
export const receiptAlone = (bytes: Uint8Array): SingleReceipt | undefined => {
  if (bytes.length > MOST_BYTES) return undefined
  const text = Buffer.from(bytes).toString("utf8")
  // A number or a member that cannot be read exactly is a fault of `readReceipt`, which names it.
  const value = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  const found = isObject(value) ? receiptInFile(value) : undefined
  return found && { ...found, text: found.receipt === value ? text : JSON.stringify(found.receipt) }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Checks a receipt in a file of its own. The file has no log, so the check compares the receipt with nothing. */
export const verifyReceiptAlone = Effect.fnUntraced(function* (
  file: string,
  { keys: stored, receipt, text: whole }: SingleReceipt,
  given: ReceiptKeys | undefined
) {
  const read = readReceipt(whole)
  const keys = given ?? stored ?? NO_RECEIPT_KEYS
  const checked = Result.map(read, (one) => checkReceipt(crypto.sha256, crypto.ed25519, one, keys))
  const faults = Result.match(checked, { onFailure: (fault) => [fault], onSuccess: receiptFaults })
  const isUnsigned = Result.isSuccess(checked) && !checked.success.isSigned
  const why = faults.length > 0 ? faults.join("; ") : isUnsigned && given !== undefined ? "it is not signed" : undefined
  if (why !== undefined) {
    if (yield* printedAsJson({ file, ok: false, why })) return yield* failedAndPrinted
    return yield* failed(`the receipt in ${plainText(file)} is not verified: ${plainText(why)}`)
  }
  const valid = Result.getOrUndefined(checked)?.attestations.find(({ outcome }) => outcome === "valid")
  const origin: KeyOrigin = given === undefined ? "stored" : "given"
  const text = (value: unknown) => (typeof value === "string" ? value : undefined)
  const { commitment, commitment_hash, issued_at, issuer, mode, session_id } = receipt
  const { action, outcome_positive } = isObject(commitment) ? commitment : {}
  yield* printFacts(
    [
      ["File", `${file} is a receipt, and intact`],
      ["Session", `${text(session_id) ?? "unnamed"}, mode ${text(mode) ?? "unnamed"}`],
      ["Decision", `${text(action) ?? "unnamed"}, ${outcome_positive === true ? "positive" : "negative"}`],
      ["Hash", text(commitment_hash)],
      ["Issued", `by ${text(issuer) ?? "an unnamed issuer"} at ${text(issued_at) ?? "an unknown time"}`],
      ["Signature", isUnsigned ? UNSIGNED_RECEIPT : `valid, by the key ${valid?.keyId}; ${PROVES[origin]}`],
      ["Not proven", "that this decision is the one of a log: verify an export of the run for that"]
    ],
    { file, ok: true, receipt, signed: !isUnsigned, keyId: valid?.keyId, keys: isUnsigned ? undefined : origin }
  )
})

const UNSIGNED_RECEIPT = `${UNSIGNED}: anyone can make such a receipt`

/** What a signature proves with keys of each origin. */
const PROVES: Readonly<Record<KeyOrigin, string>> = {
  given: "with the keys of --receipt-keys: the owner of that key issued it",
  stored:
    "with the keys that are stored beside it: it did not change since, but only keys from elsewhere prove the issuer"
}

/** The check of the receipt of an export: a line for the output, and the value for programs; `why` where it fails. */
export const exportedReceipt = (stored: StoredReceipt | null, given: ReceiptKeys | undefined) => {
  if (stored === null) return { text: undefined, value: null, why: undefined }
  const found = recheckReceipt(crypto, stored, given)
  switch (found._tag) {
    case "Missing":
      return { text: `none: ${found.reason}`, value: { missing: found.reason }, why: undefined }
    case "Redacted": {
      const text = `${receiptText(found.report)}, when it was recorded; redacted since, so it cannot be checked again`
      return { text, value: { ...found.report, redacted: true }, why: undefined }
    }
    case "Checked": {
      const { keys, report } = found
      const value = { ...report, keys }
      if (!report.verified) return { text: undefined, value, why: `its receipt is ${receiptText(report)}` }
      if (!report.signed && given !== undefined) return { text: undefined, value, why: "its receipt is not signed" }
      return {
        text: report.signed ? `${receiptText(report)}; ${PROVES[keys]}` : receiptText(report),
        value,
        why: undefined
      }
    }
  }
}
