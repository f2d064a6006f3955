import type { CommittedEvent } from "../../event-log/CommittedEvent.ts"
import type { Commit } from "../../event-log/subscribe/LiveEvents.ts"

/** Characters of events that wait for a place before them. */
const WAITING_CHARACTERS = 4 * 1024 * 1024
/** Events, and characters of them, after which no more are taken at a time. */
const TAKEN_EVENTS = 500
const TAKEN_CHARACTERS = 256 * 1024

/** Places without a hole, all of them settled by commits of this process. */
export interface Piece {
  readonly from: number
  readonly upTo: number
  readonly events: ReadonlyArray<CommittedEvent>
}

/** What follows a place in the log. */
export interface Followed {
  readonly events: ReadonlyArray<CommittedEvent>
  /** Nothing else stands up to here. */
  readonly upTo: number
}

/**
 * What this process has committed, for whoever follows the log (docs/reference/events.md#watermark). A place is given
 * out once: where all places behind the watermark were taken by transactions that have committed here, nothing else can
 * appear among them, and nobody needs to ask the database. At a hole it ends: that place is another process's, is still
 * being written, or was lost with its transaction, and the database knows.
 */
export class OwnCommits {
  /** In the order of the log. */
  #pieces: Array<Piece> = []
  #characters = 0

  add(pieces: ReadonlyArray<Piece>): void {
    for (const piece of pieces) {
      this.#insert(piece)
      this.#characters += charactersOf(piece.events)
    }
    // Forgetting costs a look at the database, nothing else.
    if (this.#characters > WAITING_CHARACTERS) this.forget()
  }

  forget(): void {
    this.#pieces = []
    this.#characters = 0
  }

  /** What follows a place, so much at a time; undefined when the next place is not settled here. */
  takeBehind(end: number): Followed | undefined {
    const events: Array<CommittedEvent> = []
    let characters = 0
    let upTo = end
    for (const piece of this.#pieces) {
      if (piece.from > upTo + 1) break
      const rest = piece.events.filter(({ seq }) => seq > end)
      if (isFull(events.length, characters)) break
      events.push(...rest)
      characters += charactersOf(rest)
      upTo = Math.max(upTo, piece.upTo)
    }
    this.#forgetUpTo(upTo)
    return upTo === end ? undefined : { events, upTo }
  }

  #forgetUpTo(seq: number): void {
    let gone = 0
    for (const piece of this.#pieces) {
      if (piece.upTo > seq) break
      this.#characters -= charactersOf(piece.events)
      gone += 1
    }
    if (gone > 0) this.#pieces = this.#pieces.slice(gone)
  }

  #insert(piece: Piece): void {
    let place = this.#pieces.length
    while (place > 0 && (this.#pieces[place - 1]?.from ?? 0) > piece.from) place -= 1
    this.#pieces.splice(place, 0, piece)
  }
}

const charactersOf = (events: ReadonlyArray<CommittedEvent>): number =>
  events.reduce((sum, { json }) => sum + json.length, 0)

/** What a transaction has settled, in pieces that are taken whole. */
export const piecesOf = ({ events, places }: Commit): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let nextEvent = 0
  for (let first = 0; first < places.length; ) {
    const from = places[first] ?? 0
    const onThem: Array<CommittedEvent> = []
    let last = first
    let characters = 0
    for (let place = first; place < places.length; place++) {
      if (place > first && (places[place] !== (places[last] ?? 0) + 1 || isFull(onThem.length, characters))) break
      last = place
      const event = events[nextEvent]
      if (event === undefined || event.seq !== places[place]) continue
      onThem.push(event)
      characters += event.json.length
      nextEvent += 1
    }
    pieces.push({ from, upTo: places[last] ?? from, events: onThem })
    first = last + 1
  }
  return pieces
}

const isFull = (events: number, characters: number): boolean => events >= TAKEN_EVENTS || characters >= TAKEN_CHARACTERS
