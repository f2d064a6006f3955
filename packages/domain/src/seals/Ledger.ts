import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { Field } from "../values/Field.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { eventBytes } from "./Chain.ts"
import type { SignatureCheck, Signer } from "./Seal.ts"
import { type Mismatch, type SignatureState, signatureOf } from "./Verification.ts"

/**
 * The kinds of entries of the ledger; `expiry` records that retention deletes the audit entries before a time, `key`
 * that a key begins to seal, `erasure` that texts of a run were erased.
 */
export const LEDGER_KINDS = ["seal", "tombstone", "audit", "expiry", "key", "erasure"] as const
export type LedgerKind = (typeof LEDGER_KINDS)[number]

const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

/** A seal, tombstone or audit entry in a chain of consecutive numbers (docs/reference/seal.md#ledger). */
export const LedgerEntry = Schema.Struct({
  number: Field.integer("1, 2, 3, ... without gaps", 1),
  kind: Schema.Literals(LEDGER_KINDS).annotate({ description: "What the entry is about" }),
  subject: Field.text(
    "Of a seal `runId/events`, of a tombstone `runId/deletedAt`, of an audit entry its id, of an expiry the time, " +
      "of a key its id, of an erasure `runId/entries`"
  ),
  digest: Digest.annotate({ description: "SHA-256 of the canonical JSON of the content, hexadecimal" }),
  vouched: Field.flag("Whether the process with the key wrote the content; false without a key"),
  previous: Digest.annotate({ description: "Hash of the entry before this one, hexadecimal" }),
  at: Field.time("When the entry got its number"),
  keyId: Schema.NullOr(Schema.String).annotate({ description: "The key that signed; null when nothing is signed" }),
  signature: Schema.NullOr(Schema.String).annotate({
    description: "Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed"
  })
}).annotate({ identifier: "LedgerEntry", description: "A seal, tombstone or audit entry in the ledger" })
export type LedgerEntry = typeof LedgerEntry.Type

/** The end of the ledger: a published head reveals a ledger that was cut. */
export interface LedgerHead {
  readonly number: number
  readonly hash: string
}

/** What is numbered next. */
export type LedgerDraft = Pick<LedgerEntry, "at" | "digest" | "kind" | "subject" | "vouched">

/** The digest of a content, hexadecimal. */
export const contentDigestOf = (sha256: Sha256, content: Schema.Json): string =>
  Hex.encode(sha256(eventBytes(canonicalJson(content))))

/** The ledger before its first entry. */
export const ledgerStart = (sha256: Sha256): LedgerHead => ({
  number: 0,
  hash: Hex.encode(sha256(eventBytes("runplane-ledger-v1\n")))
})

/** The bytes that are signed and hashed: everything but the signature. */
export const signedEntry = (entry: Omit<LedgerEntry, "signature">): Uint8Array => {
  const { at, digest, keyId, kind, number, previous, subject, vouched } = entry
  return eventBytes(canonicalJson({ at, digest, keyId, kind, number, previous, subject, vouched }))
}

export const ledgerHeadOf = (sha256: Sha256, entry: LedgerEntry): LedgerHead => ({
  number: entry.number,
  hash: Hex.encode(sha256(signedEntry(entry)))
})

/** Numbers an entry behind a head; without a signer it is marked as unsigned. */
export const makeLedgerEntry = (after: LedgerHead, draft: LedgerDraft, signer?: Signer): LedgerEntry => {
  const { at, digest, kind, subject, vouched } = draft
  const keyId = signer?.keyId ?? null
  const entry = { number: after.number + 1, kind, subject, digest, vouched, previous: after.hash, at, keyId }
  return { ...entry, signature: signer === undefined ? null : Hex.encode(signer.sign(signedEntry(entry))) }
}

/**
 * Walks along a ledger from its first entry on: numbers, links and signatures. `take` returns the mismatch, or
 * whether the entry is signed.
 */
export const walkLedger = (sha256: Sha256, check: SignatureCheck) => {
  let head = ledgerStart(sha256)
  const take = (entry: LedgerEntry): SignatureState | Mismatch => {
    if (entry.number !== head.number + 1) {
      return { ok: false, index: head.number + 1, why: `missing; the next one is ${entry.number}` }
    }
    if (entry.previous !== head.hash) {
      return { ok: false, index: entry.number, why: "it does not continue the entry before it" }
    }
    const { keyId, signature } = entry
    const algorithm = keyId === null && signature === null ? "sha256" : "sha256-ed25519"
    const state = signatureOf(check, { algorithm, keyId, signature }, signedEntry(entry), "entry")
    if (typeof state !== "string") return { ...state, index: entry.number }
    head = ledgerHeadOf(sha256, entry)
    return state
  }
  return { take, head: () => head }
}
