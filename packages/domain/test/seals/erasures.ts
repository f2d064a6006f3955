import { type CanonicalEvent, decodeEventText, erasableInEvent, erasedEvent } from "@runplane/domain"
import * as Result from "effect/Result"
import { textOf } from "../support/events.ts"

/** The bytes of a text, and the text of bytes. */
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const read = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export const ERASED = { at: "2026-09-01T08:00:00.000Z", reason: "request of the person" }

/** The pointers of all erasable members of a text. */
export const erasableIn = (text: string): ReadonlyArray<string> =>
  (erasableInEvent(bytesOf(text)) ?? []).map(({ pointer }) => pointer)

/** The served text of an event after the erasure of these members, all erasable ones by default. */
export const erase = (text: string, pointers = erasableIn(text)): string => {
  const erased = erasedEvent(
    bytesOf(text),
    pointers.map((pointer) => ({ pointer, ...ERASED }))
  )
  if (erased === undefined) throw new Error(`not erasable: ${pointers.join(", ")}`)
  return read(erased)
}

/** An event after the erasure of all that is erasable in it. */
export const whollyErased = (event: CanonicalEvent): CanonicalEvent =>
  Result.getOrThrow(decodeEventText(erase(textOf(event))))
