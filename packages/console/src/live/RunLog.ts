import { type CanonicalEvent, emptyRunState, project, type RunState } from "@runplane/domain"
import { SMALL_BYTES, shorten, sizeOf } from "./EventSize.ts"
import { RunDigest } from "./RunDigest.ts"

/** A state is kept each so many events: a jump to any place folds at most so many. */
const CHECKPOINT_EVERY = 250
/** Memory for the events of a run. */
const MOST_BYTES = 128 * 1024 * 1024

/** What became of an event: it was taken, it was there already, or events before it are missing. */
export type Taken = "taken" | "known" | "gap"

/** Where a log begins, when not with the first event: after so many events, which have led to this state. */
export interface LogStart {
  readonly index: number
  readonly seq: number
  readonly state: RunState
}

/**
 * The events of one run in their order, and the state at each of them. Their indices follow on each other from the
 * start, so the log proves by itself that nothing is missing before its end.
 *
 * Memory is bounded: when there are too many bytes the oldest large events are shortened, and once there is nothing to
 * shorten the oldest are dropped: then the log starts later.
 */
export class RunLog {
  readonly digest = new RunDigest()
  readonly #mostBytes: number
  #events: Array<CanonicalEvent> = []
  #sizes: Array<number> = []
  #bytes = 0
  #bytesTaken = 0
  /** Events from the start that are as short as they get. */
  #short = 0
  #isShortened = false
  #start: number
  #lastSeq: number
  #checkpoints: Array<RunState>
  #latest: RunState
  /** The states from a checkpoint on, as far as somebody went: a step back folds nothing. */
  #visited: { readonly from: number; readonly states: Array<RunState> }

  constructor(runId: string, start?: LogStart, mostBytes = MOST_BYTES) {
    const { index, seq, state } = start ?? { index: 0, seq: 0, state: emptyRunState(runId) }
    this.#mostBytes = mostBytes
    this.#start = index
    this.#lastSeq = seq
    this.#checkpoints = [state]
    this.#latest = state
    this.#visited = { from: index, states: [state] }
  }

  /** Events of the run before those that are here. */
  get start(): number {
    return this.#start
  }

  /** Index of the last event; everything from the start up to it is here. */
  get count(): number {
    return this.#start + this.#events.length
  }

  /** seq of the last event; 0 before the first. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Whether large events are here in part only. */
  get isShortened(): boolean {
    return this.#isShortened
  }

  /** About the memory that all its events took as they came. */
  get bytesTaken(): number {
    return this.#bytesTaken
  }

  append(event: CanonicalEvent): Taken {
    if (event.index <= this.count) return "known"
    if (event.index > this.count + 1) return "gap"
    const size = sizeOf(event.recorded)
    this.#events.push(event)
    this.#sizes.push(size)
    this.#bytes += size
    this.#bytesTaken += size
    this.#lastSeq = event.seq
    this.digest.add(event)
    this.#latest = project(this.#latest, event)
    if (this.#events.length % CHECKPOINT_EVERY === 0) this.#checkpoints.push(this.#latest)
    while (this.#bytes > this.#mostBytes && this.#makeRoom());
    return "taken"
  }

  /** All that are here. */
  get events(): ReadonlyArray<CanonicalEvent> {
    return this.#events
  }

  /** The event with this index, if it is here. */
  event(index: number): CanonicalEvent | undefined {
    return this.#events[index - this.#start - 1]
  }

  /** What is here of the first `index` events. */
  upTo(index: number): ReadonlyArray<CanonicalEvent> {
    return this.#events.slice(0, Math.max(0, index - this.#start))
  }

  /** The state after the first `index` events: that of the whole log when there are fewer; of its start at least. */
  stateAt(index: number): RunState {
    if (index >= this.count) return this.#latest
    const place = Math.max(0, index - this.#start)
    const checkpoint = Math.floor(place / CHECKPOINT_EVERY)
    const from = this.#start + checkpoint * CHECKPOINT_EVERY
    if (this.#visited.from !== from) {
      this.#visited = { from, states: [this.#checkpoints[checkpoint] ?? this.#latest] }
    }
    const { states } = this.#visited
    for (let at = from + states.length; at <= index; at++) {
      const [event, before] = [this.event(at), states.at(-1)]
      if (event !== undefined && before !== undefined) states.push(project(before, event))
    }
    return states[Math.max(0, index - from)] ?? this.#latest
  }

  /** Answers whether there was something to give away. */
  #makeRoom(): boolean {
    for (; this.#short < this.#events.length; this.#short++) {
      const [event, size = 0] = [this.#events[this.#short], this.#sizes[this.#short]]
      if (event === undefined || size < SMALL_BYTES) continue
      const short = shorten(event)
      this.#resize(this.#short, sizeOf(short.recorded))
      this.#events[this.#short] = short
      this.#short += 1
      this.#isShortened = true
      return true
    }
    if (this.#events.length < 2 * CHECKPOINT_EVERY) return false
    for (let at = 0; at < CHECKPOINT_EVERY; at++) this.#resize(at, 0)
    this.#events = this.#events.slice(CHECKPOINT_EVERY)
    this.#sizes = this.#sizes.slice(CHECKPOINT_EVERY)
    this.#checkpoints = this.#checkpoints.slice(1)
    this.#short -= CHECKPOINT_EVERY
    this.#start += CHECKPOINT_EVERY
    return true
  }

  #resize(at: number, size: number): void {
    this.#bytes += size - (this.#sizes[at] ?? 0)
    this.#sizes[at] = size
  }
}
