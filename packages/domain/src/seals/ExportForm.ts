import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { isJsonObject } from "../values/JsonReader.ts"
import { MemberSalts } from "./MemberSalts.ts"
import { SEAL_ALGORITHMS, type Seal, type Signer } from "./Seal.ts"

/**
 * The last member, or line, of an export: what proves that every byte before it is the one that was exported
 * (docs/reference/seal.md#exports).
 */
export const ExportDigest = Schema.Struct({
  algorithm: Schema.Literals(SEAL_ALGORITHMS).annotate({ description: "How the digest was made and signed" }),
  sha256: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).annotate({
    description: "SHA-256 of every byte of the export before this member, hexadecimal"
  }),
  keyId: Schema.NullOr(Schema.String).annotate({ description: "The key that signed; null when nothing is signed" }),
  signature: Schema.NullOr(Schema.String).annotate({
    description: "Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed"
  })
}).annotate({ identifier: "ExportDigest", description: "Proof of what an export was when it was made" })
export type ExportDigest = typeof ExportDigest.Type

const utf8 = new TextEncoder()

/** The bytes that the signature of a digest is over. They are those of no seal, because of their `sha256`. */
export const signedDigest = ({ algorithm, keyId, sha256 }: Omit<ExportDigest, "signature">): Uint8Array =>
  utf8.encode(canonicalJson({ algorithm, keyId, sha256 }))

/** Digests an export; without a signer the digest is marked as unsigned. */
export const makeExportDigest = (hash: Uint8Array, signer?: Signer): ExportDigest => {
  const digest = {
    algorithm: signer === undefined ? ("sha256" as const) : ("sha256-ed25519" as const),
    sha256: Hex.encode(hash),
    keyId: signer?.keyId ?? null
  }
  return { ...digest, signature: signer === undefined ? null : Hex.encode(signer.sign(signedDigest(digest))) }
}

const withType = (type: string, members: string) => `{"type":"${type}",${members.slice(1)}`

/** What proves the history in an export. */
export interface ExportProof {
  /** Undefined when the run had none. */
  readonly seal: Seal | undefined
  /** The chain's head after each of the events, hexadecimal. */
  readonly heads: ReadonlyArray<string>
  /** Only in version 2 of the chain: the salts of each event and of each raw frame of the export. */
  readonly salts?: ExportSalts | undefined
  /** The JSON of the appendix of erasures; undefined for a run of which nothing was erased. */
  readonly erasures?: string | undefined
}

/** The salts of an export. */
export const ExportSalts = Schema.Struct({
  events: Schema.Array(MemberSalts).annotate({ description: "Of each event, in their order" }),
  frames: Schema.Array(MemberSalts).annotate({ description: "Of each raw frame, in their order" })
}).annotate({ identifier: "ExportSalts", description: "The salts of the digests that the chains cover" })
export type ExportSalts = typeof ExportSalts.Type

const proofOf = ({ erasures, heads, salts, seal }: ExportProof): string => {
  const listed = heads.length === 0 ? "" : `"${heads.join('","')}"`
  return [
    `"seal":${seal === undefined ? "null" : canonicalJson(seal)},"heads":[${listed}]`,
    ...(salts === undefined ? [] : [`"salts":${JSON.stringify({ events: salts.events, frames: salts.frames })}`]),
    ...(erasures === undefined ? [] : [`"erasures":${erasures}`])
  ].join(",")
}

/** How each format of an export ends: with its proof, then with the digest of all bytes before it. */
export const exportEnds = {
  json: {
    proof: (proof: ExportProof) => `,${proofOf(proof)}`,
    digest: (digest: ExportDigest) => `,"digest":${canonicalJson(digest)}}`
  },
  jsonl: {
    proof: (proof: ExportProof) => `{"type":"seal",${proofOf(proof)}}\n`,
    digest: (digest: ExportDigest) => `${withType("digest", canonicalJson(digest))}\n`
  }
} as const

/**
 * A stored event as a line of an export: its own type is `eventType`. Where its text cannot be made of the line
 * again, the text is in it too, as `text`. Undefined for a text that is not an object with a type.
 */
export const exportedLine = (text: string): string | undefined => {
  const event = parsed(text)
  const type = event?.["type"]
  if (event === undefined || type === undefined) return undefined
  const { type: _, ...rest } = event
  const line = { type: "canonical_event", eventType: type, ...rest }
  return JSON.stringify(rebuilt(type, rest) === text ? line : { ...line, text })
}

/** The stored text of the event in such a line; undefined when the line has no event. */
export const storedText = (line: string): string | undefined => {
  const read = parsed(line)
  if (read?.["type"] !== "canonical_event" || read["eventType"] === undefined) return undefined
  const { type: _, eventType, text, ...rest } = read
  return typeof text === "string" ? text : rebuilt(eventType, rest)
}

/** The text as the log writes it, with the type behind the time. */
const rebuilt = (type: Schema.Json, rest: Schema.JsonObject): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(rest).flatMap(([key, value]) =>
        key === "ts"
          ? [
              [key, value],
              ["type", type]
            ]
          : [[key, value]]
      )
    )
  )

const parsed = (text: string): Schema.JsonObject | undefined => {
  const read: Schema.Json | undefined = Result.getOrUndefined(Result.try(() => JSON.parse(text)))
  return read !== undefined && isJsonObject(read) ? read : undefined
}
