import * as Result from "effect/Result"
import { cleanText } from "../values/CleanJson.ts"
import { textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { type CheckedReceipt, checkReceipt, type Ed25519Check, readReceipt, receiptCommitment } from "./Receipt.ts"
import type { ReceiptKeys } from "./ReceiptKeys.ts"
import { MAX_REPORT_TEXT, type ReceiptReport } from "./ReceiptReport.ts"

/** What the log says about the decision of a session. */
export interface LoggedDecision {
  readonly sessionId: string
  readonly modeName: string
  /** Of the Commitment, by the bytes that the runtime delivered; undefined when they are not hashable. */
  readonly commitmentHash: string | undefined
  /** The decoded payload of the Commitment, redacted if the service redacts. */
  readonly payload: JsonObject
  /** Members of the payload whose values were erased. */
  readonly erased?: ReadonlySet<string>
}

/** The functions that the domain does not have. */
export interface ReceiptCrypto {
  readonly sha256: Sha256
  readonly ed25519: Ed25519Check
}

/** Members of a receipt that are compared with members of the log's payload. */
const MEMBERS = [
  ["commitment_id", "commitmentId"],
  ["action", "action"],
  ["authority_scope", "authorityScope"],
  ["reason", "reason"],
  ["mode_version", "modeVersion"],
  ["policy_version", "policyVersion"],
  ["configuration_version", "configurationVersion"]
] as const
/** The mark of a redacted text. */
const REDACTED = "[REDACTED]"

/**
 * Checks the text of a receipt, and compares it with the decision of the log (docs/reference/decisions.md#receipts).
 * Without a decision nothing is compared, and the receipt is not verified.
 */
export const receiptReport = (
  { ed25519, sha256 }: ReceiptCrypto,
  text: string,
  keys: ReceiptKeys,
  logged: LoggedDecision | undefined
): ReceiptReport => {
  const receipt = readReceipt(text)
  if (Result.isFailure(receipt)) return unreadReceipt(receipt.failure)
  return comparedReport(receipt.success, checkReceipt(sha256, ed25519, receipt.success, keys), logged)
}

/** The report about a receipt that cannot be read, or that there is none of. */
export const unreadReceipt = (reason: string): ReceiptReport => ({
  verified: false,
  signed: false,
  reason: bounded(`the receipt cannot be checked: ${reason}`)
})

/** The report about a checked receipt beside the decision of the log. */
export const comparedReport = (
  receipt: JsonObject,
  checked: CheckedReceipt,
  logged: LoggedDecision | undefined
): ReceiptReport => {
  const disagreements = logged === undefined ? [] : disagreementsOf(receipt, logged)
  const reasons = [
    ...(disagreements.length > 0 ? [`it disagrees with the log in ${disagreements.join(", ")}`] : []),
    ...(logged === undefined ? ["the log has no decision to compare it with"] : []),
    ...(logged !== undefined && logged.commitmentHash === undefined
      ? ["the log has no hash of its commitment to compare it with"]
      : []),
    ...receiptFaults(checked)
  ]
  const valid = checked.attestations.find(({ outcome }) => outcome === "valid")
  return {
    verified: reasons.length === 0,
    signed: checked.isSigned,
    ...textMember("issuer", textAt(receipt, "issuer")),
    ...textMember("hash", textAt(receipt, "commitment_hash")),
    ...textMember("issuedAt", textAt(receipt, "issued_at")),
    ...textMember("keyId", valid?.keyId),
    ...(disagreements.length > 0 && { disagreements }),
    ...(reasons.length > 0 && { reason: bounded(reasons.join("; ")) })
  }
}

/** Why a receipt by itself proves less than it claims: an empty list when it is intact, and signed as it says. */
export const receiptFaults = (checked: CheckedReceipt): ReadonlyArray<string> => {
  if (checked.fault !== undefined) return [checked.fault]
  if (!checked.isSigned || checked.attestations.some(({ outcome }) => outcome === "valid")) return []
  const [first] = checked.attestations.filter(({ outcome }) => outcome !== "unsupported")
  const key = first?.keyId === undefined ? "an unnamed key" : `the key ${first.keyId}`
  if (first === undefined) return ["its signature has a form that is not supported"]
  return first.outcome === "invalid"
    ? [`its signature by ${key} does not fit: the receipt was changed, or another key made it`]
    : [`${key}, which signed it, is not among the known keys`]
}

const disagreementsOf = (receipt: JsonObject, logged: LoggedDecision): ReadonlyArray<string> => {
  const differs = (name: string, expected: string) => ((textAt(receipt, name) ?? "") === expected ? [] : [name])
  const hash = logged.commitmentHash
  const isSameHash = hash === undefined || textAt(receipt, "commitment_hash") === hash
  return [
    ...differs("session_id", logged.sessionId),
    ...differs("mode", logged.modeName),
    ...(isSameHash ? [] : ["commitment_hash"]),
    ...changedMembers(receipt, logged)
  ]
}

/** The members of the commitment that have another value in the log. */
const changedMembers = (receipt: JsonObject, { erased, payload }: LoggedDecision): ReadonlyArray<string> => {
  const shown = receiptCommitment(receipt)
  if (Result.isFailure(shown)) return []
  const commitment = shown.success
  const texts = MEMBERS.filter(([, name]) => {
    const recorded = textAt(payload, name) ?? ""
    return erased?.has(name) !== true && !recorded.includes(REDACTED) && recorded !== cleanText(commitment[name])
  })
  const isOtherOutcome = (payload["outcomePositive"] === true) !== commitment.outcomePositive
  return [...texts.map(([name]) => name), ...(isOtherOutcome ? ["outcome_positive"] : [])]
}

const bounded = (text: string) => cleanText(text.slice(0, MAX_REPORT_TEXT))

const textMember = <Name extends string>(name: Name, text: string | undefined) =>
  text === undefined ? {} : { [name]: bounded(text) }
