/** A queue with a limited number of turns, fair to its callers. */
export interface FairQueue<A> {
  /** Takes a turn for the caller if one is free; else the entry waits. Answers whether the caller has its turn. */
  readonly enter: (caller: string, entry: A) => boolean
  /** Lets an entry wait for its turn, also where one is free; one that waits already keeps its position. */
  readonly add: (caller: string, entry: A) => void
  /** Takes the next turn, if one is free and an entry waits. */
  readonly take: () => { readonly caller: string; readonly entry: A } | undefined
  /** Ends a turn of the caller: `take` gives it to another entry. */
  readonly leave: (caller: string) => void
  /** Ends a turn of the caller. Returns the entry that has the next turn. */
  readonly end: (caller: string) => A | undefined
  /** Removes an entry that waits. */
  readonly remove: (caller: string, entry: A) => void
  /** Entries that wait, of all callers and of one. */
  readonly waiting: () => number
  readonly waitingOf: (caller: string) => number
}

interface CallerState<A> {
  readonly waiting: Set<A>
  inWork: number
  /** Counts the arrivals and the ends of turns in the queue: the lower one was served longer ago. */
  rank: number
}

/**
 * Makes a queue with `atOnce` turns, of which one caller has at most `ofCaller` (docs/reference/http.md#turns). The
 * next turn goes to the caller with the fewest turns in work, of those to the one that was served the longest ago; the
 * entries of one caller keep their order. So a caller with many entries delays the entry of another by one turn at
 * most, by none where `ofCaller` is less than `atOnce`, and no caller waits for ever.
 */
export const makeFairQueue = <A>(atOnce: number, ofCaller: number = atOnce): FairQueue<A> => {
  const callers = new Map<string, CallerState<A>>()
  let free = atOnce
  let waiting = 0
  let rank = 0

  const stateOf = (caller: string): CallerState<A> => {
    const known = callers.get(caller)
    if (known !== undefined) return known
    const state: CallerState<A> = { waiting: new Set(), inWork: 0, rank: ++rank }
    callers.set(caller, state)
    return state
  }
  const forgetIfIdle = (caller: string, state: CallerState<A>) => {
    if (state.inWork === 0 && state.waiting.size === 0) callers.delete(caller)
  }

  const next = (): { readonly caller: string; readonly entry: A } | undefined => {
    let best: { readonly caller: string; readonly state: CallerState<A> } | undefined
    for (const [caller, state] of callers) {
      const mayBegin = state.waiting.size > 0 && state.inWork < ofCaller
      if (mayBegin && (best === undefined || isBefore(state, best.state))) best = { caller, state }
    }
    if (best === undefined) return undefined
    const { caller, state } = best
    for (const entry of state.waiting) {
      state.waiting.delete(entry)
      waiting--
      begin(state)
      return { caller, entry }
    }
    return undefined
  }
  const begin = (state: CallerState<A>) => {
    state.inWork++
    free--
  }

  const wait = (state: CallerState<A>, entry: A) => {
    if (state.waiting.has(entry)) return
    state.waiting.add(entry)
    waiting++
  }

  const leave = (caller: string) => {
    const state = stateOf(caller)
    state.inWork--
    state.rank = ++rank
    free++
    forgetIfIdle(caller, state)
  }

  return {
    enter: (caller, entry) => {
      const state = stateOf(caller)
      const hasTurn = free > 0 && state.inWork < ofCaller
      if (hasTurn) begin(state)
      else wait(state, entry)
      return hasTurn
    },
    add: (caller, entry) => wait(stateOf(caller), entry),
    take: () => (free > 0 ? next() : undefined),
    leave,
    end: (caller) => {
      leave(caller)
      return next()?.entry
    },
    remove: (caller, entry) => {
      const state = callers.get(caller)
      if (state === undefined || !state.waiting.delete(entry)) return
      waiting--
      forgetIfIdle(caller, state)
    },
    waiting: () => waiting,
    waitingOf: (caller) => callers.get(caller)?.waiting.size ?? 0
  }
}

const isBefore = <A>(one: CallerState<A>, other: CallerState<A>): boolean =>
  one.inWork < other.inWork || (one.inWork === other.inWork && one.rank < other.rank)
