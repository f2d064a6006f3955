/**
 * Without this: each request for the divergence of two ended runs of 20,000 events takes 0.6 s
 * (docs/internals/scale.md); costs 2 MiB for each kind of answer.
 */
import { isTerminal, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { makeByteCache } from "../../event-log/projection/ByteCache.ts"
import type { RunStateReader } from "../../event-log/projection/RunStateReader.ts"

/** Bytes of the cached answers of one kind, with their keys. */
const CACHE_BYTES = 2 * 1024 * 1024

/** The cached answer for one request. */
export interface CachedAnswer<A> {
  readonly get: () => A | undefined
  readonly put: (answer: A) => void
}

/**
 * Caches answers of one kind about ended runs (docs/reference/decisions.md#limits). The key has the request as JSON,
 * the runs, and the last events of their logs with their revisions, so a log that grows after the end of its run, or
 * loses texts, has another answer.
 */
export const makeAnswerCache = <A>(states: Pick<RunStateReader["Service"], "head">) => {
  const cache = makeByteCache<string, A>(CACHE_BYTES)
  return Effect.fnUntraced(function* (
    runIds: ReadonlyArray<RunId>,
    request?: unknown
  ): Effect.fn.Return<CachedAnswer<A>, SqlError> {
    const ends: Array<readonly [number, number]> = []
    for (const runId of runIds) {
      const head = yield* states.head(runId)
      if (head === undefined || !isTerminal(head.status)) return { get: () => undefined, put: () => undefined }
      ends.push([head.lastSeq, head.revision ?? 0])
    }
    const key = JSON.stringify([runIds, ends, request])
    return {
      get: () => cache.get(key),
      put: (answer) => cache.put(key, answer, key.length + JSON.stringify(answer).length)
    }
  })
}
