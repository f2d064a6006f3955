import { type ChainVersion, eventBytes, linksOf, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { sha256 } from "../../platform/Sha256.ts"
import { EventRepository } from "../EventRepository.ts"
import { RunErasures } from "./RunErasures.ts"

/** Events read at a time. */
const EVENTS_PER_READ = 500

/** The head of a hash chain, and the index of its last event. */
export interface Chain {
  readonly index: number
  readonly chain: Uint8Array
}

/** The chain over the stored events of a run, up to the first that is missing or does not fit. */
export const makeStoredChain = Effect.gen(function* () {
  const events = yield* EventRepository
  const runErasures = yield* RunErasures

  return Effect.fnUntraced(function* (runId: RunId, version: ChainVersion) {
    const erasures = yield* runErasures.appendix(runId)
    const { next, start } = linksOf(sha256, runId, version, erasures?.entries ?? [])
    let [afterSeq, index, chain] = [0, 0, start]
    while (true) {
      const slice = yield* events.salted(runId, afterSeq, EVENTS_PER_READ)
      for (const event of slice.events) {
        if (event.index !== index + 1) return { index, chain }
        const salts = version === 1 ? undefined : event.salts
        const linked = next(chain, eventBytes(event.json), event.index, salts)
        if (typeof linked === "string") {
          yield* Effect.logError(`run ${runId}: event ${event.index} does not fit its chain: ${linked}`)
          return { index, chain }
        }
        chain = linked
        index = event.index
        afterSeq = event.seq
      }
      if (slice.isLast) return { index, chain }
    }
  })
})
