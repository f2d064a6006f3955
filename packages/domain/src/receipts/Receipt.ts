import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { parseExactJson } from "../values/ExactJson.ts"
import { arrayAt, isJsonObject, objectAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { type Commitment, commitmentHash, commitmentJson, isCommitmentHash, readCommitment } from "./Commitment.ts"
import type { ReceiptKeys } from "./ReceiptKeys.ts"

/** Whether the signature of a message is one of the key, whose `x` is base64url. False for a text that is not a key. */
export type Ed25519Check = (x: string, message: Uint8Array, signature: Uint8Array) => boolean

/** The only form of receipts that is known. */
export const RECEIPT_FORMAT = "macp-receipt/1"
/** Characters of a receipt that is read. A payload of the runtime's limit, shown twice, fits. */
export const MAX_RECEIPT_CHARS = 4 * 1024 * 1024
/** Attestations that are checked. */
const MAX_ATTESTATIONS = 16

/** Whether the commitment of a receipt has the recorded hash; `refused` for another form of receipts. */
export type ReceiptIntegrity = "match" | "mismatch" | "cannot_verify" | "refused"

/** The result for one attestation. `unsupported` proves nothing, like `unknown_key`. */
export interface CheckedAttestation {
  readonly outcome: "valid" | "invalid" | "unknown_key" | "unsupported"
  /** The key that the attestation names. */
  readonly keyId?: string
}

/** What the check of a receipt found, by itself and with keys, without a log. */
export interface CheckedReceipt {
  readonly integrity: ReceiptIntegrity
  /** Why the integrity is not `match`, with the member at fault. */
  readonly fault?: string
  /** One for each attestation, in order; empty unless the integrity is `match`. */
  readonly attestations: ReadonlyArray<CheckedAttestation>
  /** The receipt has a signature, valid or not. */
  readonly isSigned: boolean
}

/** The members of a commitment as a receipt shows it. */
const TEXTS = {
  commitment_id: "commitmentId",
  action: "action",
  authority_scope: "authorityScope",
  reason: "reason",
  mode_version: "modeVersion",
  policy_version: "policyVersion",
  configuration_version: "configurationVersion"
} as const satisfies Readonly<Record<string, keyof Commitment>>
const REFERENCE = new Set(["session_id", "commitment_hash"])

const utf8 = new TextEncoder()

/** Reads the text of a receipt. Fails with the reason for a text that cannot be checked. */
export const readReceipt = (text: string): Result.Result<JsonObject, string> => {
  if (text.length > MAX_RECEIPT_CHARS) return Result.fail(`it is longer than ${MAX_RECEIPT_CHARS} characters`)
  const json = parseExactJson(text)
  const value = json?.value
  if (json === undefined || !isObject(value)) return Result.fail("it is not a JSON object")
  const fault = json.faults.listed[0]
  if (fault === undefined) return Result.succeed(value)
  // The signature covers the number as its sender wrote it, and a repeated member has no canonical form.
  return Result.fail(`its member ${fault.path.join(".").slice(0, 100)} cannot be read exactly`)
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Checks a receipt by itself: its hash, the bytes in it, and its signatures with the given keys. Never throws. */
export const checkReceipt = (
  sha256: Sha256,
  ed25519: Ed25519Check,
  receipt: JsonObject,
  keys: ReceiptKeys
): CheckedReceipt => {
  const attestations = arrayAt(receipt, "attestations") ?? []
  const isSigned = attestations.some((one) => isJsonObject(one) && one["type"] === "jws")
  const unchecked = (integrity: ReceiptIntegrity, fault: string): CheckedReceipt => ({
    integrity,
    fault,
    attestations: [],
    isSigned
  })
  const format = textAt(receipt, "receipt_format")
  if (format !== RECEIPT_FORMAT) {
    return unchecked("refused", `its receipt_format is ${shown(format)}, only ${RECEIPT_FORMAT} is known`)
  }
  const integrity = integrityOf(sha256, receipt)
  if (integrity.integrity !== "match") return { ...integrity, attestations: [], isSigned }
  const { attestations: _, ...body } = receipt
  const signed = Base64Url.encode(canonicalJson(body))
  return {
    integrity: "match",
    attestations: attestations
      .slice(0, MAX_ATTESTATIONS)
      .map((one) => attestationOf(ed25519, isJsonObject(one) ? one : {}, signed, keys)),
    isSigned
  }
}

const shown = (text: string | undefined) => (text === undefined ? "missing" : JSON.stringify(text.slice(0, 100)))

/** The commitment of a receipt, as it shows it. */
export const receiptCommitment = (receipt: JsonObject): Result.Result<Commitment, string> => {
  const shownAs = objectAt(receipt, "commitment")
  if (shownAs === undefined) return Result.fail("its commitment is missing")
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(shownAs)) {
    if (name === "outcome_positive" || name === "supersedes") continue
    if (!Object.hasOwn(TEXTS, name)) return Result.fail(`its commitment has the unknown member ${shown(name)}`)
    if (typeof value !== "string") return Result.fail(`its commitment.${name} is not a text`)
    texts[name] = value
  }
  const positive = shownAs["outcome_positive"] ?? false
  if (typeof positive !== "boolean") return Result.fail("its commitment.outcome_positive is not a flag")
  const reference = shownAs["supersedes"]
  const supersedes = reference === undefined ? undefined : referenceOf(reference)
  if (supersedes === null) return Result.fail("its commitment.supersedes is not a reference")
  const text = (name: keyof typeof TEXTS) => texts[name] ?? ""
  return Result.succeed({
    commitmentId: text("commitment_id"),
    action: text("action"),
    authorityScope: text("authority_scope"),
    reason: text("reason"),
    modeVersion: text("mode_version"),
    policyVersion: text("policy_version"),
    configurationVersion: text("configuration_version"),
    outcomePositive: positive,
    ...(supersedes !== undefined && { supersedes })
  })
}

/** Null for a value that is not a reference. */
const referenceOf = (value: JsonObject[string]): NonNullable<Commitment["supersedes"]> | null => {
  if (!isJsonObject(value) || Object.keys(value).some((name) => !REFERENCE.has(name))) return null
  const { commitment_hash = "", session_id = "" } = value
  if (typeof commitment_hash !== "string" || typeof session_id !== "string") return null
  return { sessionId: session_id, commitmentHash: commitment_hash }
}

const integrityOf = (
  sha256: Sha256,
  receipt: JsonObject
): { readonly integrity: "match" } | { readonly integrity: ReceiptIntegrity; readonly fault: string } => {
  const commitment = receiptCommitment(receipt)
  if (Result.isFailure(commitment)) return { integrity: "cannot_verify", fault: commitment.failure }
  const wire = wireOf(receipt)
  const hash = commitmentHash(sha256, commitment.success)
  const changed =
    wire !== undefined && Result.isSuccess(wire) ? differences(commitment.success, wire.success.commitment) : []
  const ofWire = `${changed.map((name) => `commitment.${name}`).join(", ")}: commitment_wire_b64 has another value`
  const claimed = textAt(receipt, "commitment_hash")
  if (claimed === undefined || !isCommitmentHash(claimed)) {
    return { integrity: "mismatch", fault: "its commitment_hash is missing, or is not sha256: and 64 digits" }
  }
  if (claimed !== hash) {
    const isShown = changed.length > 0 ? `its ${ofWire}; ` : ""
    return { integrity: "mismatch", fault: `${isShown}its commitment_hash is not the hash of its commitment` }
  }
  if (wire === undefined) return { integrity: "match" }
  if (Result.isFailure(wire)) return { integrity: "cannot_verify", fault: `its commitment_wire_b64: ${wire.failure}` }
  if (changed.length > 0) return { integrity: "mismatch", fault: `its ${ofWire}` }
  // The runtime shows every member, so a receipt that omits one was changed.
  return wire.success.isShown ? { integrity: "match" } : { integrity: "mismatch", fault: "its commitment is not whole" }
}

/** The Commitment in the bytes of a receipt; undefined when it has no bytes. */
const wireOf = (receipt: JsonObject) => {
  const encoded = receipt["commitment_wire_b64"]
  if (encoded === undefined) return undefined
  if (typeof encoded !== "string") return Result.fail("is not a text")
  return Result.gen(function* () {
    const bytes = yield* Result.mapError(Base64.decode(encoded), () => "is not base64")
    const commitment = yield* readCommitment(bytes)
    const isShown = canonicalJson(commitmentJson(commitment)) === canonicalJson(objectAt(receipt, "commitment") ?? {})
    return { commitment, isShown }
  })
}

/** The members in which two commitments differ, as a receipt names them. */
export const differences = (left: Commitment, right: Commitment): ReadonlyArray<string> => {
  const [one, other] = [commitmentJson(left), commitmentJson(right)]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].filter((name) => canonicalJson(one[name] ?? null) !== canonicalJson(other[name] ?? null))
}

