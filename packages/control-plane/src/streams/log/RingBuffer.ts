import type { StoredEvent } from "../../event-log/EventRepository.ts"
import { canonicalEventFrame } from "../../event-log/subscribe/LiveBatch.ts"
import { SharedFrames } from "../../platform/http/SharedFrames.ts"

/** Bytes of frames that the windows of all searches hold together. */
export const WINDOWS_BYTES = 32 * 1024 * 1024
/** Stretches that one window holds; many small ones would make the way through them long. */
const WINDOW_STRETCHES = 2_048
/** A client is handed so many bytes at a time, or one stretch. */
const HANDED_BYTES = 256 * 1024

/** Frames, the same bytes for everybody who is sent them, and the seq up to which nothing else matches. */
export interface TailFrames {
  readonly upTo: number
  readonly frames: ReadonlyArray<SharedFrames>
}

/** A stretch of the log: it begins where the one before it ends. */
interface Stretch {
  readonly upTo: number
  readonly seqs: ReadonlyArray<number>
  /** Where the frame of each event ends in the bytes. */
  readonly ends: ReadonlyArray<number>
  readonly frames: SharedFrames
}

/** The frames of events, and where each ends. */
export const framesOf = (events: ReadonlyArray<StoredEvent>) => {
  const texts = events.map((event) => Buffer.from(canonicalEventFrame(event)))
  let end = 0
  const ends = texts.map(({ length }) => {
    end += length
    return end
  })
  return { ends, frames: new SharedFrames(texts) }
}

/**
 * The last stretch of the log as the followers of one search are sent it (docs/reference/http.md#log-stream), in so
 * many bytes at most. Each follower knows its own place, so one that is slow costs nothing here: it is handed all that
 * has come since at once, and reads the database only when its place is older than the window.
 */
export class RingBuffer {
  #stretches: Array<Stretch> = []
  #bytes = 0
  /** The window knows every match behind this seq; undefined before the first look at the log. */
  #start: number | undefined
  #end = 0
  #restarts = 0
  /** What was answered last, and where the window ended then. */
  #last: { readonly seq: number; readonly end: number; readonly frames: TailFrames } | undefined

  get start(): number | undefined {
    return this.#start
  }

  /** Up to where the log has been looked at. */
  get end(): number {
    return this.#end
  }

  /** How often the log was found to end before the window, because it was restored from a backup. */
  get restarts(): number {
    return this.#restarts
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The log is followed from here on. */
  begin(at: number): void {
    this.#start ??= at
    this.#end = Math.max(this.#end, at)
  }

  /** The log ends before the window, so the events in the window are not part of the log. */
  restart(): void {
    this.#stretches = []
    this.#bytes = 0
    this.#start = undefined
    this.#end = 0
    this.#last = undefined
    this.#restarts += 1
  }

  /** These events are all that match behind the end, up to a seq. */
  push(upTo: number, events: ReadonlyArray<StoredEvent>, mostBytes: number): void {
    this.#end = upTo
    if (events.length > 0) {
      const stretch = { upTo, seqs: events.map(({ seq }) => seq), ...framesOf(events) }
      this.#stretches.push(stretch)
      this.#bytes += bytesOf(stretch)
    }
    this.trim(mostBytes)
  }

  /** Lets go of the oldest stretches until no more than so many bytes are held. */
  trim(mostBytes: number): void {
    let gone = 0
    while (this.#bytes > mostBytes || this.#stretches.length - gone > WINDOW_STRETCHES) {
      const oldest = this.#stretches[gone]
      if (oldest === undefined) break
      this.#bytes -= bytesOf(oldest)
      this.#start = oldest.upTo
      gone += 1
    }
    if (gone === 0) return
    this.#stretches = this.#stretches.slice(gone)
    // Nothing that was let go is held for whoever asks next.
    this.#last = undefined
  }

  /** What comes behind a seq; undefined when the window does not know it any more. */
  behind(seq: number): TailFrames | undefined {
    if (this.#start === undefined) return { upTo: 0, frames: [] }
    if (seq < this.#start) return undefined
    // Nearly all of its followers stand at the same place.
    if (this.#last?.seq === seq && this.#last.end === this.#end) return this.#last.frames
    const frames = this.#framesBehind(seq)
    this.#last = { seq, end: this.#end, frames }
    return frames
  }

  #framesBehind(seq: number): TailFrames {
    let place = this.#stretches.length
    while (place > 0 && (this.#stretches[place - 1]?.upTo ?? 0) > seq) place -= 1
    const frames: Array<SharedFrames> = []
    let bytes = 0
    for (let stretch = this.#stretches[place]; stretch !== undefined; stretch = this.#stretches[++place]) {
      const rest = restOf(stretch, seq)
      if (frames.length > 0 && bytes + rest.bytes.length > HANDED_BYTES) {
        return { upTo: this.#stretches[place - 1]?.upTo ?? seq, frames }
      }
      if (rest.bytes.length > 0) frames.push(rest)
      bytes += rest.bytes.length
    }
    return { upTo: this.#end, frames }
  }
}

const bytesOf = ({ frames }: Stretch): number => frames.bytes.length

const restOf = ({ ends, frames, seqs }: Stretch, seq: number): SharedFrames => {
  if ((seqs[0] ?? 0) > seq) return frames
  const next = seqs.findIndex((known) => known > seq)
  return new SharedFrames(next < 0 ? [] : [frames.bytes.subarray(ends[next - 1] ?? 0)])
}
