import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { StoredReceipt } from "../receipts/StoredReceipt.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { eventBytes } from "./Chain.ts"
import { checkErasures } from "./ErasureVerification.ts"
import { answersAmong, type ExportedAnswer } from "./ExportedAnswers.ts"
import { ExportDigest, ExportSalts, exportEnds, signedDigest, storedText } from "./ExportForm.ts"
import { checkFrames, type FramesChecked } from "./Frames.ts"
import { elementsOf, memberSpans } from "./JsonSpans.ts"
import { checkMarks } from "./MarkVerification.ts"
import {
  type Compared,
  type Contradiction,
  comparedRecords,
  lackingRecords,
  type Records,
  startRecords,
  UNPROVEN_RECORDS
} from "./Records.ts"
import { type ChainVersion, chainVersionOf, isUnchecked, Seal, type SignatureCheck, signedBytes } from "./Seal.ts"
import { earlierChain, erasuresFault, linksOf, UNERASABLE } from "./SealedWalk.ts"
import { type Mismatch, type SignatureState, signatureOf, startWalk, textOf } from "./Verification.ts"

/** What the check of an exported file found. */
export type ExportVerification =
  | {
      readonly ok: true
      readonly runId: string
      readonly events: number
      /** Null for a run that had not ended when it was exported: the file is whole, its history may go on. */
      readonly seal: Seal | null
      /** Of the seal; null when there is none. */
      readonly signature: SignatureState | null
      /** Of the whole file. */
      readonly exportSignature: SignatureState
      /** Entries of erasures: the values of so many members were erased. */
      readonly erased: number
      /** Entries of the appendix of marks, and its signature; null without one. */
      readonly marks: { readonly entries: number; readonly signature: SignatureState } | null
      /** The runtime's receipt of the decision, as the export has it: its content is proven, and not checked here. */
      readonly receipt: StoredReceipt | null
      /** What of the export is proven by the events, if the seal is: names of records and their members. */
      readonly proven: ReadonlyArray<string>
      /** The parts that the seal does not prove. */
      readonly notProven: ReadonlyArray<string>
    }
  | Mismatch

/** An export taken apart; every part as its bytes. */
interface Parts {
  readonly format: keyof typeof exportEnds
  readonly records: Records
  readonly events: Iterable<Uint8Array>
  readonly frames: Iterable<Uint8Array>
  readonly marks: Uint8Array | undefined
  readonly seal: Uint8Array
  readonly heads: Uint8Array
  /** Undefined in version 1 of the chain. */
  readonly salts: Uint8Array | undefined
  readonly erasures: Uint8Array | undefined
  readonly digest: Uint8Array
  /** Where the digest begins, as `exportEnds` writes it. */
  readonly covered: number
}

const NOTHING = eventBytes("null")
const NO_LIST = eventBytes("[]")

const mismatch = (why: string): Mismatch => ({ ok: false, why })

/** What an export must be, beside itself. */
export interface ExportDemands {
  /** An earlier or published seal of the run: the export must continue its history. */
  readonly kept?: Seal | undefined
  /** Refuses an earlier version of the chain. */
  readonly minChain?: ChainVersion | undefined
}

/**
 * Checks an export of a run, in either format, against the seal and the digest in it (docs/reference/seal.md#verify).
 * Every byte counts. The first event that does not fit is named before anything else is checked; then the records
 * beside the events are compared with the events (docs/reference/seal.md#records).
 */
