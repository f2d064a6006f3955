import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Sha256 } from "../values/Sha256.ts"
import {
  type ExportedMarkEntry,
  MarkAppendix,
  type MarksHead,
  markContentSha256,
  marksNext,
  marksStart,
  signedMarksHead
} from "./MarkChain.ts"
import type { SignatureCheck } from "./Seal.ts"
import { type Mismatch, type SignatureState, signatureOf, textOf } from "./Verification.ts"

interface CheckedMarks {
  readonly ok: true
  /** Entries of the chain. */
  readonly entries: number
  readonly signature: SignatureState
}

/** Checks the appendix of marks of an export (docs/reference/seal.md#marks). A fault is named by its position. */
export const checkMarks = (
  sha256: Sha256,
  check: SignatureCheck,
  runId: string,
  appendix: Uint8Array
): CheckedMarks | Mismatch => {
  const decoded = decode(textOf(appendix))
  if (Result.isFailure(decoded)) return mismatch("cannot be read")
  const { entries, head: signed } = decoded.success
  if (signed.runId !== runId) return mismatch(`is of the run ${signed.runId}`)
  let head = marksStart(sha256, runId)
  const marks = new Map<string, State>()
  for (const [index, entry] of entries.entries()) {
    const position = index + 1
    const { position: stated, previous, ...rest } = entry
    if (stated !== position) return mismatchAt(position, `the entry has the position ${stated}`)
    if (previous !== Hex.encode(head)) return mismatchAt(position, "the entry before is not the one that it continues")
    const fault = faultOf(sha256, marks, entry)
    if (fault !== undefined) return mismatchAt(position, fault)
    head = marksNext(sha256, head, position, withoutContent(rest))
  }
  const cut = [...marks.values()].find(({ isErased, isDeleted }) => isErased && !isDeleted)
  if (cut !== undefined) return mismatchAt(cut.position, "its content is missing, and no entry deletes it")
  if (signed.entries !== entries.length) {
    return mismatchAt(Math.min(signed.entries, entries.length) + 1, `the signed end has ${signed.entries} entries`)
  }
  if (signed.head !== Hex.encode(head)) return mismatchAt(entries.length, "the entry is not the one of the signed end")
  const signature = signatureOf(check, algorithmOf(signed), signedMarksHead(signed), "marks")
  return typeof signature === "string" ? { ok: true, entries: entries.length, signature } : signature
}

interface State {
  readonly position: number
  readonly isErased: boolean
  readonly isDeleted: boolean
}

/** Why an entry contradicts itself or those before it. */
const faultOf = (sha256: Sha256, marks: Map<string, State>, entry: ExportedMarkEntry): string | undefined => {
  const known = marks.get(entry.id)
  if (entry.action === "delete") {
    if (known === undefined || known.isDeleted) return "it deletes a mark that is not there"
    if (!known.isErased) return `the mark of position ${known.position} is deleted, and has a content`
    marks.set(entry.id, { ...known, isDeleted: true })
    return undefined
  }
  const { content, contentSha256, id, position } = entry
  if (known !== undefined) return `the mark is that of position ${known.position}`
  if (content !== undefined && markContentSha256(sha256, content) !== contentSha256) {
    return "its content is not the one that was added"
  }
  marks.set(id, { position, isErased: content === undefined, isDeleted: false })
  return undefined
}

type Unplaced<A> = A extends unknown ? Omit<A, "position" | "previous"> : never

const withoutContent = (entry: Unplaced<ExportedMarkEntry>) => {
  if (entry.action === "delete") return entry
  const { content: _, ...rest } = entry
  return rest
}

const algorithmOf = ({ keyId, signature }: MarksHead) => ({
  algorithm: keyId === null ? ("sha256" as const) : ("sha256-ed25519" as const),
  keyId,
  signature
})

const mismatch = (why: string): Mismatch => ({ ok: false, why: `its appendix of marks ${why}` })
const mismatchAt = (position: number, why: string): Mismatch =>
  mismatch(`does not fit from position ${position} on: ${why}`)

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(MarkAppendix), { onExcessProperty: "error" })
