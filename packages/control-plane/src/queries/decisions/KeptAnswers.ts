import { isTerminal, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { EventRepository } from "../../event-log/EventRepository.ts"
import { makeByteCache } from "../../event-log/projection/ByteCache.ts"
import type { RunRepository } from "../../event-log/runs/RunRepository.ts"

/** Answers of one kind that stay in memory, over all runs: bytes of their JSON and of their keys. */
export const KEPT_ANSWER_BYTES = 2 * 1024 * 1024

/** The place of one answer in memory. */
export interface KeptAnswer<A> {
  readonly get: () => A | undefined
  readonly keep: (answer: A) => void
}

/**
 * Keeps answers of one kind about ended runs (docs/reference/decisions.md#limits). An answer belongs to what was asked,
 * to the runs, and to the last events of their logs: a log that grows after the end of its run gets another answer.
 * `asked` is any JSON. Nothing is kept of runs that go on.
 */
export const makeKeptAnswers = <A>(
  events: Pick<EventRepository["Service"], "head">,
  runs: Pick<RunRepository["Service"], "status">
) => {
  const kept = makeByteCache<string, A>(KEPT_ANSWER_BYTES)

  return Effect.fnUntraced(function* (
    runIds: ReadonlyArray<RunId>,
    asked?: unknown
  ): Effect.fn.Return<KeptAnswer<A>, SqlError> {
    const ends: Array<number> = []
    for (const runId of runIds) {
      const status = yield* runs.status(runId)
      const head = status !== undefined && isTerminal(status) ? yield* events.head(runId) : undefined
      if (head === undefined) return { get: () => undefined, keep: () => undefined }
      ends.push(head.lastSeq)
    }
    const key = JSON.stringify([runIds, ends, asked])
    return {
      get: () => kept.get(key),
      keep: (answer) => kept.put(key, answer, key.length + JSON.stringify(answer).length)
    }
  })
}
