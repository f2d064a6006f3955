import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import type { Sha256 } from "../values/Sha256.ts"
import { memberDigest, memberSalt, SALT_BYTES } from "./Disclosure.ts"
import { type ErasableSpan, erasableInEvent, erasableInFrame, replaceSpans } from "./ErasableSpans.ts"
import type { Span } from "./JsonSpans.ts"
import type { MemberSalts } from "./MemberSalts.ts"
import { textOf } from "./Verification.ts"

/** The digests of erased members, by their pointers. */
export type ErasedDigests = ReadonlyMap<string, string>

const NOTHING_ERASED: ErasedDigests = new Map()

const utf8 = new TextEncoder()

/** The head of version 2 of the chain of a run without events. */
export const digestedStart = (sha256: Sha256, runId: string): Uint8Array =>
  sha256(utf8.encode(`runplane-seal-v2\n${runId}`))

/** The head of version 2 of the chain of raw frames before its first one. */
export const digestedFramesStart = (sha256: Sha256, runId: string): Uint8Array =>
  sha256(utf8.encode(`runplane-frames-v2\n${runId}`))

/**
 * The head after one more event or frame, in version 2 of both chains: SHA-256 over the head before and the SHA-256 of
 * the digested text.
 */
export const digestedNext = (sha256: Sha256, head: Uint8Array, digested: Uint8Array): Uint8Array =>
  sha256(head, sha256(digested))

/**
 * The digested text of an event: its text as it is served, without its member `erased`, in which the text of each
 * erasable value is its digest in quotes. It is the same before an erasure, when the digest is computed, and after,
 * when it is that of the entry of the erasure. A failure is what does not fit.
 */
export const digestedEvent = (
  sha256: Sha256,
  event: Uint8Array,
  salts: MemberSalts,
  erased: ErasedDigests = NOTHING_ERASED
): Result.Result<Uint8Array, string> =>
  digestedText(sha256, { bytes: event, spans: erasableInEvent(event) }, salts, erased)

/** The digested text of a raw frame, from its text as `frameText` writes it. */
export const digestedFrame = (
  sha256: Sha256,
  frame: Uint8Array,
  salts: MemberSalts,
  erased: ErasedDigests = NOTHING_ERASED
): Result.Result<Uint8Array, string> =>
  digestedText(sha256, { bytes: frame, spans: erasableInFrame(frame) }, salts, erased)

/** The digest of an erased member, and the salts that are kept after its erasure: never the seed. */
export interface MemberErasure {
  readonly digest: string
  readonly salts: MemberSalts
}

/** The erasure of a member of an event; undefined where the event has no such erasable member with a salt. */
export const eventErasure = (
  sha256: Sha256,
  event: Uint8Array,
  salts: MemberSalts,
  pointer: string
): MemberErasure | undefined => erasureIn(sha256, { bytes: event, spans: erasableInEvent(event) }, salts, pointer)

/** The erasure of a member of a raw frame, from its text as `frameText` writes it. */
export const frameErasure = (
  sha256: Sha256,
  frame: Uint8Array,
  salts: MemberSalts,
  pointer: string
): MemberErasure | undefined => erasureIn(sha256, { bytes: frame, spans: erasableInFrame(frame) }, salts, pointer)

const erasureIn = (
  sha256: Sha256,
  { bytes, spans = [] }: SpannedText,
  salts: MemberSalts,
  pointer: string
): MemberErasure | undefined => {
  const salt = saltsOf(sha256, salts)
  const erased = spans.find((span) => span.pointer === pointer)
  const own = salt?.(pointer)
  if (salt === undefined || erased === undefined || own === undefined) return undefined
  const kept = spans.flatMap((span): ReadonlyArray<readonly [string, string]> => {
    const other = span.pointer === pointer ? undefined : salt(span.pointer)
    return other === undefined ? [] : [[span.pointer, other]]
  })
  return {
    digest: memberDigest(sha256, own, pointer, bytes.subarray(erased.start, erased.end)),
    salts: Object.fromEntries(kept)
  }
}

interface SpannedText {
  readonly bytes: Uint8Array
  readonly spans: ReadonlyArray<ErasableSpan> | undefined
}

const digestedText = (
  sha256: Sha256,
  { bytes, spans }: SpannedText,
  salts: MemberSalts,
  erased: ErasedDigests
): Result.Result<Uint8Array, string> => {
  if (spans === undefined) return Result.fail("it cannot be read")
  const salt = saltsOf(sha256, salts)
  if (salt === undefined) return Result.fail("its seed cannot be read")
  const fault = faultOf(bytes, spans, salts, erased)
  if (fault !== undefined) return Result.fail(fault)
  const digests = new Map<ErasableSpan, string>()
  for (const span of spans) {
    const { end, pointer, start } = span
    const own = salt(pointer)
    const digest = erased.get(pointer) ?? (own && memberDigest(sha256, own, pointer, bytes.subarray(start, end)))
    if (digest === undefined) return Result.fail(`the salt of ${pointer} is missing`)
    digests.set(span, digest)
  }
  return Result.succeed(replaceSpans(bytes, spans, (span) => `"${digests.get(span) ?? ""}"`))
}

/** What of the erasures and the salts contradicts the text. */
const faultOf = (
  bytes: Uint8Array,
  spans: ReadonlyArray<ErasableSpan>,
  salts: MemberSalts,
  erased: ErasedDigests
): string | undefined => {
  const members = new Map(spans.map((span) => [span.pointer, span]))
  for (const pointer of erased.keys()) {
    const span = members.get(pointer)
    if (span === undefined) return `it has no erasable member ${pointer}, which an entry erases`
    if (!isGone(bytes, span)) return `${pointer} has a value, and an entry erases it`
  }
  if (typeof salts === "string") {
    return erased.size === 0 ? undefined : "it has the seed of its salts, and an entry erases a member of it"
  }
  const other = Object.keys(salts).find((pointer) => erased.has(pointer) || !members.has(pointer))
  return other === undefined ? undefined : `it has a salt of ${other}, which is not a member with a value`
}

/** Whether a value is what is in the position of an erased one. */
const isGone = (bytes: Uint8Array, { end, start }: Span): boolean => {
  const text = textOf(bytes.subarray(start, end))
  return text === '""' || text === "null"
}

/** The salt of each member; undefined for a seed that cannot be read. */
const saltsOf = (sha256: Sha256, salts: MemberSalts): ((pointer: string) => string | undefined) | undefined => {
  if (typeof salts !== "string") {
    const kept = new Map(Object.entries(salts))
    return (pointer) => kept.get(pointer)
  }
  const seed = Result.getOrUndefined(Base64Url.decode(salts))
  if (seed?.length !== SALT_BYTES || Base64Url.encode(seed) !== salts) return undefined
  return (pointer) => memberSalt(sha256, seed, pointer)
}
