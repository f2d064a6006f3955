import { streamReadsAt } from "@runplane/database"
import type { RunId } from "@runplane/domain"
import { jitteredBackoff } from "@runplane/runtime"
import { ControlPlaneSettings, makeFairTurns, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventRepository } from "../event-log/EventRepository.ts"
import { RunStateReader } from "../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { shareReads } from "../platform/postgres/SharedRead.ts"
import { STREAM_PAGE_BYTES } from "./StreamSlots.ts"

/** Waits for a database that is away. */
export const retries = jitteredBackoff(100, 2_000)

/** The reads of the stream of a run. Streams may share a page. */
export interface RunReads {
  readonly events: Pick<EventRepository["Service"], "slice">
  readonly states: Pick<RunStateReader["Service"], "current" | "head">
}

/**
 * The reads of event streams (docs/reference/streams.md#stream-reads). They use a share of the connection pool, so that
 * many opening streams leave connections to observers, requests and audit. Callers take turns, and streams share equal
 * reads of the same time.
 */
export class StreamReads extends Context.Service<
  StreamReads,
  RunReads & {
    /** The id of a run by its id or session id; undefined for an unknown run. */
    readonly resolve: RunRepository["Service"]["resolve"]
    /** Runs another read of a stream in the turn of its caller. */
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
  readonly between: Parameters<RunReads["events"]["slice"]>[1]
  readonly limit: number
}
