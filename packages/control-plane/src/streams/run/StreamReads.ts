import type { RunId } from "@runplane/domain"
import { ControlPlaneSettings, makeFairTurns, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { streamReadsAt } from "../../platform/postgres/PoolUse.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import type { FeedReads } from "./RunFeed.ts"
import { STREAM_PAGE_BYTES } from "./StreamSlots.ts"

/**
 * What the streams of runs read (docs/reference/http.md#stream-reads): on a share of the pool of their own, so that
 * however many open at once, observers, requests and audit have the rest. They read in turns by caller, and streams
 * that want the same of a run at the same time share one read of it.
 */
export class StreamReads extends Context.Service<
  StreamReads,
  FeedReads & {
    /** The id behind a reference; undefined when there is no such run. */
    readonly resolve: RunRepository["Service"]["resolve"]
    /** Another read of a stream, which waits for the turn of its caller. */
    readonly inTurn: <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("runplane/control-plane/StreamReads") {
  static readonly layer = Layer.effect(
    StreamReads,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const runs = yield* RunRepository
      const states = yield* RunStateReader
      const { poolMax } = yield* readSettings({ poolMax: ControlPlaneSettings.DB_POOL_MAX })
      const inTurn = makeFairTurns("streams", streamReadsAt(poolMax)).goOn

      const slice = yield* shareReads(
        ({ between, limit, runId }: SliceQuery) => inTurn(events.slice(runId, between, limit, STREAM_PAGE_BYTES)),
        ({ between, limit, runId }) => `${runId} ${between.afterSeq} ${between.upToSeq ?? ""} ${limit}`
      )
      const current = yield* shareReads(
        (reference: string) => inTurn(states.current(reference)),
        (reference) => reference
      )
      const head = yield* shareReads(
        (runId: RunId) => inTurn(states.head(runId)),
        (runId) => runId
      )
      const resolve = yield* shareReads(
        (reference: string) => inTurn(runs.resolve(reference)),
        (reference) => reference
      )
      return StreamReads.of({
        inTurn,
        resolve,
        events: { slice: (runId, between, limit) => slice({ runId, between, limit }) },
        states: { current, head }
      })
    })
  )
}

interface SliceQuery {
  readonly runId: RunId
  readonly between: Parameters<FeedReads["events"]["slice"]>[1]
  readonly limit: number
}
