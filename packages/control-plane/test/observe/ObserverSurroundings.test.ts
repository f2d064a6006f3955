import { assert, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { LiveEvents } from "../../src/event-log/subscribe/LiveEvents.ts"
import { MemoryGuard } from "../../src/observe/MemoryGuard.ts"
import { ObservedRuns } from "../../src/observe/ObservedRuns.ts"
import { ObserverSettings } from "../../src/observe/ObserverSettings.ts"
import { Observers } from "../../src/observe/Observers.ts"
import { Placement } from "../../src/observe/placement/Placement.ts"
import { RunObserver } from "../../src/observe/RunObserver.ts"
import { SessionDirectory } from "../../src/observe/sessions/SessionDirectory.ts"

/** Stands for all that the handling of a request brings with it. */
class Request extends Context.Service<Request, string>()("test/Request") {}

const runId = RunId.make("00000000-0000-4000-8000-000000000001")

it.effect("an observer holds nothing of the request that made its run", () =>
  Effect.gen(function* () {
    const seen = yield* Deferred.make<Option.Option<string>>()
    const layer = Observers.layer.pipe(
      Layer.provide([
        Layer.mock(RunObserver, {
          observe: () =>
            Effect.flatMap(Effect.context(), (context) =>
              Effect.asVoid(Deferred.succeed(seen, Context.getOption(context, Request)))
            )
        }),
        Layer.mock(ObservedRuns, {}),
        MemoryGuard.layer,
        Layer.mock(SessionDirectory, { isWatching: () => true, isObserved: () => false, publish: () => {} }),
        LiveEvents.layer,
        Layer.mock(Placement, {
          processNumber: 1,
          shards: () => 64,
          shardOf: () => 1,
          has: () => true,
          follow: () => {}
        }),
        ObserverSettings.layerFrom({ recoveryEnabled: false })
      ])
    )
    const context = yield* Observers.use(({ adopt }) =>
      Effect.andThen(Effect.provideService(adopt(runId), Request, "its body"), Deferred.await(seen))
    ).pipe(Effect.provide(layer))
    assert.isTrue(Option.isNone(context))
  })
)
