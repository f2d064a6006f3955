import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EventNotices from "../../src/event-log/subscribe/EventNotices.ts"
import { CancelReasons } from "../../src/observe/CancelReasons.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const RUN = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

/** The reasons of one process, with the notices of other processes. */
const instance = Effect.map(
  Layer.build(Layer.fresh(CancelReasons.layer.pipe(Layer.provide(EventNotices.layer), Layer.provide(layerTestLog)))),
  (context) => Context.get(context, CancelReasons)
)

layer(layerTestDatabase, { excludeTestServices: true })("the reason of a caller of another process", (it) => {
  it.effect("is known during the request in that process, and not after it", () =>
    Effect.gen(function* () {
      const here = yield* instance
      const there = yield* instance
      const received = Effect.sync(() => there.of(RUN, "cancelled"))
      // The other process may not listen yet, so the request is repeated.
      const known = yield* until(
        Effect.raceFirst(
          here.during(RUN, "cancelled", 'too "slow" at last')(Effect.sleep("200 millis")),
          until(received, (reason) => reason !== undefined)
        ),
        (reason) => reason !== undefined
      )
      assert.strictEqual(known, 'too "slow" at last')
      assert.isUndefined(there.of(RUN, "suspended"))
      yield* until(received, (reason) => reason === undefined)
    })
  )
})
