import type { ErasedMember } from "../events/ErasedMember.ts"
import { eventErasure, frameErasure, type MemberErasure } from "../seals/DigestedText.ts"
import { type ErasableSpan, erasableInEvent, erasableInFrame, replaceSpans } from "../seals/ErasableSpans.ts"
import { erasedEvent, servedEvent } from "../seals/ErasedEvent.ts"
import type { MemberSalts } from "../seals/MemberSalts.ts"
import type { Sha256 } from "../values/Sha256.ts"

/** A text with its salts, after the erasure of some members, and the digest of each of them in their order. */
export interface ErasedText {
  readonly text: Uint8Array
  readonly salts: MemberSalts
  readonly digests: ReadonlyArray<string>
}

/**
 * Erases members of an event as it is stored, which may have lost others before. Undefined where one of them is not an
 * erasable member with a value.
 */
export const withoutEventMembers = (
  sha256: Sha256,
  stored: Uint8Array,
  salts: MemberSalts,
  members: ReadonlyArray<ErasedMember>
): ErasedText | undefined => {
  const { erased, text } = servedEvent(stored)
  const found = digestsOf(members, salts, (pointer, left) => eventErasure(sha256, text, left, pointer))
  const served = erasedEvent(text, [...erased, ...members])
  return found === undefined || served === undefined ? undefined : { ...found, text: served }
}

/** The same for a raw frame, from its text as `frameText` writes it. Nothing beside the chain names its erasures. */
export const withoutFrameMembers = (
  sha256: Sha256,
  frame: Uint8Array,
  salts: MemberSalts,
  members: ReadonlyArray<Pick<ErasedMember, "pointer">>
): ErasedText | undefined => {
  const found = digestsOf(members, salts, (pointer, left) => frameErasure(sha256, frame, left, pointer))
  if (found === undefined) return undefined
  const pointers = new Set(members.map(({ pointer }) => pointer))
  const spans = (erasableInFrame(frame) ?? []).filter(({ pointer }) => pointers.has(pointer))
  return { ...found, text: replaceSpans(frame, spans, ({ start }) => (frame[start] === QUOTE ? '""' : "null")) }
}

const QUOTE = 0x22

const digestsOf = (
  members: ReadonlyArray<Pick<ErasedMember, "pointer">>,
  salts: MemberSalts,
  erase: (pointer: string, left: MemberSalts) => MemberErasure | undefined
): Omit<ErasedText, "text"> | undefined => {
  let left = salts
  const digests: Array<string> = []
  for (const { pointer } of members) {
    const erasure = erase(pointer, left)
    if (erasure === undefined) return undefined
    digests.push(erasure.digest)
    left = erasure.salts
  }
  return { salts: left, digests }
}

/** The texts of the erasable members of an event, without its member `erased`. */
export const eventMembers = (event: Uint8Array): ReadonlyMap<string, string> => membersOf(event, erasableInEvent(event))

/** Those of a raw frame. */
export const frameMembers = (frame: Uint8Array): ReadonlyMap<string, string> => membersOf(frame, erasableInFrame(frame))

const utf8 = new TextDecoder()

const membersOf = (bytes: Uint8Array, spans: ReadonlyArray<ErasableSpan> = []): ReadonlyMap<string, string> =>
  new Map(spans.map(({ end, pointer, start }) => [pointer, utf8.decode(bytes.subarray(start, end))]))
