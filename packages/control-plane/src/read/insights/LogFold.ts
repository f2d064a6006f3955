import { decodeEventText, emptyRunMetrics, emptyRunState, measure, project, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import type { EventRepository, StoredEvent } from "../../log/EventRepository.ts"
import type { Projected } from "../../log/Projected.ts"

/** Events read from the database and folded at a time: what a fold of any length holds in memory. */
export const EVENTS_PER_FOLD = 500

/**
 * How far a fold has come, and what it has made. A prefix of the log never changes, so it stays right whatever is
 * appended.
 */
export interface FoldedPrefix {
  readonly lastSeq: number
  readonly lastIndex: number
  readonly projected: Projected
}

export const emptyPrefix = (runId: RunId): FoldedPrefix => ({
  lastSeq: 0,
  lastIndex: 0,
  projected: { state: emptyRunState(runId), metrics: emptyRunMetrics(runId) }
})

/**
 * Folds the events behind a prefix, page by page, to the end of the log as it is at that time. It is the fold of the
 * live path (docs/events.md#fold), so what it makes is the live projection byte for byte.
 */
export const foldOn = Effect.fnUntraced(function* (
  events: EventRepository["Service"],
  runId: RunId,
  from: FoldedPrefix
): Effect.fn.Return<FoldedPrefix, SqlError> {
  let prefix = from
  while (true) {
    const page = yield* events.page(runId, { afterSeq: prefix.lastSeq, types: [] }, EVENTS_PER_FOLD)
    for (const stored of page) prefix = fold(prefix, stored)
    if (page.length < EVENTS_PER_FOLD) return prefix
  }
})

const fold = (prefix: FoldedPrefix, { index, json, seq }: StoredEvent): FoldedPrefix => {
  const event = Result.getOrThrow(decodeEventText(json))
  if (index !== prefix.lastIndex + 1)
    throw new Error(`event ${prefix.lastIndex + 1} is missing from the log before ${seq}`)
  const { metrics, state } = prefix.projected
  return {
    lastSeq: seq,
    lastIndex: index,
    projected: { state: project(state, event), metrics: measure(metrics, event) }
  }
}
