import type { Sha256 } from "../values/Sha256.ts"

const PREFIX = "runplane-seal-v1\n"
const utf8 = new TextEncoder()

/** The head of a run without events. */
export const chainStart = (sha256: Sha256, runId: string): Uint8Array => sha256(utf8.encode(PREFIX + runId))

/** The head after one more event: its text as UTF-8, exactly as it is served. */
export const chainNext = (sha256: Sha256, head: Uint8Array, event: Uint8Array): Uint8Array => sha256(head, event)

/** The head of the chain of raw frames before its first one. */
export const framesStart = (sha256: Sha256, runId: string): Uint8Array =>
  sha256(utf8.encode(`runplane-frames-v1\n${runId}`))

/** What of a raw frame enters its chain: its members, and its payload's text exactly as it is exported. */
export const frameText = (
  frame: { readonly seq: number; readonly ts: string; readonly kind: string; readonly sourceName: string },
  payload: string
): string => `[${JSON.stringify([frame.seq, frame.ts, frame.kind, frame.sourceName]).slice(1, -1)},${payload}]`

/** The bytes of an event's text, as they enter the chain. */
export const eventBytes = (text: string): Uint8Array => utf8.encode(text)
