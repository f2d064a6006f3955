import { assert, describe, it } from "@effect/vitest"
import { emptyRunMetrics, emptyRunState, type Normaliser, type RawFrame, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ObservedFrame } from "../../../src/event-log/append/AppendRequest.ts"
import { FrameBudget } from "../../../src/event-log/append/FrameBudget.ts"
import { observed } from "../../../src/event-log/append/FrameBytes.ts"
import { FrameNormaliser } from "../../../src/event-log/append/FrameNormaliser.ts"
import { FramePreparation } from "../../../src/event-log/append/FramePreparation.ts"
import { EventLogSettings } from "../../../src/event-log/EventLogSettings.ts"
import { NO_CHECKPOINT } from "../../../src/event-log/projection/Checkpoint.ts"
import { ProjectionCache } from "../../../src/event-log/projection/ProjectionCache.ts"

const runId = RunId.make("00000000-0000-4000-8000-000000000001")
const error = { code: "", message: "", messageId: "", sessionId: "s", details: new Uint8Array() }
const frame: ObservedFrame = observed({ kind: "stream-inline-error", error } satisfies RawFrame, "")

/** What was prepared, by the number of participants that were known, and what else waits. */
class World {
  readonly prepared: Array<number> = []
  held = 0
  participants = new Set<string>()

  readonly normaliser: Normaliser = {
    normalise: (known) => {
      this.prepared.push(known.size)
      return { drafts: [], raw: { kind: "stream-inline-error", sourceName: "", payload: {} } }
    }
  }

  readonly layer = FramePreparation.layer.pipe(
    Layer.provide([
      Layer.succeed(FrameNormaliser, this.normaliser),
      Layer.succeed(FrameBudget, { share: Effect.die("not called"), used: () => this.held }),
      Layer.succeed(EventLogSettings, {
        bufferBytes: 4_000,
        runBufferBytes: 4_000,
        appendBytes: 4_000,
        groupBytes: 4_000,
        oldestAppendMs: 1
      }),
      Layer.succeed(ProjectionCache, {
        get: () => ({
          projected: { state: emptyRunState(runId), metrics: emptyRunMetrics(runId) },
          checkpoint: NO_CHECKPOINT,
          stateBytes: 0,
          participants: this.participants
        }),
        participants: () => this.participants,
        put: () => {},
        forget: () => {},
        load: () => Effect.die("not called")
      })
    ])
  )
}

const inWorld = (test: (world: World, preparation: FramePreparation["Service"]) => void) => {
  const world = new World()
  return Effect.provide(
    FramePreparation.use((preparation) => Effect.sync(() => test(world, preparation))),
    world.layer
  )
}

describe("the preparation of frames", () => {
  it.effect("is done once for a frame that has waited", () =>
    inWorld((world, { ahead, now }) => {
      world.participants = new Set(["a", "b"])
      const waited = ahead(runId, [frame, frame])
      assert.deepStrictEqual(world.prepared, [2, 2])
      assert.deepStrictEqual(
        now(runId, waited),
        waited.flatMap(({ prepared }) => prepared ?? [])
      )
      assert.deepStrictEqual(world.prepared, [2, 2])
    })
  )

  it.effect("is done anew when the run has more participants by then, who may be recipients", () =>
    inWorld((world, { ahead, now }) => {
      world.participants = new Set(["a", "b"])
      const waited = ahead(runId, [frame])
      world.participants = new Set(["a", "b", "c"])
      assert.deepStrictEqual(
        now(runId, waited).map(({ knownParticipants }) => knownParticipants),
        [3]
      )
      assert.deepStrictEqual(world.prepared, [2, 3])
    })
  )

  it.effect("waits for the participants of a run that has none yet", () =>
    inWorld((world, { ahead, now }) => {
      const waited = ahead(runId, [frame])
      assert.deepStrictEqual(world.prepared, [])
      assert.lengthOf(now(runId, waited), 1)
      assert.deepStrictEqual(world.prepared, [0])
    })
  )

  it.effect("takes no memory ahead while much waits", () =>
    inWorld((world, { ahead }) => {
      world.participants = new Set(["a"])
      world.held = 1_000
      ahead(runId, [frame])
      world.held = 1_001
      ahead(runId, [frame])
      assert.deepStrictEqual(world.prepared, [1])
    })
  )
})
