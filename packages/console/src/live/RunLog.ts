import { type CanonicalEvent, emptyRunState, project, type RunState } from "@runplane/domain"

/** A state is kept each so many events: a jump to any place folds at most so many. */
const CHECKPOINT_EVERY = 250

/** What became of an event: it was taken, it was there already, or events before it are missing. */
export type Taken = "taken" | "known" | "gap"

/**
 * The events of one run in their order, and the state at each of them. `events[0]` has index 1, so the log proves by
 * itself that nothing is missing before its end.
 */
export class RunLog {
  readonly events: Array<CanonicalEvent> = []
  readonly #checkpoints: Array<RunState>
  #latest: RunState
  /** The states from a checkpoint on, as far as somebody went: a step back folds nothing. */
  #visited: { readonly start: number; readonly states: Array<RunState> }

  constructor(runId: string) {
    const empty = emptyRunState(runId)
    this.#checkpoints = [empty]
    this.#latest = empty
    this.#visited = { start: 0, states: [empty] }
  }

  /** Index of the last event; everything up to it is here. */
  get count(): number {
    return this.events.length
  }

  /** seq of the last event; 0 before the first. */
  get lastSeq(): number {
    return this.events.at(-1)?.seq ?? 0
  }

  append(event: CanonicalEvent): Taken {
    if (event.index <= this.count) return "known"
    if (event.index > this.count + 1) return "gap"
    this.events.push(event)
    this.#latest = project(this.#latest, event)
    if (this.count % CHECKPOINT_EVERY === 0) this.#checkpoints.push(this.#latest)
    return "taken"
  }

  /** The state after the first `index` events: that of the whole log when there are fewer. */
  stateAt(index: number): RunState {
    if (index >= this.count) return this.#latest
    const checkpoint = Math.max(0, Math.floor(index / CHECKPOINT_EVERY))
    const start = checkpoint * CHECKPOINT_EVERY
    if (this.#visited.start !== start) {
      this.#visited = { start, states: [this.#checkpoints[checkpoint] ?? this.#latest] }
    }
    const { states } = this.#visited
    for (let at = start + states.length - 1; at < index; at++) {
      const [event, before] = [this.events[at], states.at(-1)]
      if (event !== undefined && before !== undefined) states.push(project(before, event))
    }
    return states[Math.max(0, index - start)] ?? this.#latest
  }
}
