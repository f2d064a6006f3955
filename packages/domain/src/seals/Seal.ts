import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { Field } from "../values/Field.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** A chain of SHA-256 over the run's events, its head signed with Ed25519, or not signed at all. */
export const SEAL_ALGORITHMS = ["sha256-ed25519", "sha256"] as const

const Head = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).annotate({
  description: "Head of the run's hash chain after its last event, hexadecimal"
})
const events = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "Number of events sealed" })

/** A chain over raw frames of a run, from the one behind `after` up to `last`. */
export const SealedFrames = Schema.Struct({
  after: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "The frames up to this number are not covered; 0 when all are covered"
  }),
  last: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "Number of the last frame" }),
  head: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).annotate({
    description: "Head of the hash chain of the frames, hexadecimal"
  })
}).annotate({ identifier: "SealedFrames", description: "The raw frames that a seal covers" })
export type SealedFrames = typeof SealedFrames.Type

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
  late: Schema.optionalKey(Schema.Boolean).annotate({
    description:
      "Whether the seal was made after the transaction that ended the run, from what was stored then; " +
      "absent in seals of releases that did not check the head of the run"
  }),
  provenAfter: Schema.optionalKey(Schema.NullOr(events)).annotate({
    description:
      "The key vouches for the events behind this position: 0 for all, the number of events for none; " +
      "null when nothing is signed; absent in seals of releases that did not check the head of the run"
  }),
  frames: Schema.optionalKey(Schema.NullOr(SealedFrames)).annotate({
    description: "The raw frames that are sealed; null when none are proven; absent in seals of earlier releases"
  }),
  keyId: Schema.NullOr(Schema.String).annotate({ description: "The key that signed; null when nothing is signed" }),
  chain: Schema.optionalKey(Schema.Literal(2)).annotate({
    description:
      "Version of the chains of events and raw frames; absent in seals of version 1, in which no text can be erased"
  }),
  signature: Schema.NullOr(Schema.String).annotate({
    description: "Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed"
  })
}).annotate({ identifier: "Seal", description: "Proof of what a run's history was when it was sealed" })
export type Seal = typeof Seal.Type

/**
 * Version of the chains of events and raw frames of a run. A run keeps the version that it began with. The version is a
 * part of what is signed, so a history cannot be passed off as one of another version.
 */
export type ChainVersion = 1 | 2

/** The version of the chains that a seal covers. */
export const chainVersionOf = ({ chain }: Pick<Seal, "chain">): ChainVersion => chain ?? 1

/** The content of a seal before its signature. */
export interface SealDraft extends Pick<Seal, "runId" | "events" | "sealedAt"> {
  readonly head: Uint8Array
  readonly previous?: Pick<Seal, "events" | "head">
  readonly late: boolean
  /** Events up to this position are sealed as they were found, and not as the signer wrote them. */
  readonly provenAfter: number
  readonly frames: SealedFrames | null
  /** 1 by default. */
  readonly chain?: ChainVersion
}

export interface Signer {
  readonly keyId: string
  readonly sign: (message: Uint8Array) => Uint8Array
}

/** Undefined for a key that is not known. */
export type SignatureCheck = (keyId: string, message: Uint8Array, signature: Uint8Array) => boolean | undefined

const utf8 = new TextEncoder()

/** Seals a run; without a signer the seal is marked as unsigned: no key vouches for it. */
export const makeSeal = (draft: SealDraft, signer?: Signer): Seal => {
  const { chain, events, frames, head, late, previous, provenAfter, runId, sealedAt } = draft
  const sealed = {
    runId,
    algorithm: signer === undefined ? ("sha256" as const) : ("sha256-ed25519" as const),
    events,
    head: Hex.encode(head),
    sealedAt,
    previous: previous === undefined ? null : { events: previous.events, head: previous.head },
    late,
    provenAfter: signer === undefined ? null : provenAfter,
    frames,
    keyId: signer?.keyId ?? null,
    ...(chain === 2 && { chain })
  }
  const signature = signer === undefined ? null : Hex.encode(signer.sign(signedBytes(sealed)))
  return { ...sealed, signature }
}

/** The bytes that are signed: everything but the signature. What a seal of an earlier release lacks, they lack too. */
export const signedBytes = (seal: Omit<Seal, "signature">): Uint8Array => {
  const { algorithm, chain, events, frames, head, keyId, late, previous, provenAfter, runId, sealedAt } = seal
  const signed: JsonObject = {
    algorithm,
    events,
    head,
    keyId,
    previous,
    runId,
    sealedAt,
    ...(late !== undefined && { late }),
    ...(provenAfter !== undefined && { provenAfter }),
    ...(frames !== undefined && { frames }),
    ...(chain !== undefined && { chain })
  }
  return utf8.encode(canonicalJson(signed))
}

/** The parts of the history that a valid signature does not prove: an empty list when it proves all of it. */
export const doubtsOf = ({ events, keyId, late, provenAfter }: Seal): ReadonlyArray<string> => {
  if (keyId === null || provenAfter === undefined) return []
  const unproven =
    provenAfter === null || provenAfter === 0
      ? []
      : [
          provenAfter >= events
            ? "none of its events is proven to be what the service wrote"
            : `its events 1 to ${provenAfter} are not proven to be what the service wrote`
        ]
  return late === true ? ["it was sealed late, from what was stored then", ...unproven] : unproven
}

/**
 * Whether a seal is of a release that signed the stored rows without a check of the head
 * (docs/reference/seal.md#proof).
 */
export const isUnchecked = ({ provenAfter }: Seal): boolean => provenAfter === undefined
