import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import { Mark } from "../marks/Mark.ts"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { Field } from "../values/Field.ts"
import type { Sha256 } from "../values/Sha256.ts"
import type { Signer } from "./Seal.ts"

const { author, authorName, comment, createdAt, id, index, judge, name, source, target, value } = Mark.fields

const digest = (description: string) =>
  Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).annotate({ description: `${description}, hexadecimal` })

/** The parts of a mark that its deletion erases. The nonce keeps its digest from revealing a deleted value. */
export const MarkContent = Schema.Struct({ nonce: Field.text("Random"), value, comment, judge }).annotate({
  identifier: "MarkContent",
  description: "The parts of a mark that its deletion erases"
})
export type MarkContent = typeof MarkContent.Type

const AddedMark = Schema.Struct({
  action: Schema.Literal("add").annotate({ description: "The mark was added" }),
  id,
  target,
  index,
  name,
  source,
  author,
  authorName,
  createdAt,
  contentSha256: digest("SHA-256 of its content")
})

const DeletedMark = Schema.Struct({
  action: Schema.Literal("delete").annotate({ description: "The mark was deleted" }),
  id,
  deletedAt: Field.time("When it was deleted"),
  deletedBy: Field.text("Caller that deleted it", "key:5e884898")
})

/** An addition or a deletion, as the chain of a run's marks covers it (docs/reference/seal.md#marks). */
export const MarkEntry = Schema.Union([AddedMark, DeletedMark])
export type MarkEntry = typeof MarkEntry.Type

const position = Field.integer("Position in the chain, from 1", 1)
const previous = digest("Head of the chain before the entry")

/** The marks of a run as its export has them: a chain of their own beside the log (docs/reference/seal.md#marks). */
const ExportedEntry = Schema.Union([
  Schema.Struct({ position, previous, ...AddedMark.fields, content: Schema.optionalKey(MarkContent) }),
  Schema.Struct({ position, previous, ...DeletedMark.fields })
])
export type ExportedMarkEntry = typeof ExportedEntry.Type

/** The signed end of the chain of a run's marks. */
export const MarksHead = Schema.Struct({
  runId: Field.text("The run"),
  entries: Field.integer("Entries of the chain", 3),
  head: digest("Head of the chain after its last entry"),
  keyId: Schema.NullOr(Schema.String).annotate({ description: "The key that signed; null when nothing is signed" }),
  signature: Schema.NullOr(Schema.String).annotate({
    description: "Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed"
  })
}).annotate({ identifier: "MarksHead", description: "The signed end of the chain of a run's marks" })
export type MarksHead = typeof MarksHead.Type

/** The appendix of an export with the marks of its run. */
export const MarkAppendix = Schema.Struct({
  entries: Schema.Array(ExportedEntry).annotate({ description: "Additions and deletions, in their order" }),
  head: MarksHead
}).annotate({ identifier: "MarkAppendix", description: "The marks of a run, as a chain of their own" })

const utf8 = new TextEncoder()

/** The head of a run without marks. */
export const marksStart = (sha256: Sha256, runId: string): Uint8Array =>
  sha256(utf8.encode(`runplane-marks-v1\n${runId}`))

/** The head after one more entry. `position` counts the entries of the run from 1. */
export const marksNext = (sha256: Sha256, head: Uint8Array, position: number, entry: MarkEntry): Uint8Array =>
  sha256(head, utf8.encode(canonicalJson({ position, ...entry })))

/** SHA-256 of the content of a mark, hexadecimal. */
export const markContentSha256 = (sha256: Sha256, content: MarkContent): string =>
  Hex.encode(sha256(utf8.encode(canonicalJson({ ...content }))))

/** The bytes that the key signs. */
export const signedMarksHead = ({ entries, head, keyId, runId }: Omit<MarksHead, "signature">): Uint8Array =>
  utf8.encode(canonicalJson({ kind: "runplane-marks-v1", runId, entries, head, keyId }))

/** Signs the end of a chain; without a signer it is marked as unsigned. */
export const makeMarksHead = (runId: string, entries: number, head: Uint8Array, signer?: Signer): MarksHead => {
  const unsigned = { runId, entries, head: Hex.encode(head), keyId: signer?.keyId ?? null }
  return { ...unsigned, signature: signer === undefined ? null : Hex.encode(signer.sign(signedMarksHead(unsigned))) }
}
