import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLogSettings } from "../EventLogSettings.ts"
import { ProjectionCache } from "../projection/ProjectionCache.ts"
import type { ObservedFrame } from "./AppendRequest.ts"
import { FrameBudget } from "./FrameBudget.ts"
import { FrameNormaliser } from "./FrameNormaliser.ts"
import { type PreparedFrame, prepareFrame } from "./PreparedFrame.ts"

/**
 * Normalises frames before their transaction begins. Waiting frames are prepared as they arrive, so that the processor
 * works while the database commits the frames before them.
 *
 * The events of a frame depend on the participants that are known when it is appended
 * (docs/reference/events.md#order-of-events). Participants are never removed, so a frame that was prepared with fewer
 * of them is prepared again.
 */
export class FramePreparation extends Context.Service<
  FramePreparation,
  {
    /**
     * Prepares frames that begin to wait. A prepared frame takes several times the memory of the received one, so this
     * is done only while all waiting frames are within a quarter of `LOG_BUFFER_BYTES`. The frames of a run without
     * participants are not prepared, because its next frames add some.
     */
    readonly ahead: (runId: RunId, frames: ReadonlyArray<ObservedFrame>) => ReadonlyArray<ObservedFrame>
    /** The frames of an append, those that are prepared already included. */
    readonly now: (runId: RunId, frames: ReadonlyArray<ObservedFrame>) => ReadonlyArray<PreparedFrame>
  }
>()("runplane/control-plane/FramePreparation") {
  static readonly layer = Layer.effect(
    FramePreparation,
    Effect.gen(function* () {
      const normaliser = yield* FrameNormaliser
      const cache = yield* ProjectionCache
      const budget = yield* FrameBudget
      const mostBytes = (yield* EventLogSettings).bufferBytes / 4
      return FramePreparation.of({
        ahead: (runId, frames) => {
          if (budget.used() > mostBytes) return frames
          const known = cache.participants(runId)
          if (known.size === 0) return frames
          return frames.map((frame) => ({ ...frame, prepared: prepareFrame(normaliser, known, frame) }))
        },
        now: (runId, frames) => {
          const known = cache.participants(runId)
          return frames.map((frame) =>
            frame.prepared?.knownParticipants === known.size ? frame.prepared : prepareFrame(normaliser, known, frame)
          )
        }
      })
    })
  )
}
