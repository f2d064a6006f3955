import { assert, describe, it } from "@effect/vitest"
import { RequestFacts } from "@runplane/server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { StreamSlots } from "../../src/streams/StreamSlots.ts"

const slotsWith = (env: Readonly<Record<string, string>>) =>
  StreamSlots.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

const as = (client: string) => Effect.provideService(RequestFacts, { client, actor: undefined, address: "" })

/** The number of effects that end in each turn of the event loop. */
const endsByTurn = Effect.fnUntraced(function* (count: number, effect: Effect.Effect<unknown>) {
  let ended = 0
  const all = yield* Effect.forkChild(
    Effect.all(
      Array.from({ length: count }, () => Effect.tap(effect, () => Effect.sync(() => ended++))),
      { concurrency: "unbounded" }
    )
  )
  const turns: Array<number> = []
  while (ended < count) {
    const before = ended
    yield* Effect.yieldNow
    turns.push(ended - before)
  }
  yield* Fiber.join(all)
  return turns
})

// docs/reference/streams.md#stream-limits
describe("the slots of event streams", () => {
  it.effect("are counted by caller, and are free again when a stream ends", () =>
    Effect.gen(function* () {
      const { take } = yield* StreamSlots
      const scope = yield* Scope.make()
      const statusFor = (client: string) =>
        Effect.map(Scope.provide(as(client)(take), scope), (rejection) => rejection?.status)
      assert.deepStrictEqual(
        [yield* statusFor("203.0.113.1"), yield* statusFor("203.0.113.1"), yield* statusFor("203.0.113.2")],
        [undefined, 429, undefined]
      )
      yield* Scope.close(scope, Exit.void)
      assert.isUndefined(yield* Effect.scoped(as("203.0.113.1")(take)))
    }).pipe(Effect.provide(slotsWith({ STREAM_MAX_PER_KEY: "1" })))
  )

  // docs/reference/streams.md#stream-pace
  it.effect("let streams open a few in a turn of the event loop", () =>
    Effect.gen(function* () {
      const { take } = yield* StreamSlots
      const scope = yield* Scope.make()
      const turns = yield* endsByTurn(160, Scope.provide(take, scope))
      assert.isAtMost(Math.max(...turns), 32)
    }).pipe(Effect.provide(slotsWith({})))
  )
})
