import type { CanonicalEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"

/** The most past events that are shown. */
export const PAST = 500
/** With fewer past events, the read goes back further. */
const ENOUGH = 50
/** Each further read begins this many times as far back. */
const FURTHER = 8

/** A page of the log behind a seq; `nextCursor` when it may have further matches. */
interface Page {
  readonly data: ReadonlyArray<CanonicalEvent>
  readonly nextCursor?: number
}

/**
 * The last matching events up to a seq, at most `PAST`. The numbers of a log have gaps, where appends were rolled back
 * and runs were deleted, and a search finds few of many events: so a read with few matches is repeated from further
 * back, until there are enough, more than fit in a page, or the service does not search the whole range at once.
 */
export const pastEvents = <E, R>(
  read: (afterSeq: number, limit: number) => Effect.Effect<Page, E, R>,
  seq: number
): Effect.Effect<ReadonlyArray<CanonicalEvent>, E, R> =>
  Effect.gen(function* () {
    let found: ReadonlyArray<CanonicalEvent> = []
    for (let span = PAST; ; span *= FURTHER) {
      const afterSeq = Math.max(0, seq - span)
      const { data, nextCursor } = yield* read(afterSeq, PAST)
      const isWhole = nextCursor === undefined || nextCursor >= seq
      if (isWhole || span === PAST) found = data.filter((event) => event.seq <= seq)
      if (!isWhole || found.length >= ENOUGH || afterSeq === 0) return found
    }
  })