export const verifyExport = (
  sha256: Sha256,
  check: SignatureCheck,
  bytes: Uint8Array,
  { kept, minChain }: ExportDemands = {}
): ExportVerification => {
  const parts = partsOf(bytes)
  if ("ok" in parts) return parts
  const proof = proofOf(parts)
  if ("ok" in proof) return proof
  const { digest, heads, runId, salts, seal } = proof
  if (seal !== undefined && seal.runId !== runId) return mismatch(`its seal is of the run ${seal.runId}`)
  // The signed seal has the version. An export without a seal has no version that could be lowered.
  const chain = seal === undefined ? (salts === undefined ? 1 : 2) : chainVersionOf(seal)
  const refused = earlierChain(chain, minChain) ?? chainFault(chain, parts)
  if (refused !== undefined) return mismatch(refused)
  const erasures = parts.erasures === undefined ? undefined : checkErasures(sha256, check, runId, parts.erasures)
  if (erasures?.ok === false) return erasures
  const entries = erasures?.entries ?? []

  const records = startRecords(sha256, runId)
  const walk = startWalk(linksOf(sha256, runId, chain, entries), runId, seal, heads)
  let index = 0
  for (const event of parts.events) {
    const text = textOf(event)
    if (text !== undefined) records.take(text)
    const found = walk.take(event, salts?.events[index])
    if (found !== undefined) return found
    index += 1
  }
  const walked = walk.end()
  if (!walked.ok) return walked
  if (salts !== undefined && salts.events.length > index) return mismatch("there are more salts than events")
  const beyond = entries.find((entry) => entry.target === "event" && entry.index > index)?.index
  if (beyond !== undefined) return { ok: false, index: beyond, why: "missing; an entry erases a member of it" }
  const departure = kept && departureFrom(kept, runId, heads)
  if (departure !== undefined) return departure
  const marks = parts.marks === undefined ? undefined : checkMarks(sha256, check, runId, parts.marks)
  if (marks?.ok === false && marks.unknownKey === undefined) return marks
  const signature = seal === undefined ? null : signatureOf(check, seal, signedBytes(seal), "seal")
  if (isChange(signature)) return signature
  const exportSignature = digestOf(sha256, check, bytes, parts, digest)
  if (isChange(exportSignature)) return exportSignature
  const signed = signature === "valid" ? "seal" : exportSignature === "valid" ? "export" : undefined
  const unsigned = erasuresFault(erasures, signed === undefined ? "unsigned" : "valid", signed ?? "export")
  if (unsigned !== undefined && isChange(unsigned)) return unsigned
  const frameProof = salts && { entries, salts: salts.frames }
  const frames = checkFrames(sha256, runId, parts.frames, seal?.frames ?? undefined, frameProof)
  if (!frames.ok) return frames
  const compared = vouchedRecords(records.compare(parts.records), frames, seal)
  if ("ok" in compared) return compared
  // A missing key is named last: a change that is found without it counts more.
  if (isUnproven(signature)) return signature
  if (isUnproven(exportSignature)) return exportSignature
  if (unsigned !== undefined) return unsigned
  if (marks?.ok === false) return marks
  return {
    ...{ ok: true, runId, events: walked.events, seal: seal ?? null, signature, exportSignature },
    erased: entries.length,
    marks: marks === undefined ? null : { entries: marks.entries, signature: marks.signature },
    ...compared
  }
}

export type { ExportedAnswer } from "./ExportedAnswers.ts"

/** The answers of people in an export; none in a file that is not one. */
export const answersInExport = (bytes: Uint8Array): ReadonlyArray<ExportedAnswer> => {
  const parts = partsOf(bytes)
  return "ok" in parts ? [] : answersAmong(parts.records.artifacts, parts.events)
}

/** What proves the history of an export, decoded. */
const proofOf = (parts: Parts) => {
  const seal = decodeSeal(textOf(parts.seal))
  const heads = decodeHeads(textOf(parts.heads))
  const run = decodeRun(textOf(parts.records.run))
  const digest = decodeDigest(textOf(parts.digest))
  const salts = parts.salts && decodeSalts(textOf(parts.salts))
  if (Result.isFailure(run)) return mismatch("its run has no id")
  if (Result.isFailure(heads)) return mismatch("its list of heads cannot be read")
  if (Result.isFailure(seal)) return mismatch("its seal cannot be read")
  if (Result.isFailure(digest)) return mismatch("its digest cannot be read")
  if (salts !== undefined && Result.isFailure(salts)) return mismatch("its salts cannot be read")
  return {
    runId: run.success.id,
    seal: seal.success ?? undefined,
    heads: heads.success,
    digest: digest.success,
    salts: salts?.success
  }
}

/** What an export has that its version of the chain does not have, or lacks. */
const chainFault = (chain: ChainVersion, { erasures, salts }: Parts): string | undefined => {
  if (chain === 2) return salts === undefined ? "its chain is of version 2, and its salts are missing" : undefined
  return salts === undefined && erasures === undefined ? undefined : UNERASABLE
}

const isUnproven = (found: SignatureState | Mismatch | null): found is Mismatch =>
  found !== null && typeof found !== "string"

/** Whether a signature is wrong, and not only of a key that is not known. */
const isChange = (found: SignatureState | Mismatch | null): found is Mismatch =>
  isUnproven(found) && found.unknownKey === undefined

