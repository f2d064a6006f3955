import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { isJsonObject } from "../values/JsonReader.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { chainNext, eventBytes, framesStart, frameText } from "./Chain.ts"
import { digestedFrame, digestedFramesStart, digestedNext } from "./DigestedText.ts"
import type { ErasureEntry } from "./ErasureChain.ts"
import { memberSpans } from "./JsonSpans.ts"
import type { MemberSalts } from "./MemberSalts.ts"
import type { SealedFrames } from "./Seal.ts"
import type { Links, Mismatch } from "./Verification.ts"

/** A raw frame is stored without an id of its own; this one (a UUID of version 8) is the same in every export. */
export const rawEventId = (sha256: Sha256, runId: string, seq: number): string => {
  const hex = Hex.encode(sha256(eventBytes(`${runId} ${seq}`)))
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-"
  )
}

/** The raw frames of an export, checked. */
export interface FramesChecked {
  readonly ok: true
  /** What of them no seal proves; undefined when all of them are proven. */
  readonly unproven: string | undefined
  /** The frames with erased values, in their order. */
  readonly erased: ReadonlyArray<number>
}

/** What proves the raw frames of a run whose texts can be erased. */
export interface FrameProof {
  /** The salts of each frame. */
  readonly salts: ReadonlyArray<MemberSalts>
  /** The erasures of the run. */
  readonly entries: ReadonlyArray<ErasureEntry>
}

/**
 * Walks along the chain of the raw frames in an export (docs/reference/seal.md#proof); with a proof along version 2 of
 * it. Frames that are not in the export, and those that the seal does not cover, are named. The bytes of an envelope
 * are one member: where they were erased, no runtime's signature over them can be computed again.
 */
export const checkFrames = (
  sha256: Sha256,
  runId: string,
  frames: Iterable<Uint8Array>,
  sealed: SealedFrames | undefined,
  proof?: FrameProof
): FramesChecked | Mismatch => {
  if (proof === undefined) {
    const next: Links["next"] = (head, frame) => chainNext(sha256, head, frame)
    return walkFrames(sha256, runId, frames, sealed, { start: framesStart(sha256, runId), next })
  }
  const { entries, salts } = proof
  const erased = new Map<number, Map<string, string>>()
  for (const { digest, index, pointer, target } of entries) {
    if (target === "frame") erased.set(index, (erased.get(index) ?? new Map()).set(pointer, digest))
  }
  const found = walkFrames(sha256, runId, frames, sealed, {
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
  if (!found.ok) return found
  if (salts.length > found.count) return { ok: false, why: "there are more salts of raw frames than raw frames" }
  const beyond = [...erased.keys()].find((seq) => seq > found.count)
  if (beyond !== undefined && sealed !== undefined && found.count >= sealed.last) {
    return { ok: false, why: `raw frame ${beyond} is missing; an entry erases a member of it` }
  }
  return { ...found, erased: [...erased.keys()].filter((seq) => seq <= found.count).sort((one, other) => one - other) }
}

const walkFrames = (
  sha256: Sha256,
  runId: string,
  frames: Iterable<Uint8Array>,
  sealed: SealedFrames | undefined,
  { next, start }: Pick<Links, "next" | "start">
): (FramesChecked & { readonly count: number }) | Mismatch => {
  let head = start
  let count = 0
  for (const bytes of frames) {
    count += 1
    const text = textOfFrame(sha256, runId, count, bytes)
    if (text === undefined) return { ok: false, why: `raw frame ${count} is not the one at its position` }
    const linked = next(head, eventBytes(text), count, undefined)
    if (typeof linked === "string") return { ok: false, why: `raw frame ${count} does not fit: ${linked}` }
    if (sealed === undefined || count <= sealed.after || count > sealed.last) continue
    head = linked
    if (count === sealed.last && Hex.encode(head) !== sealed.head) {
      return { ok: false, why: "the raw frames are not those that were sealed" }
    }
  }
  return { ok: true, count, unproven: unprovenFrames(count, sealed), erased: [] }
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
