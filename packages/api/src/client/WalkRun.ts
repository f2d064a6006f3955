import { elementsOf, type Mismatch, type Verification, type walkSealed } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { ControlPlaneCalls } from "./ControlPlaneCalls.ts"

/** Events of one request: as many of a megabyte each still fit into memory. */
const PAGE = 200

/** The texts of the next events of a run, and the seq of the next page; undefined after the last one. */
const nextTexts = Effect.fnUntraced(function* (api: ControlPlaneCalls, run: string, afterSeq: number) {
  const query = { afterSeq, limit: PAGE }
  const [answer, response] = yield* api.events.list({
    params: { id: run },
    query,
    responseMode: "decoded-and-response"
  })
  const events = "data" in answer ? answer.data : answer
  const last = events.at(-1)
  // As they came, byte by byte: the chain is over that.
  return last && { texts: [...elementsOf(new Uint8Array(yield* response.arrayBuffer))], lastSeq: last.seq }
})

/**
 * Reads the history of a run from its first event on into a walk, one page at a time. With `most` it stops behind so
 * many events: a kept seal does not cover the later ones.
 */
export const walkRun = Effect.fnUntraced(function* (
  api: ControlPlaneCalls,
  walk: ReturnType<typeof walkSealed>,
  runId: string,
  most = Number.POSITIVE_INFINITY
): Effect.fn.Return<Verification, Effect.Error<ReturnType<typeof nextTexts>>> {
  let taken = 0
  let page = yield* nextTexts(api, runId, 0)
  while (page !== undefined) {
    for (const text of page.texts) {
      if (taken === most) return walk.end()
      const mismatch: Mismatch | undefined = walk.take(text)
      if (mismatch !== undefined) return mismatch
      taken += 1
    }
    page = yield* nextTexts(api, runId, page.lastSeq)
  }
  return walk.end()
})