const departureFrom = (kept: Seal, runId: string, heads: ReadonlyArray<string>): Mismatch | undefined => {
  if (kept.runId !== runId) return mismatch(`the kept seal is of the run ${kept.runId}`)
  if (kept.events > heads.length) {
    return { ok: false, index: heads.length + 1, why: `missing; the kept seal covers ${kept.events} events` }
  }
  return kept.events === 0 || heads[kept.events - 1] === kept.head
    ? undefined
    : mismatch(`its first ${kept.events} events are not those of the kept seal`)
}

/**
 * What the events prove of the records. A contradiction is a mismatch, but under a seal of a release that did not
 * compare them; one of a fold only where all events are of a release that folds as this one.
 */
const vouchedRecords = (
  { contradictions, lacking, receipt, unhashed }: Compared,
  frames: FramesChecked,
  seal: Seal | undefined
): Pick<ExportVerification & { readonly ok: true }, "notProven" | "proven" | "receipt"> | Mismatch => {
  const isOld = seal !== undefined && isUnchecked(seal)
  const isFoldOurs = seal?.provenAfter === 0 && seal.late === false
  const isHard = ({ isFold }: Contradiction) => (isFold ? isFoldOurs : !isOld)
  const hard = contradictions.find(isHard)
  if (hard !== undefined) return mismatch(`a record contradicts the events: ${hard.why}`)
  const soft = contradictions.map(({ why }) => `${why}, or another release made it`)
  return {
    receipt: receipt ?? null,
    proven:
      soft.length > 0 ? [] : [...comparedRecords(lacking), ...(frames.unproven === undefined ? ["raw frames"] : [])],
    notProven: [
      ...soft,
      ...lackingRecords(lacking),
      ...(unhashed > 0 ? [`the content of ${unhashed} artifacts: their events have no digest of it`] : []),
      ...(frames.unproven === undefined ? [] : [frames.unproven]),
      ...unsignedFrames(frames.erased),
      ...UNPROVEN_RECORDS
    ]
  }
}

/** Frames that are named one by one. */
const NAMED_FRAMES = 20

/** Frames whose bytes are not there any more, so that no signature over them can be checked. */
const unsignedFrames = (erased: ReadonlyArray<number>): ReadonlyArray<string> => {
  if (erased.length === 0) return []
  const more = erased.length > NAMED_FRAMES ? ` and ${erased.length - NAMED_FRAMES} more` : ""
  const named = `${erased.slice(0, NAMED_FRAMES).join(", ")}${more}`
  return [`raw frames ${named}: values were erased, so the runtime's signatures over them cannot be computed again`]
}

const digestOf = (
  sha256: Sha256,
  check: SignatureCheck,
  bytes: Uint8Array,
  { covered, format }: Parts,
  digest: ExportDigest
): SignatureState | Mismatch => {
  if (textOf(bytes.subarray(covered)) !== exportEnds[format].digest(digest)) return mismatch("its digest was changed")
  if (Hex.encode(sha256(bytes.subarray(0, covered))) !== digest.sha256) {
    return mismatch("its events are those of the chain, and something beside them was changed")
  }
  return signatureOf(check, digest, signedDigest(digest), "export")
}

const partsOf = (bytes: Uint8Array): Parts | Mismatch => {
  if (bytes.length === 0) return mismatch("it is empty")
  if (startsWith(bytes, 0, "[")) return mismatch("it is a list, as batch exports are: export one run")
  return startsWith(bytes, 0, HEADER) ? partsOfLines(bytes) : partsOfBundle(bytes)
}

const DIGEST_MEMBER = ',"digest":'
const UNSEALED = "it has no seal and no digest at its end: it is older than these, or was cut"

const partsOfBundle = (bytes: Uint8Array): Parts | Mismatch => {
  const members = memberSpans(bytes)
  if (members === undefined) {
    return mismatch("it is not an export as it was made: it was cut, laid out anew, or is something else")
  }
  const span = (name: string): Uint8Array | undefined => {
    const found = members.get(name)
    return found && bytes.subarray(found.start, found.end)
  }
  const [run, events, seal, heads, digest] = ["run", "canonicalEvents", "seal", "heads", "digest"].map(span)
  if (run === undefined || events === undefined) return mismatch("it is not the export of a run")
  if (seal === undefined || heads === undefined || digest === undefined) return mismatch(UNSEALED)
  const covered = (members.get("digest")?.start ?? 0) - DIGEST_MEMBER.length
  const records = recordsOf(run, span)
  const frames = elementsOf(span("rawEvents") ?? NO_LIST)
  const [marks, salts, erasures] = ["marks", "salts", "erasures"].map(span)
  return {
    ...{ format: "json", records, events: elementsOf(events), frames, marks, seal, heads, salts, erasures, digest },
    covered
  }
}

