import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { Field } from "../values/Field.ts"
import type { Sha256 } from "../values/Sha256.ts"
import type { Signer } from "./Seal.ts"

const sha256Of = (description: string) =>
  Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).annotate({ description: `${description}, hexadecimal` })

const entryFields = {
  target: Schema.Literals(["event", "frame"]).annotate({ description: "What the member belongs to" }),
  index: Field.integer("Position of the event, or of the raw frame, in the run", 1),
  pointer: Field.text("JSON pointer of the member", "/data/decodedPayload/reason"),
  digest: Schema.String.check(Schema.isPattern(/^[\w-]{43}$/)).annotate({
    description: "Digest of its salted value, base64url, as the chain of the events or frames covers it"
  }),
  at: Field.time("When it was erased"),
  by: Field.text("Caller that erased it", "key:5e884898"),
  reason: Field.text("Why", "request of the person")
}

/**
 * An erased member of an event or a raw frame. A value that is missing without an entry is a forgery: who writes the
 * database could put a digest in the position of any value.
 */
export const ErasureEntry = Schema.Struct(entryFields).annotate({
  identifier: "ErasureEntry",
  description: "An erased member of a run"
})
export type ErasureEntry = typeof ErasureEntry.Type

/** An entry in an export, with its position in the chain. */
const ExportedErasure = Schema.Struct({
  position: Field.integer("Position in the chain, from 1", 1),
  previous: sha256Of("Head of the chain before the entry"),
  ...entryFields
})
export type ExportedErasure = typeof ExportedErasure.Type

/** The signed end of the chain of a run's erasures. */
export const ErasuresHead = Schema.Struct({
  runId: Field.text("The run"),
  entries: Field.integer("Entries of the chain", 1),
  head: sha256Of("Head of the chain after its last entry"),
  keyId: Schema.NullOr(Schema.String).annotate({ description: "The key that signed; null when nothing is signed" }),
  signature: Schema.NullOr(Schema.String).annotate({
    description: "Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed"
  })
}).annotate({ identifier: "ErasuresHead", description: "The signed end of the chain of a run's erasures" })
export type ErasuresHead = typeof ErasuresHead.Type

/** The erasures of a run, as a chain of their own in the form of that of the marks. */
export const ErasureAppendix = Schema.Struct({
  entries: Schema.Array(ExportedErasure).annotate({ description: "Erasures, in their order" }),
  head: ErasuresHead
}).annotate({ identifier: "ErasureAppendix", description: "The erasures of a run, as a chain of their own" })
export type ErasureAppendix = typeof ErasureAppendix.Type

const utf8 = new TextEncoder()

/** The head of a run without erasures. */
export const erasuresStart = (sha256: Sha256, runId: string): Uint8Array =>
  sha256(utf8.encode(`runplane-erasures-v1\n${runId}`))

/** The head after one more entry. `position` counts the entries of the run from 1. */
export const erasuresNext = (sha256: Sha256, head: Uint8Array, position: number, entry: ErasureEntry): Uint8Array =>
  sha256(head, utf8.encode(canonicalJson({ position, ...entry })))

/** The bytes that the key signs. */
export const signedErasuresHead = ({ entries, head, keyId, runId }: Omit<ErasuresHead, "signature">): Uint8Array =>
  utf8.encode(canonicalJson({ kind: "runplane-erasures-v1", runId, entries, head, keyId }))

/** Signs the end of a chain; without a signer it is marked as unsigned. */
export const makeErasuresHead = (runId: string, entries: number, head: Uint8Array, signer?: Signer): ErasuresHead => {
  const unsigned = { runId, entries, head: Hex.encode(head), keyId: signer?.keyId ?? null }
  return { ...unsigned, signature: signer === undefined ? null : Hex.encode(signer.sign(signedErasuresHead(unsigned))) }
}
