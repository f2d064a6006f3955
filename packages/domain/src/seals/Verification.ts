import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { MemberSalts } from "./MemberSalts.ts"
import type { Seal, SignatureCheck } from "./Seal.ts"

/** A part of a history that does not match its seal, or that nothing proves for want of a key. */
export interface Mismatch {
  readonly ok: false
  /** `index` of the first event that does not fit; absent when the fault is elsewhere. */
  readonly index?: number
  readonly why: string
  /**
   * Only of a signature whose key is not among the known ones: the id of that key. Nothing was found to be changed, and
   * nothing is proven.
   */
  readonly unknownKey?: string
}

/** An unsigned seal proves only that nothing was changed by accident: it needs no key. */
export type SignatureState = "valid" | "unsigned"

/**
 * The chain's head after each event, hexadecimal. With them the first event that does not fit is known even when only
 * its wording was changed; without them such a change is found, and not placed.
 */
export type Heads = ReadonlyArray<string>

/** A check of a history that reads one event at a time and keeps no event. */
export interface Walk<A> {
  /**
   * Takes the text of the next event as UTF-8, exactly as it was served, with its salts in version 2 of the chain;
   * returns the mismatch.
   */
  readonly take: (event: Uint8Array, salts?: MemberSalts) => Mismatch | undefined
  /** The result after the last event. */
  readonly end: () => A | Mismatch
}

/** How a chain begins, and how an event continues it; a text is why the event cannot. */
export interface Links {
  readonly start: Uint8Array
  readonly next: (
    head: Uint8Array,
    event: Uint8Array,
    index: number,
    salts: MemberSalts | undefined
  ) => Uint8Array | string
  /** What is wrong with an event whose head is another. */
  readonly reworded: string
}

export interface Walked {
  readonly ok: true
  readonly events: number
}

/** Begins a walk along a chain, up to the head that was sealed; without a seal up to where the history ends. */
export const startWalk = (
  { next, reworded: wording, start }: Links,
  runId: string,
  seal: Seal | undefined,
  heads: Heads | undefined
): Walk<Walked> => {
  let head = start
  let index = 0
  // Where the head beside an event is another. The head may be at fault, as only the end shows.
  let reworded: number | undefined
  const mismatch = (why: string, at?: number): Mismatch =>
    reworded === undefined
      ? { ok: false, ...(at !== undefined && { index: at }), why }
      : { ok: false, index: reworded, why: wording }
  return {
    take: (event, salts) => {
      index += 1
      const why = misplaced(event, runId, index)
      if (why !== undefined) return mismatch(why, index)
      if (seal !== undefined && index > seal.events) return mismatch(`the seal ends at event ${seal.events}`, index)
      const linked = next(head, event, index, salts)
      if (typeof linked === "string") return mismatch(linked, index)
      head = linked
      if (heads !== undefined && heads[index - 1] !== Hex.encode(head)) reworded ??= index
      if (seal?.previous?.events === index && seal.previous.head !== Hex.encode(head)) {
        return mismatch("up to here it is not what the seal before this one sealed", index)
      }
      return undefined
    },
    end: () => {
      if (seal !== undefined && index < seal.events) {
        return mismatch(`missing; ${seal.events} events were sealed`, index + 1)
      }
      if (seal !== undefined && seal.head !== Hex.encode(head)) {
        return mismatch("the events do not end in the head that was sealed")
      }
      if (seal === undefined && reworded !== undefined) return mismatch(wording, reworded)
      if (reworded !== undefined) {
        return { ok: false, why: `the head beside event ${reworded} is not that of the chain` }
      }
      if (heads !== undefined && heads.length !== index) return mismatch("there are more heads than events")
      return { ok: true, events: index }
    }
  }
}

const misplaced = (event: Uint8Array, runId: string, index: number): string | undefined => {
  const read = Result.getOrUndefined(decodePosition(textOf(event)))
  if (read === undefined) return "it is not an event"
  if (read.runId !== runId) return `it is of the run ${read.runId}`
  return read.index === index ? undefined : `it is event ${read.index} of its run`
}

const decodePosition = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ runId: Schema.String, index: Schema.Int }))
)

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Undefined for bytes that are not UTF-8, or too many for a text. */
export const textOf = (bytes: Uint8Array): string | undefined =>
  Result.getOrUndefined(Result.try(() => strict.decode(bytes)))

/** What is signed, as far as its signature is concerned. */
interface Signed {
  readonly algorithm: Seal["algorithm"]
  readonly keyId: string | null
  readonly signature: string | null
}

/** Whether the signature over a message is its key's; `what` is the name of the signed object in the answer. */
export const signatureOf = (
  check: SignatureCheck,
  { algorithm, keyId, signature }: Signed,
  message: Uint8Array,
  what: string
): SignatureState | Mismatch => {
  if (algorithm === "sha256") {
    return keyId === null && signature === null
      ? "unsigned"
      : { ok: false, why: `the ${what} says that it is unsigned, and has a signature` }
  }
  const bytes = signature === null ? undefined : Result.getOrUndefined(Hex.decode(signature))
  if (keyId === null || bytes === undefined || Hex.encode(bytes) !== signature) {
    return { ok: false, why: `the signature of the ${what} cannot be read` }
  }
  const isValid = check(keyId, message, bytes)
  if (isValid === undefined) {
    return { ok: false, why: `the key ${keyId} that signed the ${what} is not known`, unknownKey: keyId }
  }
  return isValid ? "valid" : { ok: false, why: `the signature of the ${what} is not its key's` }
}