/** A signature over the receipt without its attestations, as a compact JWS with a detached payload (RFC 7515). */
const attestationOf = (
  ed25519: Ed25519Check,
  attestation: JsonObject,
  body: string,
  keys: ReceiptKeys
): CheckedAttestation => {
  if (attestation["type"] !== "jws") return { outcome: "unsupported" }
  const [head, payload, encoded, ...more] = (textAt(attestation, "jws") ?? "").split(".")
  if (head === undefined || payload !== "" || encoded === undefined || more.length > 0) return { outcome: "invalid" }
  const bytes = unpadded(head)
  const header = bytes && headerOf(bytes)
  const signature = unpadded(encoded)
  if (header === undefined || signature === undefined) return { outcome: "invalid" }
  const keyId = textAt(header, "kid")
  const named = keyId === undefined ? {} : { keyId }
  if (header["alg"] !== "EdDSA" || "crit" in header) return { outcome: "unsupported", ...named }
  const key = keyId === undefined ? undefined : keys.get(keyId)
  if (key === undefined) return { outcome: "unknown_key", ...named }
  const isValid = signature.length === 64 && ed25519(key, utf8.encode(`${head}.${body}`), signature)
  return { outcome: isValid ? "valid" : "invalid", ...named }
}

/** The bytes of base64url without padding; undefined for another text. */
const unpadded = (text: string) => (text.includes("=") ? undefined : Result.getOrUndefined(Base64Url.decode(text)))

const lossy = new TextDecoder()
const headerOf = (bytes: Uint8Array): JsonObject | undefined => {
  const value = parseExactJson(lossy.decode(bytes))?.value
  return isObject(value) ? value : undefined
}

/** The ids of the keys that a receipt names, each once. */
export const receiptKeyIds = (receipt: JsonObject): ReadonlyArray<string> => {
  const ids = (arrayAt(receipt, "attestations") ?? []).slice(0, MAX_ATTESTATIONS).flatMap((attestation) => {
    const jws = isJsonObject(attestation) ? textAt(attestation, "jws") : undefined
    const bytes = jws === undefined ? undefined : unpadded(jws.split(".", 1)[0] ?? "")
    const keyId = textAt((bytes && headerOf(bytes)) ?? {}, "kid")
    return keyId === undefined ? [] : [keyId]
  })
  return [...new Set(ids)]
}
