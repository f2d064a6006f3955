const LINE_END = "\r\n"

/**
 * Frames of an event stream as bytes for many clients, made once. They are kept as one chunk of HTTP/1.1, so
 * that a socket takes all of it in one write (docs/reference/http.md#one-write).
 */
export class SharedFrames {
  /** The frames with the transfer coding around them. */
  readonly chunk: Uint8Array
  /** The frames alone: a part of the same memory. */
  readonly bytes: Uint8Array

  constructor(frames: ReadonlyArray<string | Uint8Array>) {
    const parts = frames.map((frame) => (typeof frame === "string" ? Buffer.from(frame) : frame))
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const size = Buffer.from(`${length.toString(16)}${LINE_END}`)
    const chunk = Buffer.concat([size, ...parts, Buffer.from(LINE_END)])
    // A chunk of nothing would be the end of the stream.
    this.chunk = length === 0 ? chunk.subarray(0, 0) : chunk
    this.bytes = chunk.subarray(size.length, size.length + length)
  }
}
