import { emptyRunMetrics, emptyRunState, project, Seal } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { EventRepository } from "../../../event-log/EventRepository.ts"
import { makeByteCache } from "../../../event-log/projection/ByteCache.ts"
import { beginning, foldOn } from "../../../event-log/projection/ReplayLog.ts"
import { RunStateReader } from "../../../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../../event-log/runs/RunRepository.ts"
import { decodeAppendix, RunErasures } from "../../../event-log/seal/RunErasures.ts"
import { RunSeals } from "../../../event-log/seal/RunSeals.ts"
import { RunDocuments } from "../../../queries/runs/RunDocuments.ts"
import { layerColdArtifacts, layerColdEvents } from "./ColdEvents.ts"
import { type ColdHead, ColdLog } from "./ColdLog.ts"
import { coldRecord, coldRow } from "./ColdRecord.ts"
import { orCold } from "./OrCold.ts"

/** Bytes of folded states that stay in memory. */
const STATE_CACHE_BYTES = 8 * 1024 * 1024

const runs = Layer.effect(
  RunRepository,
  Effect.gen(function* () {
    const stored = yield* RunRepository
    const log = yield* ColdLog
    const rowOf = (head: ColdHead) => log.run(head)
    return RunRepository.of({
      ...stored,
      find: (reference) =>
        orCold(stored.find(reference), log.head(reference), (head) => Effect.flatMap(rowOf(head), coldRecord)),
      row: (reference) =>
        orCold(stored.row(reference), log.head(reference), (head) => Effect.flatMap(rowOf(head), coldRow)),
      // A reader that resolves a run first, such as a stream, fails here while the store does not answer.
      resolve: (reference) =>
        orCold(stored.resolve(reference), log.head(reference), (head) => Effect.as(rowOf(head), head.runId)),
      status: (runId) => orCold(stored.status(runId), log.head(runId), ({ status }) => Effect.succeed(status))
    })
  })
)

/** Requires the events of the files. */
const states = Layer.effect(
  RunStateReader,
  Effect.gen(function* () {
    const stored = yield* RunStateReader
    const log = yield* ColdLog
    const filed = yield* EventRepository
    const texts = makeByteCache<string, string>(STATE_CACHE_BYTES)

    const headOf = ({ lastIndex, lastSeq, runId, status }: ColdHead) => ({ runId, status, lastSeq, lastIndex })
    const current = Effect.fnUntraced(function* (head: ColdHead) {
      const { lastSeq, runId } = head
      const key = `${runId} ${lastSeq}`
      const known = texts.get(key)
      if (known !== undefined) return { ...headOf(head), state: known }
      const { folded } = yield* foldOn(filed, runId, beginning(emptyRunState(runId)), project, lastSeq)
      const state = JSON.stringify(folded)
      texts.put(key, state, state.length)
      return { ...headOf(head), state }
    })
    return RunStateReader.of({
      current: (reference) => orCold(stored.current(reference), log.head(reference), current),
      head: (runId) => orCold(stored.head(runId), log.head(runId), (head) => Effect.succeed(headOf(head)))
    })
  })
)

const documents = Layer.effect(
  RunDocuments,
  Effect.gen(function* () {
    const stored = yield* RunDocuments
    const log = yield* ColdLog
    return RunDocuments.of({
      ...stored,
      metrics: (reference) =>
        orCold(stored.metrics(reference), log.head(reference), (head) =>
          Effect.map(log.run(head), ({ metrics }) => metrics ?? JSON.stringify(emptyRunMetrics(head.runId)))
        )
    })
  })
).pipe(Layer.provide(RunDocuments.layer))

const decodeSeal = Schema.decodeEffect(Schema.fromJsonString(Seal))

/** The last seal of a run is in its row; the earlier ones left with it. */
const seals = Layer.effect(
  RunSeals,
  Effect.gen(function* () {
    const stored = yield* RunSeals
    const log = yield* ColdLog
    return RunSeals.of({
      ...stored,
      sealed: (runId) =>
        orCold(
          stored.sealed(runId),
          log.head(runId),
          Effect.fnUntraced(function* (head) {
            const { seal } = yield* log.run(head)
            return seal === null ? "open" : yield* Effect.orDie(decodeSeal(seal))
          })
        )
    })
  })
)

/** The erasures of a run are in its row. */
const erasures = Layer.effect(
  RunErasures,
  Effect.gen(function* () {
    const stored = yield* RunErasures
    const log = yield* ColdLog
    return RunErasures.of({
      appendix: (runId) =>
        orCold(
          stored.appendix(runId),
          log.head(runId),
          Effect.fnUntraced(function* (head) {
            const { erasures } = yield* log.run(head)
            return erasures === null ? undefined : yield* Effect.orDie(decodeAppendix(erasures))
          })
        )
    })
  })
)

/**
 * The readers of runs, which find a run that has left the database in the files of the archive
 * (docs/reference/archive.md#reading-runs). For handlers that read: observers and appends have the readers of the
 * database alone. A run in the database costs nothing more.
 */
export const layer = Layer.mergeAll(documents, erasures, layerColdArtifacts, runs, seals, states).pipe(
  Layer.provideMerge(layerColdEvents)
)
