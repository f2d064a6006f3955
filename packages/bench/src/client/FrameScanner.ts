const END = Buffer.from("\n\n")
const EVENT = Buffer.from("event: canonical_event\n")

/**
 * Counts the canonical events that begin in the chunks of a stream, and reads nothing else of them. Of a chunk it
 * keeps nothing, so that its bytes may be written over.
 */
export class EventCounter {
  readonly #tail = Buffer.alloc(EVENT.length - 1)
  #kept = 0
  #events = 0

  get events(): number {
    return this.#events
  }

  push(chunk: Buffer): void {
    const seam = Buffer.concat([this.#tail.subarray(0, this.#kept), chunk.subarray(0, EVENT.length - 1)])
    if (seam.includes(EVENT)) this.#events += 1
    for (let at = chunk.indexOf(EVENT); at >= 0; at = chunk.indexOf(EVENT, at + EVENT.length)) this.#events += 1
    const end = chunk.length >= this.#tail.length ? chunk : seam
    this.#kept = end.copy(this.#tail, 0, Math.max(0, end.length - this.#tail.length))
  }
}

/**
 * Finds the frames of an event stream (docs/reference/streams.md#stream) in the chunks of its socket. Works on bytes: a
 * reader of many streams cannot afford a text of every snapshot.
 */
export class FrameScanner {
  #rest: Buffer = Buffer.alloc(0)
  #frames = 0

  /** Frames of any kind so far. */
  get frames(): number {
    return this.#frames
  }

  /** The canonical events that end in this chunk, as the bytes of their frames. */
  push(chunk: Buffer): ReadonlyArray<Buffer> {
    const searchFrom = Math.max(0, this.#rest.length - END.length + 1)
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const events: Array<Buffer> = []
    let start = 0
    for (let end = bytes.indexOf(END, searchFrom); end >= 0; end = bytes.indexOf(END, start)) {
      this.#frames += 1
      if (bytes.subarray(start, start + EVENT.length).equals(EVENT)) events.push(bytes.subarray(start, end))
      start = end + END.length
    }
    this.#rest = bytes.subarray(start)
    return events
  }
}
