import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { canonicalJson } from "./CanonicalJson.ts"
import { chainNext, chainStart, type Sha256 } from "./Chain.ts"
import { Seal, type SignatureCheck, signedBytes } from "./Seal.ts"

/** What the check of a history against its seal found. */
export type Verification =
  | {
      readonly ok: true
      readonly events: number
      /** An unsigned seal proves only that nothing was changed by accident: anybody can make one. */
      readonly signature: "valid" | "unsigned"
    }
  | {
      readonly ok: false
      /** The first event that does not fit, by its place in the run; absent when only the seal can be blamed. */
      readonly index?: number
      readonly why: string
    }

export interface Sealed {
  readonly seal: Seal
  /** The text of each event as UTF-8, exactly as it was served, in order. */
  readonly events: Iterable<Uint8Array>
  /**
   * The chain's head after each event, hexadecimal. With them the first event that does not fit is known even when only
   * its wording was changed; without them such a change is found, and not placed.
   */
  readonly heads?: ReadonlyArray<string>
}

/** Checks a history against its seal; one event is held at a time. */
export const verifySealed = (sha256: Sha256, check: SignatureCheck, { events, heads, seal }: Sealed): Verification => {
  let head = chainStart(sha256, seal.runId)
  let index = 0
  for (const event of events) {
    index += 1
    const misfit = misfitOf(event, seal.runId, index)
    if (misfit !== undefined) return { ok: false, index, why: misfit }
    if (index > seal.events) return { ok: false, index, why: `the seal ends at event ${seal.events}` }
    head = chainNext(sha256, head, event)
    if (heads !== undefined && heads[index - 1] !== Hex.encode(head)) {
      return { ok: false, index, why: "its text is not the one that was sealed" }
    }
    if (seal.previous?.events === index && seal.previous.head !== Hex.encode(head)) {
      return { ok: false, index, why: "up to here it is not what the seal before this one sealed" }
    }
  }
  if (index < seal.events) return { ok: false, index: index + 1, why: `missing; ${seal.events} events were sealed` }
  if (heads !== undefined && heads.length !== index) return { ok: false, why: "there are more heads than events" }
  if (seal.head !== Hex.encode(head)) return { ok: false, why: "the events do not end in the head that was sealed" }
  return signatureOf(check, seal)
}

const misfitOf = (event: Uint8Array, runId: string, index: number): string | undefined => {
  const read = Result.getOrUndefined(decodePlace(textOf(event)))
  if (read === undefined) return "it is not an event"
  if (read.runId !== runId) return `it is of the run ${read.runId}`
  return read.index === index ? undefined : `it is event ${read.index} of its run`
}

const decodePlace = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ runId: Schema.String, index: Schema.Int }))
)

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Undefined for bytes that are no UTF-8. */
const textOf = (bytes: Uint8Array): string | undefined => Result.getOrUndefined(Result.try(() => strict.decode(bytes)))

const signatureOf = (check: SignatureCheck, seal: Seal): Verification => {
  const { algorithm, events, keyId, signature } = seal
  if (algorithm === "sha256") {
    return keyId === null && signature === null
      ? { ok: true, events, signature: "unsigned" }
      : { ok: false, why: "the seal says that it is unsigned, and has a signature" }
  }
  const bytes = signature === null ? undefined : Result.getOrUndefined(Hex.decode(signature))
  if (keyId === null || bytes === undefined || Hex.encode(bytes) !== signature) {
    return { ok: false, why: "the seal's signature cannot be read" }
  }
  const isValid = check(keyId, signedBytes(seal), bytes)
  if (isValid === undefined) return { ok: false, why: `the key ${keyId} that sealed it is not known` }
  return isValid
    ? { ok: true, events, signature: "valid" }
    : { ok: false, why: "the seal's signature is not its key's" }
}

const SealLine = Schema.Struct({ seal: Seal, heads: Schema.Array(Schema.String) })

/** The last line of a sealed export of one event a line. */
export const sealLine = (seal: Seal, heads: ReadonlyArray<string>): string => canonicalJson({ seal, heads })

/**
 * Checks an export of one event a line, the seal on the last. Every byte counts, the line ends and the form of the
 * seal included.
 */
export const verifyLines = (sha256: Sha256, check: SignatureCheck, bytes: Uint8Array): Verification => {
  const end = bytes.length - 1
  if (bytes[end] !== NEWLINE) return { ok: false, why: "the last line is cut off" }
  const start = bytes.lastIndexOf(NEWLINE, end - 1) + 1
  const text = textOf(bytes.subarray(start, end))
  const read = Result.getOrUndefined(decodeLine(text))
  if (read === undefined) return { ok: false, why: "the last line is no seal" }
  if (sealLine(read.seal, read.heads) !== text) return { ok: false, why: "the seal is not in its canonical form" }
  return verifySealed(sha256, check, { ...read, events: linesIn(bytes.subarray(0, start)) })
}

const NEWLINE = 0x0a

const decodeLine = Schema.decodeUnknownResult(Schema.fromJsonString(SealLine))

const linesIn = function* (bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start)
    yield bytes.subarray(start, end)
    start = end + 1
  }
}
