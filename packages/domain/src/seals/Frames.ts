import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { isJsonObject } from "../values/JsonReader.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { chainNext, eventBytes, framesStart, frameText } from "./Chain.ts"
import { digestedFrame, digestedFramesStart, digestedNext, type MemberSalts } from "./DigestedText.ts"
import type { ErasureEntry } from "./ErasureChain.ts"
import { memberSpans } from "./JsonSpans.ts"
import type { SealedFrames } from "./Seal.ts"
import type { Links, Mismatch } from "./Verification.ts"

/** A raw frame is stored without an id of its own; this one (a UUID of version 8) is the same in every export. */
export const rawEventId = (sha256: Sha256, runId: string, seq: number): string => {
  const hex = Hex.encode(sha256(eventBytes(`${runId} ${seq}`)))
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-"
  )
}

/** What of the raw frames in an export no seal proves; undefined when all of them are proven. */
export interface FramesChecked {
  readonly ok: true
  readonly unproven: string | undefined
}

/**
 * Walks along the chain of the raw frames in an export (docs/reference/seal.md#proof). Frames that are not in the
 * export, and those that the seal does not cover, are named.
 */
export const checkFrames = (
  sha256: Sha256,
  runId: string,
  frames: Iterable<Uint8Array>,
  sealed: SealedFrames | undefined
): FramesChecked | Mismatch =>
  walkFrames(sha256, runId, frames, sealed, {
    start: framesStart(sha256, runId),
    next: (head, frame) => chainNext(sha256, head, frame)
  })

/** What proves the raw frames of a run whose texts can be erased. */
export interface FrameProof {
  /** The salts of each frame. */
  readonly salts: ReadonlyArray<MemberSalts>
  /** The erasures of the run. */
  readonly entries: ReadonlyArray<ErasureEntry>
}

/**
 * Walks along version 2 of the chain of the raw frames. A frame without its bytes has an entry, and no runtime's
 * signature over them can be computed again: the entries say which.
 */
export const checkDigestedFrames = (
  sha256: Sha256,
  runId: string,
  frames: Iterable<Uint8Array>,
  sealed: SealedFrames | undefined,
  { entries, salts }: FrameProof
): FramesChecked | Mismatch => {
  const erased = new Map<number, Map<string, string>>()
  for (const { digest, index, pointer, target } of entries) {
    if (target === "frame") erased.set(index, (erased.get(index) ?? new Map()).set(pointer, digest))
  }
  return walkFrames(sha256, runId, frames, sealed, {
    start: digestedFramesStart(sha256, runId),
    next: (head, frame, seq) => {
      const own = salts[seq - 1]
      if (own === undefined) return "its salts are missing"
      return Result.match(digestedFrame(sha256, frame, own, erased.get(seq)), {
        onFailure: (why) => why,
        onSuccess: (text) => digestedNext(sha256, head, text)
      })
    }
  })
}

const walkFrames = (
  sha256: Sha256,
  runId: string,
  frames: Iterable<Uint8Array>,
  sealed: SealedFrames | undefined,
  { next, start }: Pick<Links, "next" | "start">
): FramesChecked | Mismatch => {
  let head = start
  let count = 0
  for (const bytes of frames) {
    count += 1
    const text = textOfFrame(sha256, runId, count, bytes)
    if (text === undefined) return { ok: false, why: `raw frame ${count} is not the one at its position` }
    const linked = next(head, eventBytes(text), count)
    if (typeof linked === "string") return { ok: false, why: `raw frame ${count} does not fit: ${linked}` }
    if (sealed === undefined || count <= sealed.after || count > sealed.last) continue
    head = linked
    if (count === sealed.last && Hex.encode(head) !== sealed.head) {
      return { ok: false, why: "the raw frames are not those that were sealed" }
    }
  }
  return { ok: true, unproven: unprovenFrames(count, sealed) }
}

const unprovenFrames = (count: number, sealed: SealedFrames | undefined): string | undefined => {
  if (sealed === undefined) return "raw frames: the seal does not cover them"
  if (count < sealed.last) return `raw frames: the export holds ${count} of ${sealed.last}`
  if (sealed.after > 0) return `raw frames 1 to ${sealed.after}: the seal does not cover them`
  return count > sealed.last ? `raw frames behind ${sealed.last}: they came after the seal` : undefined
}

const utf8 = new TextDecoder()

const textOfFrame = (sha256: Sha256, runId: string, seq: number, bytes: Uint8Array): string | undefined => {
  const payload = memberSpans(bytes)?.get("payload")
  const frame = Result.getOrUndefined(Result.try((): Schema.Json => JSON.parse(utf8.decode(bytes))))
  if (payload === undefined || !isJsonObject(frame)) return undefined
  const { createdAt, id, kind, sourceName, ts } = frame
  if (frame["runId"] !== runId || frame["seq"] !== seq || createdAt !== ts || id !== rawEventId(sha256, runId, seq)) {
    return undefined
  }
  if (typeof ts !== "string" || typeof kind !== "string" || typeof sourceName !== "string") return undefined
  return frameText({ seq, ts, kind, sourceName }, utf8.decode(bytes.subarray(payload.start, payload.end)))
}
