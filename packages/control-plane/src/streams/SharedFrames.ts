/**
 * Without this: 200 clients of the log take 10.2 s of CPU in 12 s instead of 7.0 (docs/internals/scale.md), because
 * each batch wakes the fiber of each client, and the HTTP server frames it for each; costs this file
 * (docs/reference/streams.md#one-write).
 */
const LINE_END = "\r\n"

/** Frames that many clients receive, encoded once, as one chunk of HTTP/1.1 that a socket sends in one write. */
export class SharedFrames {
  /** The frames with the transfer coding around them. */
  readonly chunk: Uint8Array
  /** The frames alone: a view of the same memory. */
  readonly bytes: Uint8Array

  constructor(frames: ReadonlyArray<string | Uint8Array>) {
    const parts = frames.map((frame) => (typeof frame === "string" ? Buffer.from(frame) : frame))
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const size = Buffer.from(`${length.toString(16)}${LINE_END}`)
    const chunk = Buffer.concat([size, ...parts, Buffer.from(LINE_END)])
    // An empty chunk would end the stream.
    this.chunk = length === 0 ? chunk.subarray(0, 0) : chunk
    this.bytes = chunk.subarray(size.length, size.length + length)
  }
}

/** A function of an object that computes its result once for each object. */
export const memoized = <Key extends WeakKey, A>(make: (key: Key) => A): ((key: Key) => A) => {
  const results = new WeakMap<Key, { readonly value: A }>()
  return (key) => {
    const known = results.get(key) ?? { value: make(key) }
    results.set(key, known)
    return known.value
  }
}
