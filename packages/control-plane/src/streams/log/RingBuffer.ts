import type { StoredEvent } from "../../event-log/EventRepository.ts"
import { SharedFrames } from "../SharedFrames.ts"
import { canonicalEventFrame } from "../SseFrames.ts"

/** Bytes of frames in the buffers of all searches together. */
export const BUFFER_BYTES = 32 * 1024 * 1024
/** Parts of one buffer; a read walks through all of them. */
const CAPACITY = 2_048
/** Bytes that one read returns, or one part. */
const READ_BYTES = 256 * 1024

/** Frames that all subscribers share, and the seq up to which nothing else matches. */
export interface BufferedFrames {
  readonly upTo: number
  readonly frames: ReadonlyArray<SharedFrames>
}

/** Consecutive events; a part begins where the one before it ends. */
interface Part {
  readonly upTo: number
  readonly seqs: ReadonlyArray<number>
  /** The offset behind the frame of each event. */
  readonly ends: ReadonlyArray<number>
  readonly frames: SharedFrames
}

/** The frames of events, and the offset behind each. */
export const framesOf = (events: ReadonlyArray<StoredEvent>) => {
  const frames = events.map((event) => Buffer.from(canonicalEventFrame(event)))
  let end = 0
  const ends = frames.map(({ length }) => {
    end += length
    return end
  })
  return { ends, frames: new SharedFrames(frames) }
}

/**
 * The frames at the end of the log that match one search (docs/reference/streams.md#log-stream), bounded in bytes. Each
 * subscriber has its own position, so a slow one costs no memory: it receives many frames at once, and reads the
 * database when its position is before the start of the buffer.
 */
export class RingBuffer {
  #parts: Array<Part> = []
  #bytes = 0
  /** The buffer has every match behind this seq; undefined before the first read of the log. */
  #start: number | undefined
  #end = 0
  #restores = 0

  get start(): number | undefined {
    return this.#start
  }

  /** The seq up to which the log was read. */
  get end(): number {
    return this.#end
  }

  /** How often the log was restored from a backup. */
  get restores(): number {
    return this.#restores
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Sets the start and the end of an empty buffer. */
  begin(at: number): void {
    this.#start ??= at
    this.#end = Math.max(this.#end, at)
  }

  /** Removes all events, because the log was restored from a backup. */
  empty(): void {
    this.#parts = []
    this.#bytes = 0
    this.#start = undefined
    this.#end = 0
    this.#restores += 1
  }

  /** Adds all matches behind the end, up to a seq. */
  push(upTo: number, events: ReadonlyArray<StoredEvent>, maxBytes: number): void {
    this.#end = upTo
    if (events.length > 0) {
      const part = { upTo, seqs: events.map(({ seq }) => seq), ...framesOf(events) }
      this.#parts.push(part)
      this.#bytes += bytesOf(part)
    }
    this.trim(maxBytes)
  }

  /** Removes the oldest parts until the buffer has at most this many bytes. */
  trim(maxBytes: number): void {
    let removed = 0
    while (this.#bytes > maxBytes || this.#parts.length - removed > CAPACITY) {
      const oldest = this.#parts[removed]
      if (oldest === undefined) break
      this.#bytes -= bytesOf(oldest)
      this.#start = oldest.upTo
      removed += 1
    }
    if (removed > 0) this.#parts = this.#parts.slice(removed)
  }

  /** The frames behind a seq; undefined when the buffer starts after it. */
  behind(seq: number): BufferedFrames | undefined {
    if (this.#start === undefined) return { upTo: 0, frames: [] }
    if (seq < this.#start) return undefined
    let index = this.#parts.length
    while (index > 0 && (this.#parts[index - 1]?.upTo ?? 0) > seq) index -= 1
    const frames: Array<SharedFrames> = []
    let bytes = 0
    for (let part = this.#parts[index]; part !== undefined; part = this.#parts[++index]) {
      const behind = framesBehind(part, seq)
      if (frames.length > 0 && bytes + behind.bytes.length > READ_BYTES) {
        return { upTo: this.#parts[index - 1]?.upTo ?? seq, frames }
      }
      if (behind.bytes.length > 0) frames.push(behind)
      bytes += behind.bytes.length
    }
    return { upTo: this.#end, frames }
  }
}

const bytesOf = ({ frames }: Part): number => frames.bytes.length

const framesBehind = ({ ends, frames, seqs }: Part, seq: number): SharedFrames => {
  if ((seqs[0] ?? 0) > seq) return frames
  const next = seqs.findIndex((known) => known > seq)
  return new SharedFrames(next < 0 ? [] : [frames.bytes.subarray(ends[next - 1] ?? 0)])
}