const recordsOf = (run: Uint8Array, span: (name: string) => Uint8Array | undefined): Records => ({
  run,
  session: span("session") ?? NOTHING,
  projection: span("projection") ?? NOTHING,
  metrics: span("metrics") ?? NOTHING,
  artifacts: elementsOf(span("artifacts") ?? NO_LIST)
})

const HEADER = '{"type":"header",'
const SEAL_LINE = '{"type":"seal",'
const DIGEST_LINE = '{"type":"digest",'
const RAW_LINE = '{"type":"raw_event",'
const NEWLINE = 0x0a

const partsOfLines = (bytes: Uint8Array): Parts | Mismatch => {
  if (bytes.at(-1) !== NEWLINE) return mismatch("its last line is cut off")
  const digestAt = lineBefore(bytes, bytes.length)
  const sealAt = lineBefore(bytes, digestAt)
  const bodyAt = bytes.indexOf(NEWLINE) + 1
  if (sealAt < bodyAt || !startsWith(bytes, digestAt, DIGEST_LINE) || !startsWith(bytes, sealAt, SEAL_LINE)) {
    return mismatch(UNSEALED)
  }
  const header = memberSpans(bytes.subarray(0, bodyAt - 1))
  const proof = memberSpans(bytes.subarray(sealAt, digestAt - 1))
  const run = header?.get("run")
  const marks = header?.get("marks")
  const proofSpan = (name: string): Uint8Array | undefined => {
    const found = proof?.get(name)
    return found && bytes.subarray(sealAt + found.start, sealAt + found.end)
  }
  const [seal, heads, salts, erasures] = ["seal", "heads", "salts", "erasures"].map(proofSpan)
  if (run === undefined) return mismatch("its header cannot be read")
  if (seal === undefined || heads === undefined) return mismatch("its seal cannot be read")
  return {
    format: "jsonl",
    records: recordsOf(bytes.subarray(run.start, run.end), (name) => {
      const found = header?.get(name)
      return found && bytes.subarray(found.start, found.end)
    }),
    events: eventsOfLines(bytes.subarray(bodyAt, sealAt)),
    frames: framesOfLines(bytes.subarray(bodyAt, sealAt)),
    marks: marks && bytes.subarray(marks.start, marks.end),
    ...{ seal, heads, salts, erasures },
    digest: bytes.subarray(digestAt, bytes.length - 1),
    covered: digestAt
  }
}

/** Where the line begins whose end, with its newline, is here. */
const lineBefore = (bytes: Uint8Array, end: number): number => (end < 2 ? 0 : bytes.lastIndexOf(NEWLINE, end - 2) + 1)

const NO_EVENT = new Uint8Array()
const utf8 = new TextEncoder()

/** The texts of the events; a line that is neither an event nor a raw event counts as an unreadable event. */
const eventsOfLines = function* (lines: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start)
    if (!startsWith(lines, start, RAW_LINE)) {
      const line = textOf(lines.subarray(start, end))
      const text = line === undefined ? undefined : storedText(line)
      yield text === undefined ? NO_EVENT : utf8.encode(text)
    }
    start = end + 1
  }
}

const framesOfLines = function* (lines: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start)
    if (startsWith(lines, start, RAW_LINE)) yield lines.subarray(start, end)
    start = end + 1
  }
}

const startsWith = (bytes: Uint8Array, at: number, ascii: string): boolean => {
  for (let offset = 0; offset < ascii.length; offset++) {
    if (bytes[at + offset] !== ascii.charCodeAt(offset)) return false
  }
  return true
}

const decodeRun = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Struct({ id: Schema.String })))
const decodeSeal = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.NullOr(Seal)))
const decodeHeads = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Array(Schema.String)))
const decodeSalts = Schema.decodeUnknownResult(Schema.fromJsonString(ExportSalts), { onExcessProperty: "error" })
const decodeDigest = Schema.decodeUnknownResult(Schema.fromJsonString(ExportDigest))
