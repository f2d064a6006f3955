import { emptyChain, extendChain } from "@runplane/control-plane"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { median } from "../Statistics.ts"
import type { WrittenRows } from "./WrittenRows.ts"

/** Hashing all of it is over in some milliseconds, so it is done several times and the median counts. */
const ROUNDS = 9
const NANOS_PER_SECOND = 1e9

/**
 * What the hash chain costs of an ingest that has just been measured: the seconds that it takes to extend the chains of
 * the runs by the very texts that were stored, by the function of the append.
 */
export const measureChain = Effect.fn("ChainCost.measure")(function* (events: WrittenRows["events"]) {
  const seconds: Array<number> = []
  for (let round = 0; round < ROUNDS; round++) {
    const heads = new Map<string, Uint8Array>()
    const started = yield* Clock.monotonicTimeNanos
    for (const { event, run_id: runId } of events) {
      heads.set(runId, extendChain(heads.get(runId) ?? emptyChain(runId), event))
    }
    const ended = yield* Clock.monotonicTimeNanos
    seconds.push(Number(ended - started) / NANOS_PER_SECOND)
  }
  return median(seconds)
})
