import type { RawFrame } from "@runplane/domain"
import type { ObservedFrame } from "./AppendRequest.ts"

/** Memory of a frame without its content: objects, ids, times. */
const OVERHEAD_BYTES = 512

/**
 * A frame with its size as the bounds of the log count it: its texts and payload, and a constant besides.
 * `receivedAt` is the time of its reception, ISO-8601.
 */
export const observed = (frame: RawFrame, receivedAt: string): ObservedFrame => ({
  frame,
  receivedAt,
  bytes: OVERHEAD_BYTES + contentBytes(frame)
})

const contentBytes = (frame: RawFrame): number => {
  switch (frame.kind) {
    case "stream-envelope": {
      const { messageId, messageType, mode, payload, sender } = frame.envelope
      return payload.length + messageId.length + messageType.length + mode.length + sender.length
    }
    case "stream-inline-error":
      return frame.error.details.length + frame.error.message.length + frame.error.code.length
    case "send-ack":
      return (frame.ack.error?.details.length ?? 0) + (frame.ack.error?.message.length ?? 0)
    case "session-snapshot":
      return frame.snapshot.participants.reduce((sum, participant) => sum + 2 * participant.length, 0)
    case "stream-status":
      return frame.detail?.length ?? 0
  }
}

export const totalBytes = (frames: ReadonlyArray<ObservedFrame>): number =>
  frames.reduce((sum, { bytes }) => sum + bytes, 0)

/** Parts in their order, each of at most `most` bytes; a larger frame is a part by itself. */
export const partsOfBytes = <A extends ObservedFrame>(
  frames: ReadonlyArray<A>,
  most: number
): ReadonlyArray<ReadonlyArray<A>> => {
  const parts: Array<Array<A>> = []
  let left = 0
  for (const frame of frames) {
    const { bytes } = frame
    const part = parts.at(-1)
    if (part === undefined || bytes > left) {
      parts.push([frame])
      left = most - bytes
    } else {
      part.push(frame)
      left -= bytes
    }
  }
  return parts
}
