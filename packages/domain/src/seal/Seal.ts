import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import { Field } from "../Field.ts"
import { canonicalJson } from "./CanonicalJson.ts"

/** A chain of SHA-256 over the run's events, its head signed with Ed25519, or not signed at all. */
export const SEAL_ALGORITHMS = ["sha256-ed25519", "sha256"] as const

const Head = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).annotate({
  description: "Head of the run's hash chain after its last event, hexadecimal"
})
const events = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "Number of events sealed" })

/** What a run's history was when it was sealed. */
export const Seal = Schema.Struct({
  runId: Field.text("The sealed run"),
  algorithm: Schema.Literals(SEAL_ALGORITHMS).annotate({ description: "How the head was made and signed" }),
  events,
  head: Head,
  sealedAt: Field.time("When the seal was made"),
  previous: Schema.NullOr(Schema.Struct({ events, head: Head })).annotate({
    description: "The seal that this one continues, made before later events came; null for the first"
  }),
  keyId: Schema.NullOr(Schema.String).annotate({ description: "The key that signed; null when nothing is signed" }),
  signature: Schema.NullOr(Schema.String).annotate({
    description: "Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed"
  })
}).annotate({ identifier: "Seal", description: "Proof of what a run's history was when it was sealed" })
export type Seal = typeof Seal.Type

/** What is sealed, before anybody signs it. */
export interface SealDraft extends Pick<Seal, "runId" | "events" | "sealedAt"> {
  readonly head: Uint8Array
  readonly previous?: Pick<Seal, "events" | "head">
}

export interface Signer {
  readonly keyId: string
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** Undefined for a key that is not known. */
export type SignatureCheck = (keyId: string, message: Uint8Array, signature: Uint8Array) => boolean | undefined

const utf8 = new TextEncoder()

/** Seals a run; without a signer the seal says that it is unsigned. */
export const makeSeal = ({ events, head, previous, runId, sealedAt }: SealDraft, signer?: Signer): Seal => {
  const sealed = {
    runId,
    algorithm: signer === undefined ? ("sha256" as const) : ("sha256-ed25519" as const),
    events,
    head: Hex.encode(head),
    sealedAt,
    previous: previous === undefined ? null : { events: previous.events, head: previous.head },
    keyId: signer?.keyId ?? null
  }
  const signature = signer === undefined ? null : Hex.encode(signer.sign(signedBytes(sealed)))
  return { ...sealed, signature }
}

/** The bytes that are signed: everything but the signature. */
export const signedBytes = ({
  algorithm,
  events,
  head,
  keyId,
  previous,
  runId,
  sealedAt
}: Omit<Seal, "signature">): Uint8Array =>
  utf8.encode(canonicalJson({ algorithm, events, head, keyId, previous, runId, sealedAt }))
