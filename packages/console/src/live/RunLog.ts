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
  #visited: { readonly index: number; readonly state: RunState }

  constructor(runId: string) {
    const empty = emptyRunState(runId)
    this.#checkpoints = [empty]
    this.#latest = empty
    this.#visited = { index: 0, state: empty }
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
    const isAhead = this.#visited.index >= start && this.#visited.index <= index
    let state = isAhead ? this.#visited.state : (this.#checkpoints[checkpoint] ?? this.#latest)
    for (let at = isAhead ? this.#visited.index : start; at < index; at++) {
      const event = this.events[at]
      if (event !== undefined) state = project(state, event)
    }
    this.#visited = { index, state }
    return state
  }
}
