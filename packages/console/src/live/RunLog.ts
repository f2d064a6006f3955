import { type CanonicalEvent, emptyRunState, project, type RunState } from "@runplane/domain"
import { SMALL_BYTES, shorten, sizeOf } from "./EventSize.ts"
import { RunDigest } from "./RunDigest.ts"

/** Events between two stored states: the most that one jump folds. */
const CHECKPOINT_EVERY = 250
/** Memory for the events of a run. */
const MOST_BYTES = 128 * 1024 * 1024

/** The result of an append; `gap` when events before it are missing. */
export type Appended = "appended" | "known" | "gap"

/** The state before the first event of a log that starts later. */
export interface LogStart {
  readonly index: number
  readonly seq: number
  readonly state: RunState
}

/**
 * The events of one run in order, without gaps, and the state at each of them.
 *
 * Memory is bounded: first the oldest large events are shortened, then the oldest events are dropped and the log starts
 * later.
 */
export class RunLog {
  readonly digest = new RunDigest()
  readonly #mostBytes: number
  #events: Array<CanonicalEvent> = []
  #sizes: Array<number> = []
  #bytes = 0
  #bytesAppended = 0
  /** Events from the start that cannot become shorter. */
  #short = 0
  #isShortened = false
  #start: number
  #lastSeq: number
  #checkpoints: Array<RunState>
  #latest: RunState
  /** The states behind one checkpoint, so that a step back does not fold. */
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

  /** Whether large events were shortened. */
  get isShortened(): boolean {
    return this.#isShortened
  }

  /** The estimated size of all appended events, before they were shortened. */
  get bytesAppended(): number {
    return this.#bytesAppended
  }

  append(event: CanonicalEvent): Appended {
    if (event.index <= this.count) return "known"
    if (event.index > this.count + 1) return "gap"
    const size = sizeOf(event.recorded)
    this.#events.push(event)
    this.#sizes.push(size)
    this.#bytes += size
    this.#bytesAppended += size
    this.#lastSeq = event.seq
    this.digest.add(event)
    this.#latest = project(this.#latest, event)
    if (this.#events.length % CHECKPOINT_EVERY === 0) this.#checkpoints.push(this.#latest)
    while (this.#bytes > this.#mostBytes && this.#free());
    return "appended"
  }

  /** The events in memory. */
  get events(): ReadonlyArray<CanonicalEvent> {
    return this.#events
  }

  /** The event with this index, if it is in memory. */
  event(index: number): CanonicalEvent | undefined {
    return this.#events[index - this.#start - 1]
  }

  /** The events in memory up to an index. */
  upTo(index: number): ReadonlyArray<CanonicalEvent> {
    return this.#events.slice(0, Math.max(0, index - this.#start))
  }

  /** The state after the first `index` events, within the start and the end of the log. */
  stateAt(index: number): RunState {
    if (index >= this.count) return this.#latest
    const offset = Math.max(0, index - this.#start)
    const checkpoint = Math.floor(offset / CHECKPOINT_EVERY)
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

  /** Shortens or drops events; false when there are too few. */
  #free(): boolean {
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
